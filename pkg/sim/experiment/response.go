package experiment

import (
	"context"
	"errors"
	"math"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// Unbounded is a guard without fence, greatest tilt and greatest speed: paths of a study go beyond those of a lab.
func Unbounded(g guard.Config) *guard.Config {
	inf := math.Inf(1)
	g.FenceMin, g.FenceMax = []float64{-inf, -inf, -inf}, []float64{inf, inf, inf}
	g.MaxTilt, g.MaxSpeed = inf, inf
	return &g
}

// ErrHardlyShown is of flights that show too little of how a vehicle responds.
var ErrHardlyShown = errors.New("flights of the geometric law hardly show how the vehicle responds: the default " +
	"guard.response is believed, where no file has another")

// Respond has the guard believe what another's vehicle shows, as a lab does by `vnd doctor`: in flights of the
// geometric law without the filter, by good poses, in the first of some scenarios. It returns what is believed then,
// nil where none is looked for: no such vehicle or no filter flies, or a file says it.
func (c *Campaign) Respond(ctx context.Context, in ...Scenario) (*guard.Response, error) {
	var plain guard.Config
	param.Default(&plain)
	if c.External == nil || !c.Filter || c.Guard != nil && c.Guard.Response != plain.Response || len(in) == 0 {
		return nil, nil
	}
	const seconds, flights, tasks, excite = 15, 3, 2, 0.6
	good, lab := sim.Default(), *c
	lab.Filter, lab.Excite = false, max(c.Excite, excite)
	w, err := in[0].Only(in[0].Names()[in[0].first()])
	if err != nil {
		return nil, err
	}
	w.Mocap, w.Imu = good.Mocap, good.Imu
	by := c.Tasks[:min(tasks, len(c.Tasks))]
	rows := make([][][]quad.Row, flights*len(by))
	err = each(ctx, len(rows), func(i int) (err error) {
		rows[i], err = lab.flyLaw(Scenario{World: w}, by[i%len(by)], c.Seed<<8+uint64(i/len(by)), seconds)
		return err
	})
	if err != nil {
		return nil, err
	}
	found, err := quadgate.Identify(ctx, slices.Concat(rows...), c.Nominal.Dt)
	if err != nil {
		return nil, err
	}
	if !found.Known() {
		return nil, ErrHardlyShown
	}
	if c.Guard == nil {
		c.Guard = Unbounded(plain)
	}
	believes := *c.Guard
	believes.Response = *closedloop.ResponseOf(&found, false)
	c.Guard = &believes
	return &believes.Response, nil
}

// flyLaw records a flight of the geometric law, excited.
func (c *Campaign) flyLaw(f Scenario, d Task, seed uint64, seconds float64) ([][]quad.Row, error) {
	law, err := c.Law().Make(d)
	if err != nil {
		return nil, err
	}
	e := &excited{Controller: law, Excitation: NewExcitation(seed, c.Excite)}
	if _, err := c.fly(c.setup(f, d, seed, seconds), e); err != nil {
		return nil, err
	}
	return quad.Segments(e.rows, c.Nominal.Dt), nil
}
