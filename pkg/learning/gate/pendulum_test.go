package gate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// nominal is the pendulum that the prior knows. The true ones have other masses.
var nominal = pendulum.Robot{Dt: 0.05, Mass: 1, Drag: 0.2}

func weighing(mass float64) pendulum.Robot {
	r := nominal
	r.Mass = mass
	return r
}

// hold is the task: to keep an angle.
var hold = &pendulum.Hold[float32]{Angles: 1, Spread: 0.5, Rate: 0.02, Change: 0.0005, Actions: 1,
	Bounds: robot.Bounds{Radius: 3, Collision: 10}}

var vehicle = gate.TaskVehicle[pendulum.Robot]{Robot: pendulum.Reader, Task: hold}

const steps = 80 // of a flight

// improve trains a policy with a latent of two in a world, from scratch or from another.
func improve(t *testing.T, w train.World[float32], from *vnd.Actor[float32]) *vnd.Actor[float32] {
	t.Helper()
	var cfg train.Config
	param.Default(&cfg)
	cfg.Envs, cfg.Horizon, cfg.Epochs, cfg.SwitchShare, cfg.Flights = 64, 60, 200, 0, 0
	p, err := vnd.NewActor(hold.Size(), 2, []float32{0}, []float32{30}, []int{32, 32})
	if err != nil {
		t.Fatal(err)
	}
	if from != nil {
		copy(p.Net.Params, from.Net.Params)
		p.Norm = from.Norm
	}
	if _, err := train.Run(context.Background(), cfg, w, nominal.Dt,
		train.Options{Seed: 1, Task: hold, Actor: p, New: from == nil}); err != nil {
		t.Fatal(err)
	}
	return p
}

