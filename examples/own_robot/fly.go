package main

import (
	"context"
	"errors"
	"math/rand/v2"

	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

const steps = 80 // of a flight

// Masses, kg, of the flights to learn from, and of those of the judge.
var (
	flown  = []float64{0.4, 0.5, 0.6, 0.7, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.3, 2.6}
	judged = unseen{0.45, 0.65, 1.55, 2.15}
)

// weighing is the true robot of a mass, kg.
func weighing(mass float64) pendulum.Robot {
	r := prior
	r.Mass = mass
	return r
}

// record flies a policy on a pendulum of a mass, kg, with a random torque added to its own. The seed decides the angle.
func record(p *vnd.Actor[float32], mass float64, seed uint64) ([]pendulum.Row, error) {
	r, rng, rows := weighing(mass), rand.New(rand.NewPCG(seed, uint64(100*mass))), make([]pendulum.Row, steps)
	sys, s, a, extra := r.System(), make([]float32, 2), make([]float32, 1), 0.
	flight := vehicle.Begin(p, nil, r, rng, steps, s)
	for k := range rows {
		t := float64(k) * prior.Dt
		if tick := flight.Tick(t, s, a); tick.Crash != "" {
			return nil, errors.New(tick.Crash)
		}
		extra += 1.5*rng.NormFloat64() - 0.1*extra
		a[0] += float32(extra)
		rows[k] = pendulum.Row{T: t, State: r.State(s), Torque: float64(a[0])}
		sys.Step(1, s, a, []float32{0, 0}, s)
	}
	return rows, nil
}

// unseen is a judge: it flies bundles on pendulums of masses, kg, that nobody learned. It implements gate.Judge.
type unseen []float64

// Fly implements gate.Judge.
func (masses unseen) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	l, err := vehicle.Load(b)
	if err != nil {
		return nil, err
	}
	r := weighing(masses[t.Number%uint64(len(masses))])
	return gate.Fly(ctx, r.System(), r, l, rand.New(rand.NewPCG(t.Number, 1)), steps)
}
