package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim/baseline"
	"vnd/pkg/sim/baseline/nmpc"
	"vnd/pkg/sim/baseline/raptor"
	"vnd/pkg/sim/peer"
)

// The opponents have the best settings of 120 that were drawn: in calm, in one wind that no study reports, and as
// it sets in.
// TestTuneOpponents searches again.
var (
	l1Config   = baseline.L1Config{Gains: gains(20.2, 5.04, 10.4, 0), Cutoff: 2.67}
	indiConfig = baseline.INDIConfig{Gains: gains(19.2, 7.51, 6.63, 0), Cutoff: 50.2}
	nmpcConfig = baseline.NMPCConfig{Weights: nmpc.Weights{Position: 1, Velocity: 0.00655, Tilt: 0.00209,
		Heading: 0.05, Rates: 3.6e-5, Thrust: 0.00157, Turn: 4.59e-5}}
	l1NMPCConfig = baseline.NMPCConfig{Weights: nmpc.Weights{Position: 1, Velocity: 0.0277, Tilt: 0.00175,
		Heading: 0.05, Rates: 2.69e-5, Thrust: 4.48e-4, Turn: 1.99e-5}, Cutoff: 4.57}
	neuralFlyConfig = baseline.NeuralFlyConfig{Gains: gains(19.5, 5.39, 14.5, 0), Forgetting: 0.00175,
		Process: 0.0212, Noise: 0.341, Tracking: 3.4}
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

// NMPC is model predictive control; with L1 adaptation where adaptive.
func (c *Campaign) NMPC(r baseline.Airframe, adaptive bool) Method {
	if adaptive {
		return c.nmpc(r, l1NMPCConfig)
	}
	return c.nmpc(r, nmpcConfig)
}

func (c *Campaign) nmpc(r baseline.Airframe, cfg baseline.NMPCConfig) Method {
	name := "NMPC"
	if cfg.Cutoff > 0 {
		name = "L1-NMPC"
	}
	return Method{Name: name, Make: func(t Task) (quad.Controller, error) {
		return baseline.NewNMPC(cfg, c.Limits, r, c.Nominal.Dt, t.Path)
	}}
}

// asFlown is the robot as the flights that were learned from show it.
func (s *study) asFlown() (baseline.Airframe, error) {
	if s.robot == nil {
		learned, _ := s.split()
		robot, err := s.identify(s.ctx, learned)
		if err != nil {
			return robot, err
		}
		s.robot = &robot
	}
	return *s.robot, nil
}

// raptorConfig is the best of 120 that were drawn.
var raptorConfig = raptor.Config{Position: 0.56, Velocity: 2.99, Lead: 0.037, Lift: 1.615}

// errLeftOut is why a method cannot be measured here, while others can.
var errLeftOut = errors.New("left out")

// RAPTOR is a policy of others that flies any robot. The error is errLeftOut where it is not installed, or where
// software of others flies the vehicle.
func (c *Campaign) RAPTOR() (Method, error) {
	if c.External != nil {
		return Method{}, fmt.Errorf("%w: it commands motors, the vehicle takes body rates", errLeftOut)
	}
	pool := raptor.Pool()
	p, err := pool.Take()
	if errors.Is(err, peer.ErrNotInstalled) {
		return Method{}, fmt.Errorf("%w: %w", errLeftOut, err)
	}
	if err == nil {
		err = pool.Give(p)
	}
	return c.raptor(raptorConfig, pool), err
}

func (c *Campaign) raptor(cfg raptor.Config, pool *peer.Pool) Method {
	frame := c.Rotors
	if frame.Mass == 0 {
		param.Default(&frame)
	}
	l := rotors.Limits{Least: 0, Most: 1, Hover: frame.Hover(), Full: 1}
	return Method{Name: "RAPTOR", Motors: func(d Task) (*raptor.Controller, error) {
		return raptor.New(cfg, l, pool, d.Path)
	}}
}

// opponent makes one by the name of its method.
func (s *study) opponent(name string) (Method, error) {
	robot, err := s.asFlown()
	if err != nil {
		return Method{}, err
	}
	switch name {
	case MethodRecent:
		return s.RecentMean(robot.Actuator), nil
	case MethodL1:
		return s.L1Geometric(robot), nil
	case MethodINDI:
		return s.INDI(robot), nil
	case MethodNeuralFly:
		began := time.Now()
		basis, err := s.learnBasis(robot)
		m := s.NeuralFly(robot, basis)
		m.Took = time.Since(began).Seconds()
		return m, err
	}
	return s.NMPC(robot, name == MethodL1NMPC), nil
}

// NeuralFly is the geometric law with a push of learned functions.
func (c *Campaign) NeuralFly(r baseline.Airframe, b *baseline.Basis) Method {
	return c.neuralFly(r, b, neuralFlyConfig)
}

func (c *Campaign) neuralFly(r baseline.Airframe, b *baseline.Basis, cfg baseline.NeuralFlyConfig) Method {
	return Method{Name: "Neural-Fly-like", Make: func(t Task) (quad.Controller, error) {
		return baseline.NewNeuralFly(cfg, b, c.Limits, r, c.Nominal.Dt, t.Path)
	}}
}

// learnBasis learns the functions of flights in scenarios that stay as they are.
func (s *study) learnBasis(r baseline.Airframe) (*baseline.Basis, error) {
	flights := make([][][]quad.Row, len(s.plan.Scenarios))
	learned, _ := s.split()
	for _, f := range learned {
		if f.At < len(flights) {
			flights[f.At] = append(flights[f.At], f.Segments...)
		}
	}
	return baseline.LearnBasis(s.ctx, baseline.DefaultBasis, flights, r, s.Nominal.Dt)
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
