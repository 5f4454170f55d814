package quadgate

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

const dt = 0.02

// world is a small true world: a quadrotor with a lag that the nominal model does not know, under a constant wind.
type world struct {
	sys   *quadrotor.Quadrotor[float64]
	wind  so3.Vec3
	noise float64 // of the velocity that the robot sees, m/s
	rng   *rand.Rand
}

// winds of the world, m/s².
var winds = []so3.Vec3{{}, {X: 2}, {X: -2}, {Y: 2}, {Y: -2}}

func newWorld(wind so3.Vec3, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 17))
	lag := 0.03 + 0.02*rng.Float64()
	a := quadrotor.Actuator{ThrustGain: 0.97, RateGain: 1, ThrustLag: lag, RateLag: lag}
	return &world{quadrotor.NewQuadrotor[float64](dt, a), wind, 0.005, rng}
}

// fly hovers for some steps, and returns what was flown.
func (w *world) fly(f *policy.ClosedLoopRunner, start quad.State, place so3.Vec3,
	steps int) ([]quad.Row, *gate.Flight) {
	d := w.sys.Dims()
	s, next, a, none := make([]float64, d.State), make([]float64, d.State), make([]float64, d.Action),
		make([]float64, d.Tangent)
	quadrotor.Measured(&start, s)
	s[10] = quad.Gravity // the lagged thrust
	push := make([]float64, d.Measured)
	quadrotor.Measured(&quad.State{P: w.wind.Scale(dt * dt / 2), V: w.wind.Scale(dt)}, push)
	f.Reset()
	var rows []quad.Row
	out := &gate.Flight{Dt: dt}
	for k := range steps {
		truth := quadrotor.State(s)
		seen := truth
		seen.V = seen.V.Add(so3.Vec3{X: w.noise * w.rng.NormFloat64(), Y: w.noise * w.rng.NormFloat64(),
			Z: w.noise * w.rng.NormFloat64()})
		off := truth.P.Sub(place).Norm()
		if !(off < 4) {
			out.Crash = "left the cage"
			break
		}
		c := limits().Clip(f.Command(float64(k)*dt, &seen))
		if !c.Finite() {
			out.Crash = "lost command"
			break
		}
		step := quad.Row{T: float64(k) * dt, State: seen, Command: c}
		f.Observe(step)
		rows = append(rows, step)
		out.Errors, out.Actions = append(out.Errors, off), append(out.Actions, units(c))
		quadrotor.Action(&c, a)
		w.sys.Step(1, s, a, none, next)
		for j, x := range push {
			next[j] += x
		}
		s, next = next, s
	}
	return rows, out
}

// cage is a Judge that flies in it. Of winds it brings none that is much stronger than what was met.
type cage struct{ steps int }

func (c cage) Fly(_ context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	place := so3.Vec3{Z: 1}
	f, err := policy.NewClosedLoopRunner(b, func(float64) quad.Reference { return quad.Reference{P: place} })
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(t.Number, 23))
	start := quad.State{P: place.Add(so3.Vec3{X: rng.NormFloat64() / 5, Y: rng.NormFloat64() / 5}),
		Q: so3.FromEuler(0, 0, 0.4*rng.NormFloat64())} // 3 s show a heading that diverges from there
	wind := winds[t.Number%uint64(len(winds))]
	if most := 1.1 * t.DisturbanceStrength; wind.Norm() > most {
		wind = wind.Scale(most / wind.Norm())
	}
	rows, flight := newWorld(wind, t.Number).fly(f, start, place, c.steps)
	if n := len(rows); n > 0 && flight.Crash == "" {
		flight.Missed = OffHeading(rows[n-1].State.Q, 0)
	}
	return flight, nil
}

var limits = sync.OnceValue(func() (l *quad.Limits) {
	l = new(quad.Limits)
	param.Default(l)
	return l
})

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// trained is what the tests' bundles were made in.
type trained struct {
	tasks          []*task.Task
	base, improved *bundle.Bundle // before and after learning the winds
	bank           []float32
	flown          [][]quad.Row
}