// pack is a bundle of a model, nil: none, and a policy.
func pack(t *testing.T, m *vnd.Model[float32], p *vnd.Actor[float32]) *bundle.Bundle {
	t.Helper()
	b, err := &bundle.Bundle{Robot: pendulum.Name, Dt: nominal.Dt}, error(nil)
	if m != nil {
		b, err = vnd.Bundle(m, nominal, nil, nil)
	}
	if err == nil {
		err = vnd.PutActor(b, p, nil, "hold")
	}
	if err == nil {
		_, err = b.Encode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// trueWorld is a judge of pendulums of masses that nobody learned.
type trueWorld struct{ masses []float64 }

func (j trueWorld) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	l, err := vehicle.Load(b)
	if err != nil {
		return nil, err
	}
	r := weighing(j.masses[t.Number%uint64(len(j.masses))])
	return gate.Fly(ctx, r.System(), r, l, rand.New(rand.NewPCG(t.Number, 1)), steps)
}

// record flies a policy on pendulums of masses, under torques beside its own: three flights of each.
func record(t *testing.T, p *vnd.Actor[float32], masses ...float64) (flown [][]pendulum.Row) {
	t.Helper()
	for i, mass := range slices.Repeat(masses, 3) {
		r, rng, rows := weighing(mass), rand.New(rand.NewPCG(uint64(i), 2)), make([]pendulum.Row, steps)
		sys, s, a, torque := r.System(), make([]float32, 2), make([]float32, 1), 0.
		f := vehicle.Begin(p, nil, r, rng, steps, s)
		for k := range rows {
			at := float64(k) * nominal.Dt
			if tick := f.Tick(at, s, a); tick.Crash != "" {
				t.Fatal(tick.Crash)
			}
			torque += 1.5*rng.NormFloat64() - 0.1*torque
			a[0] += float32(torque)
			rows[k] = pendulum.Row{T: at, State: r.State(s), Torque: float64(a[0])}
			sys.Step(1, s, a, []float32{0, 0}, s)
		}
		flown = append(flown, rows)
	}
	return flown
}

// fitted is a model of what was flown.
func fitted(t *testing.T, flown [][]pendulum.Row) *vnd.Model[float32] {
	t.Helper()
	var c fit.Config
	param.Default(&c)
	c.Model.Latent, c.Model.EncoderDense, c.Model.EncoderHidden, c.Model.Hidden = 2, 16, 16, 32
	c.Loss.Steps, c.Train.Batch, c.Train.Rate, c.Train.Updates, c.Train.Passes = 20, 64, 0.01, 600, 1000
	var recordings []fit.Recording
	for i, rows := range flown {
		measured, actions := nominal.Flatten(rows)
		recordings = append(recordings, fit.Recording{Name: fmt.Sprint(i), Measured: measured, Actions: actions,
			Weight: slices.Repeat([]float32{1}, len(rows))})
	}
	f, err := fit.Run(t.Context(), c, fit.KnownRobot(nominal, recordings), fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return f.Model
}

// TestSecondRobotIsFittedTrainedAndGated: the code of quadrotors fits a pendulum of hidden mass, improves its policy in
// the model, and judges it. Under masses that nobody learned it errs far less than the policy of the prior.
func TestSecondRobotIsFittedTrainedAndGated(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	base := improve(t, &train.Prior[float32]{Nominal: nominal.System()}, nil)
	flown := record(t, base, .4, .5, .6, .7, .8, 1, 1.2, 1.4, 1.7, 2, 2.3, 2.6)
	m := fitted(t, flown)
	bank := vnd.Latents(m, nominal, flown, 10)
	improved := pack(t, m, improve(t, &train.Learned[float32]{Model: m, Through: true}, base))
	before := pack(t, m, base)

	g := &gate.Gate{Vehicle: vehicle, Judge: trueWorld{[]float64{.45, .65, 1.55, 2.15}}, Seed: 1}
	param.Default(&g.Config)
	g.Config.Shadow.Seconds, g.Config.Rate = steps*nominal.Dt, 100
	verdict := func(candidate, current *bundle.Bundle) *gate.Verdict {
		v, err := g.Evaluate(context.Background(), candidate, current, bank)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := verdict(improved, before)
	if !v.Pass {
		t.Fatalf("the improved policy is refused: %q", v.Reasons())
	}
	for _, s := range v.Stages[1:] {
		t.Logf("%s: errs by %.4f rad, the prior's policy by %.4f", s.Name, s.Candidate.Error, s.Current.Error)
		if !(s.Candidate.Error < 0.5*s.Current.Error) {
			t.Errorf("%s: less than half the error of the prior's policy was expected", s.Name)
		}
	}
	if v := verdict(before, improved); v.Pass || !strings.Contains(v.Reasons()[0], "shadow: errs more") {
		t.Errorf("the prior's policy in place of the improved one: %q", v.Reasons())
	}
	lost := improve(t, &train.Prior[float32]{Nominal: nominal.System()}, nil)
	for i := range lost.Net.Params {
		lost.Net.Params[i] *= -1
	}
	if v := verdict(pack(t, m, lost), improved); v.Pass {
		t.Error("a policy that pushes the other way passes")
	}
}

// TestTaskVehicleRefuses: what cannot fly is refused in words.
func TestTaskVehicleRefuses(t *testing.T) {
	actor := func(O, latent int) *vnd.Actor[float32] {
		p, err := vnd.NewActor(O, latent, []float32{0}, []float32{30}, []int{4})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	m, err := vnd.New(nominal.System(), nets.Config{Context: 4, Latent: 2, Encoder: nets.EncoderGRU, EncoderDense: 4,
		EncoderHidden: 4, Hidden: 4, Blocks: 1, Film: true, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	quadrotor := pack(t, m, actor(hold.Size(), 2))
	quadrotor.Robot = "quadrotor"
	for want, b := range map[string]*bundle.Bundle{
		"no policy":               {Robot: pendulum.Name, Dt: nominal.Dt},
		"its task shows 6":        pack(t, m, actor(hold.Size()+1, 2)),
		"its model has one of 2":  pack(t, m, actor(hold.Size(), 3)),
		`is of robot "quadrotor"`: quadrotor,
	} {
		if _, err := vehicle.Load(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestTaskVehicleCrashes: a flight ends where the state or an action is lost.
func TestTaskVehicleCrashes(t *testing.T) {
	p, err := vnd.NewActor(hold.Size(), 0, []float32{0}, []float32{30}, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	near := *hold
	near.Spread, near.Radius = 0.05, 2.5
	v, rng, a := gate.TaskVehicle[pendulum.Robot]{Robot: pendulum.Reader, Task: &near}, rand.New(rand.NewPCG(1, 1)),
		make([]float32, 1)
	for want, change := range map[string]func(s []float32){
		"":                   func([]float32) {},
		"off the reference":  func(s []float32) { s[0] += 3.1 },
		"no longer finite":   func(s []float32) { s[1] = float32(math.NaN()) },
		"action that is not": func([]float32) { p.Net.Params[0] = float32(math.Inf(1)); p.Net.Refresh() },
	} {
		s := make([]float32, 2)
		f := v.Begin(p, nil, nominal, rng, 2, s)
		change(s)
		if tick := f.Tick(0, s, a); !strings.Contains(tick.Crash, want) || (tick.Crash == "") != (want == "") {
			t.Errorf("crash %q, want %q", tick.Crash, want)
		}
		clear(p.Net.Params)
		p.Net.Refresh()
	}
}
