package experiment

import (
	"context"
	"errors"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/sim/baseline"
)

// The opponents have the best settings of 120 that were drawn: in calm, in one wind that no study reports, and as
// it sets in.
// TestTuneOpponents searches again.
var (
	l1Config   = baseline.L1Config{Gains: gains(20.2, 5.04, 10.4, 0), Cutoff: 2.67}
	indiConfig = baseline.INDIConfig{Gains: gains(19.2, 7.51, 6.63, 0), Cutoff: 50.2}
)

// L1Geometric is the geometric law with an L1 estimate of the push, for a robot as its flights show it.
func (c *Campaign) L1Geometric(r baseline.Airframe) Method { return c.l1(r, l1Config) }

func (c *Campaign) l1(r baseline.Airframe, cfg baseline.L1Config) Method {
	return Method{Name: "L1 geometric", Make: func(t Task) (quad.Controller, error) {
		return baseline.NewL1Geometric(cfg, c.Limits, r, c.Nominal.Dt, t.Path)
	}}
}

// INDI is the geometric law with incremental inversion of the acceleration.
func (c *Campaign) INDI(r baseline.Airframe) Method { return c.indi(r, indiConfig) }

func (c *Campaign) indi(r baseline.Airframe, cfg baseline.INDIConfig) Method {
	return Method{Name: "INDI", Make: func(t Task) (quad.Controller, error) {
		return baseline.NewINDI(cfg, c.Limits, r, c.Nominal.Dt, t.Path)
	}}
}

// identify finds the robot of flights, as the gate does.
func (c *Campaign) identify(ctx context.Context, flights []Recorded) (baseline.Airframe, error) {
	var rows [][]quad.Row
	for i := range flights {
		rows = append(rows, flights[i].Segments...)
	}
	r, err := quadgate.Identify(ctx, rows, c.Nominal.Dt)
	if err == nil && r == (quadgate.Identified{}) {
		err = errors.New("too little was flown to identify the robot")
	}
	return baseline.Airframe{Actuator: r.Actuator, Drag: r.Drag}, err
}