// taught makes the bundles once: a base policy, a model of its flights in the winds, and the policy that was improved
// in it. The base bundle has the model too.
var taught = sync.OnceValue(func() *trained {
	var spread task.Spread
	param.Default(&spread)
	k := must(task.New(task.Hover, must(task.CostOf(task.StiffCost, task.Hover)), spread, nil))
	s := &trained{tasks: []*task.Task{k}}
	var tc quadtrain.Config
	param.Default(&tc)
	tc.Hidden, tc.Envs, tc.Horizon, tc.Epochs, tc.Latent, tc.Flights = 32, 64, 50, 70, 2, 0
	var nominal quadtrain.Nominal
	param.Default(&nominal)
	options := quadtrain.Options{Seed: 1, Tasks: s.tasks, Limits: *limits()}
	base := must(quadtrain.Run(context.Background(), tc, quadtrain.NominalWorld[float32](nominal), dt, options)).Policy

	flights := s.record(base)
	var vc fit.Config
	param.Default(&vc)
	vc.Model.Latent, vc.Model.Context, vc.Model.EncoderDense, vc.Model.EncoderHidden, vc.Model.Hidden = 2, 6, 16, 16, 24
	vc.Loss.Steps, vc.Loss.MMD, vc.Loss.Reconstruction = 10, 0.05, 0
	vc.Train.Updates, vc.Train.Passes, vc.Train.Validation, vc.Train.Batch, vc.Train.GainJitter = 400, 1e5, 0, 64, 0
	vc.Train.Rate = 0.01
	fitted := must(quadfit.Run(context.Background(), vc, dt, dataset.FromFlights(flights), fit.Options{Seed: 1}))
	for _, f := range flights {
		s.flown = append(s.flown, f.Segments...)
	}
	s.bank = vnd.Latents(fitted.Model, quadfit.Robot(fitted), s.flown, 10)
	options.From, options.Bank = base, s.bank
	tc.BankShare = 0.7
	model := quadtrain.Learned(fitted.Model, dt, false, quadtrain.Pushes{}, quadtrain.Margins{})
	fineTuned := must(quadtrain.Run(context.Background(), tc, model, dt,
		options)).Policy
	s.base, s.improved = s.bundle(fitted, base), s.bundle(fitted, fineTuned)
	return s
})

func (s *trained) bundle(fitted *fit.Fit, p *policy.Policy[float32]) *bundle.Bundle {
	b := must(vnd.Bundle(fitted.Model, fitted.Robot, nil, nil))
	if err := policy.Put(b, p, task.Hover); err != nil {
		panic(err)
	}
	must(b.Encode())
	return b
}

// record flies a policy along a circle in each wind: tilted one way all the time, wind and attitude could not be told
// apart.
func (s *trained) record(p *policy.Policy[float32]) (flights []quad.Flight) {
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: dt}
	if err := policy.Put(b, p, task.Hover); err != nil {
		panic(err)
	}
	circle := func(t float64) quad.Reference {
		const w = 2
		s, c := math.Sincos(w * t)
		return quad.Reference{P: so3.Vec3{X: c, Y: s, Z: 1}, V: so3.Vec3{X: -w * s, Y: w * c}}
	}
	for i, wind := range winds {
		for k := range 2 {
			f := must(policy.NewClosedLoopRunner(b, circle))
			start := quad.State{Q: so3.Identity(), P: so3.Vec3{X: 1, Z: 1}}
			rows, _ := newWorld(wind, uint64(100*i+k)).fly(f, start, so3.Vec3{Z: 1}, 300)
			flights = append(flights, quad.Flight{Name: string(rune('a'+i)) + string(rune('0'+k)),
				Segments: [][]quad.Row{rows}})
		}
	}
	return flights
}

// gate is one for the tests' bundles.
func (s *trained) gate() *gate.Gate {
	g := &gate.Gate{Vehicle: vehicle(s.tasks), Judge: cage{150}, DisturbanceStrength: met(s.flown), Seed: 1}
	param.Default(&g.Config)
	g.Config.Shadow.Settle, g.Config.Canary.Settle = 1.5, 1.5
	g.Config.Shadow.Flights, g.Config.Shadow.Seconds, g.Config.Canary.Flights = 8, 3, 10
	return g
}

func try(t *testing.T, g *gate.Gate, candidate, current *bundle.Bundle, bank []float32) *gate.Verdict {
	t.Helper()
	v, err := g.Evaluate(context.Background(), candidate, current, bank)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// vehicle is the tests' with tasks.
func vehicle(tasks []*task.Task) gate.Vehicle {
	return Vehicle{Robot: quadrotor.Name, Limits: *limits()}.Flying(tasks)
}

// met is what a gate asks of flights.
func met(flown [][]quad.Row) func(dt float64) float64 {
	return func(dt float64) float64 { return DisturbanceStrength(flown, dt) }
}

func nan() float64 { return math.NaN() }
