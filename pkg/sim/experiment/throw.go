package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// Throws are throws of a robot: it learns to recover from them in the nominal simulator, and is thrown in the full one.
type Throws struct {
	World    sim.World
	Airframe *airframe.Airframe
	Throw    task.Throw
	Seed     uint64
}

// Throwers are the policies that Train trains side by side.
const Throwers = 2

// Train makes a policy that recovers, from nothing and within a second: small nets, few episodes an update, and short
// ones. Some beginnings lead nowhere in so few updates: of Throwers policies, each on a thread of its own, it keeps the
// one that flies nearest to the hand in the nominal simulator.
func (t *Throws) Train(ctx context.Context, epochs int, progress func(train.Progress)) (*bundle.Bundle, error) {
	n := t.nominal()
	policies, errs := [Throwers]*quadtrain.Result{}, [Throwers]error{}
	scores := [Throwers]float64{}
	var wg sync.WaitGroup
	for i := range policies {
		wg.Go(func() {
			if policies[i], errs[i] = t.train(ctx, n, epochs, i, progress); errs[i] == nil {
				scores[i], errs[i] = t.trials(n).Fly(policies[i].Policy)
			}
		})
		if i == 0 {
			progress = nil // it is that of the first
		}
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	best := slices.Index(scores[:], slices.Min(scores[:]))
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: n.Dt}
	return b, policy.Put(b, policies[best].Policy, task.Hover)
}

// nominal is the simulator that policies are trained in: that of vnd train, with shorter delays unless the airframe's
// response was identified.
func (t *Throws) nominal() quadtrain.Nominal {
	const delay = 2 // steps
	var n quadtrain.Nominal
	param.Default(&n)
	if continual.Respond(&n, &t.Airframe.Response); !t.Airframe.Response.Known() {
		n.MaxDelay = delay
	}
	return n
}

func (t *Throws) train(ctx context.Context, n quadtrain.Nominal, epochs, thrower int,
	progress func(train.Progress)) (*quadtrain.Result, error) {
	var cfg quadtrain.Config
	param.Default(&cfg)
	cfg.Observation.PreviewPoints, cfg.Observation.PastActions = 1, 2
	cfg.Hidden, cfg.Latent, cfg.Envs, cfg.Horizon, cfg.Epochs, cfg.Flights = 64, 0, 16, 40, epochs, 0
	cfg.Rate, cfg.Discount, cfg.BFloat16, cfg.Workers = 0.008, 0.98, false, 1
	return quadtrain.Run(ctx, cfg, quadtrain.NominalWorld[float32](n), n.Dt, quadtrain.Options{
		Seed: Throwers*t.Seed + uint64(thrower), Tasks: []*task.Task{t.Throw.Recover()}, Limits: t.Airframe.Limits,
		Progress: progress})
}

func (t *Throws) trials(n quadtrain.Nominal) *quadtrain.Trials {
	return quadtrain.NewTrials(quadtrain.NominalWorld[float32](n), []*task.Task{t.Throw.Recover()}, n.Dt, t.Seed)
}

// Thrown is what became of a throw.
type Thrown struct {
	Seconds float64 // from the release until the robot was level and slow for good; +Inf: it never was
	Fell    float64 // how far below the hand it came, m
	Crash   string  // "" without
}

// Recovered reports whether the robot was level and slow soon enough, and stayed so.
func (t *Thrown) Recovered() bool { return t.Seconds <= RecoveryTime }

// A robot has recovered that is within these bounds from RecoveryTime until the flight's end.
const (
	RecoveryTime  = 2.0  // s after the release
	RecoveryTilt  = 20.0 // degrees
	RecoverySpeed = 0.5  // m/s
)

const (
	throwHeight = 15.0 // m above the ground
	throwFlight = 4.0  // s
)

// Fly throws the robot n times, each with a seed of its own.
func (t *Throws) Fly(ctx context.Context, b *bundle.Bundle, n int) ([]Thrown, error) {
	out := make([]Thrown, n)
	return out, each(ctx, n, func(k int) error {
		trace, err := t.fly(b, t.Seed<<32+uint64(k))
		if err == nil {
			out[k] = thrown(trace)
		}
		return err
	})
}

func (t *Throws) fly(b *bundle.Bundle, seed uint64) (*closedloop.Trace, error) {
	const stream = 0x7420
	hand := so3.Vec3{Z: t.World.Ground.Height + throwHeight}
	path, err := reference.New(&reference.Hover{Point: []float64{hand.X, hand.Y, hand.Z}})
	if err != nil {
		return nil, err
	}
	runner, err := policy.NewClosedLoopRunner(b, path.At)
	if err != nil {
		return nil, err
	}
	s := closedloop.Setup{World: t.World, Seed: seed, Path: path, Seconds: throwFlight, Tick: b.Dt,
		Limits: t.Airframe.Limits}
	param.Default(&s.Estimate)
	s.Start, s.Rates = t.Throw.Release(hand, rand.New(rand.NewPCG(seed, stream)))
	return closedloop.Fly(&s, runner)
}

// thrown judges a flight from the hand.
func thrown(trace *closedloop.Trace) Thrown {
	out := Thrown{Seconds: math.Inf(1), Crash: trace.Crash}
	for i := range trace.Rows {
		r := &trace.Rows[i]
		out.Fell = max(out.Fell, r.Reference.P.Z-r.Truth.P.Z)
		tilt := r.Truth.Q.Tilt() * 180 / math.Pi
		switch {
		case !(tilt <= RecoveryTilt && r.Truth.V.Norm() <= RecoverySpeed):
			out.Seconds = math.Inf(1)
		case math.IsInf(out.Seconds, 1):
			out.Seconds = r.T
		}
	}
	if trace.Crash != "" {
		out.Seconds = math.Inf(1)
	}
	return out
}
