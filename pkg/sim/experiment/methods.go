package experiment

import (
	"context"
	"errors"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/sim/baseline"
	"vnd/pkg/sim/baseline/raptor"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Method is something that can fly, for comparison.
type Method struct {
	Name string
	Make func(d Task) (quad.Controller, error)
	// Motors is in place of Make for what commands motors.
	Motors func(d Task) (*raptor.Controller, error)
	Took   float64 // s of wall time that learning took
	// Least is how long its flights in the table take at least, s: a re-fit has flown twice by then.
	Least float64
	In    func(Air) (Method, error) // the method in an air of the table; nil: the same in each
}

// Flies is the method of a bundle, under its live encoder.
func Flies(name string, b *bundle.Bundle) Method {
	return Method{Name: name, Make: func(d Task) (quad.Controller, error) {
		return policy.NewClosedLoopRunner(b,
			d.Path.At)
	}}
}

// trainer fits and trains at the sizes and budgets of a round, as often as there were rounds.
func (c *Campaign) trainer(rounds int) *baseline.Trainer {
	s := &baseline.Trainer{Fit: c.Fit.Config, Policy: c.Policy, Tasks: task.Improving(c.tasks()), Dt: c.Nominal.Dt,
		Seed: c.Seed}
	s.Fit.Train.Updates *= rounds
	s.Policy.Epochs *= rounds
	return s
}

// Residual is the base policy improved in a residual without a latent that is fitted to segments: to all that was flown
// it is the simple residual, to the flights of one condition the single condition.
func (c *Campaign) Residual(ctx context.Context, name string, rounds int, base *policy.Policy[float32],
	segs []dataset.Segment) (Method, error) {
	began := time.Now()
	blind, err := baseline.Blind(base, 0)
	if err != nil {
		return Method{}, err
	}
	_, p, err := c.trainer(rounds).Improve(ctx, segs, nil, blind)
	if err != nil {
		return Method{}, err
	}
	return Method{Name: name, Took: time.Since(began).Seconds(), Make: func(d Task) (quad.Controller, error) {
		return policy.NewRunner(p, c.Nominal.Dt, d.Path.At), nil
	}}, nil
}

// refitConfig is the best of the settings that TestSweepRefit flies.
var refitConfig = baseline.RefitConfig{Seconds: 5, Every: 5, Budget: 5}

// Refit is the base policy that is improved in flight in a residual of the newest seconds.
func (c *Campaign) Refit(ctx context.Context, base *policy.Policy[float32]) (Method, error) {
	return c.refit(ctx, base, refitConfig)
}

// refit has updates and epochs grow with the budget.
func (c *Campaign) refit(ctx context.Context, base *policy.Policy[float32], when baseline.RefitConfig) (Method,
	error) {
	blind, err := baseline.Blind(base, 0)
	if err != nil {
		return Method{}, err
	}
	return Method{Name: "re-fit", Least: measureSeconds, Make: func(d Task) (quad.Controller, error) {
		s := &baseline.Trainer{Tasks: task.Improving(c.tasks()), Dt: c.Nominal.Dt, Seed: c.Seed}
		s.Small()
		share := when.Budget / smallBudget
		s.Fit.Train.Updates = int(share * float64(s.Fit.Train.Updates))
		s.Policy.Epochs = int(share * float64(s.Policy.Epochs))
		return baseline.NewRefit(ctx, when, s, blind, d.Path.At, nil)
	}}, nil
}

// smallBudget is the time that a re-fit of baseline.Trainer's Small sizes may take, s.
const smallBudget = 2.0

// informedPolicy is a policy that was trained to be told the wind.
type informedPolicy struct {
	policy *policy.Policy[float32]
	model  *vnd.Model[float32] // of all but the wind, in which it was trained
	spread float64             // of the winds that it was trained under, m/s²
	took   float64             // s of wall time
}

// trainInformed trains a policy that is told the wind. Its world knows all but the wind: a residual that is fitted to
// flights in calm. It is improved as ours is, from the base policy, for as long as in all rounds: half under the winds
// that are met, half under others. To begin anew in such winds instead, most of which blow a robot away before it can
// fly, left policies that crash in one seed of three.
func (c *Campaign) trainInformed(ctx context.Context, s *baseline.Trainer, base *policy.Policy[float32],
	calm []dataset.Segment, winds []so3.Vec3) (*informedPolicy, error) {
	began := time.Now()
	s.Policy.BankShare = 0.5
	s.Policy.LatentMean = policy.LatentMean{} // of what it is told there is no mean
	fitted, inner, err := s.World(ctx, calm)
	if err != nil {
		return nil, err
	}
	spread := 0.5
	for _, w := range winds {
		spread = max(spread, w.Norm()/1.5)
	}
	world := quadtrain.Informed(inner, c.Nominal.Dt, spread)
	from, err := baseline.Blind(base, world.Latent())
	if err != nil {
		return nil, err
	}
	var bank []float32
	for _, w := range winds {
		z := quadtrain.TrueWind[float32](w, spread)
		bank = append(bank, z[:]...)
	}
	trials := s.Trials(world)
	trials.Sample = train.Sampler(s.Policy.BankShare, bank, world.Sample)
	r, err := quadtrain.Run(ctx, s.Policy, world, c.Nominal.Dt,
		quadtrain.Options{Seed: c.Seed, Tasks: s.Tasks, Limits: c.Limits, From: from, Bank: bank, Fly: trials.Fly})
	if err != nil {
		return nil, err
	}
	return &informedPolicy{r.Policy, fitted.Model, spread, time.Since(began).Seconds()}, nil
}

// dattCutoff is the best of 120 that were drawn, rad/s.
const dattCutoff = 4.71

// asInformed is the policy of DATT and RMA: trained to be told the wind. Winds change in its episodes, and what it is
// told follows late.
func (s *study) asInformed(base *policy.Policy[float32]) (_ *informedPolicy, err error) {
	if s.informed == nil {
		s.informed, err = s.trainInformed(s.ctx, s.trainer(s.plan.Rounds), base, s.segments(s.plan.calm()),
			s.plan.Winds())
	}
	return s.informed, err
}

// informedMethod is DATT or RMA, for a robot as the flights show it.
func (s *study) informedMethod(name string, base *policy.Policy[float32]) (Method, error) {
	robot, err := s.asFlown()
	if err != nil {
		return Method{}, err
	}
	p, err := s.asInformed(base)
	if err != nil {
		return Method{}, err
	}
	if name == MethodDATT {
		return s.datt(p, robot, dattCutoff), nil
	}
	began := time.Now()
	a, err := s.adapter(p, robot, adapterFlights, adapterUpdates)
	m := s.rma(p, a, robot, rmaCutoff)
	m.Took += time.Since(began).Seconds()
	return m, err
}

// Flights and updates from which an adaptation module learns, in each of two turns.
const (
	adapterFlights = 240
	adapterUpdates = 3000
)

// adapter learns the adaptation module of RMA. How noisy velocities are it takes from the flights in calm.
func (s *study) adapter(p *informedPolicy, r baseline.Airframe, flights, updates int) (*baseline.Adapter, error) {
	var calm [][]quad.Row
	learned, _ := s.split()
	for _, f := range learned {
		if f.At == s.plan.calm() {
			calm = append(calm, f.Segments...)
		}
	}
	c := &baseline.Adaptation{Policy: p.policy, Spread: p.spread, Winds: s.plan.Winds(), Model: p.model,
		Noise: baseline.VelocityNoise(calm, r, s.Nominal.Dt), Robot: r, Dt: s.Nominal.Dt,
		Flights: flights, Updates: updates, Seed: s.Seed}
	for _, d := range s.Tasks {
		c.Paths = append(c.Paths, d.Path.At)
	}
	return c.Learn(s.ctx)
}

func (c *Campaign) datt(p *informedPolicy, r baseline.Airframe, cutoff float64) Method {
	return Method{Name: "DATT", Took: p.took, Make: func(d Task) (quad.Controller, error) {
		return baseline.NewDATT(p.policy, p.spread, cutoff, r, c.Nominal.Dt, d.Path.At)
	}}
}

// rmaCutoff passes nearly all that the module reads, rad/s: it was not searched yet.
const rmaCutoff = 40

func (c *Campaign) rma(p *informedPolicy, a *baseline.Adapter, r baseline.Airframe, cutoff float64) Method {
	return Method{Name: "RMA", Took: p.took, Make: func(d Task) (quad.Controller, error) {
		return baseline.NewRMA(p.policy, p.spread, a, cutoff, r, c.Nominal.Dt, d.Path.At)
	}}
}

// Fly flies a method in one flight of at least the given length, s.
func (c *Campaign) Fly(p Method, f Scenario, d Task, seed uint64, seconds float64) (*closedloop.Trace, error) {
	out, err := c.FlyAll(p, f, d, seed, seconds)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// FlyAll flies a method: one flight of at least the given length, s, or as many landings.
func (c *Campaign) FlyAll(p Method, f Scenario, d Task, seed uint64, seconds float64) ([]*closedloop.Trace, error) {
	flights, err := c.flights(f, d, seed, seconds)
	if err != nil {
		return nil, err
	}
	var out []*closedloop.Trace
	for _, one := range flights {
		trace, _, err := c.flyTimed(p, one.task, one.Setup)
		if err != nil {
			return nil, err
		}
		out = append(out, trace)
	}
	return out, nil
}

// flyTimed flies a method once, and returns the controller that took the time of its commands: nil for one of motors.
func (c *Campaign) flyTimed(m Method, d Task, s *closedloop.Setup) (*closedloop.Trace, *timedController, error) {
	if m.Motors != nil {
		trace, err := c.flyMotors(m, d, s)
		return trace, nil, err
	}
	by, err := m.Make(d)
	if err != nil {
		return nil, nil, err
	}
	timed := &timedController{Controller: by}
	trace, err := c.fly(s, timed.controller())
	return trace, timed, err
}

func (c *Campaign) flyMotors(m Method, d Task, s *closedloop.Setup) (*closedloop.Trace, error) {
	by, err := m.Motors(d)
	if err != nil {
		return nil, err
	}
	s.Tick = raptor.Tick
	trace, err := closedloop.FlyRotors(s, by)
	return trace, errors.Join(err, by.Close())
}
