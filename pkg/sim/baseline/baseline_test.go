package baseline

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
)

const dt = 0.02

// actuator of the world that the tests fly in.
var actuator = quadrotor.Actuator{ThrustGain: 1, RateGain: 1, ThrustLag: 0.03, RateLag: 0.04}

// point is where the tests hover.
type point struct{}

func (point) At(float64) quad.Reference { return quad.Reference{P: so3.Vec3{Z: 1}} }

// fly hovers in a wind (m/s², by time) and returns the distances from the reference, tick by tick.
func fly(c quad.Controller, steps int, wind func(t float64) so3.Vec3) []float64 {
	sys := quadrotor.NewQuadrotor[float64](dt, actuator)
	d := sys.Dims()
	s, next, a, push := make([]float64, d.State), make([]float64, d.State), make([]float64, d.Action),
		make([]float64, d.State)
	none, rng := make([]float64, d.Tangent), rand.New(rand.NewPCG(1, 1))
	quadrotor.Measured(&quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}, s)
	s[10] = quad.Gravity // the lagged thrust
	c.Reset()
	out := make([]float64, steps)
	for k := range steps {
		t := float64(k) * dt
		truth := quadrotor.State(s)
		out[k] = truth.P.Sub(so3.Vec3{Z: 1}).Norm()
		seen := truth
		seen.V = seen.V.Add(so3.Vec3{X: 0.005 * rng.NormFloat64(), Y: 0.005 * rng.NormFloat64()})
		if o, ok := c.(interface{ SetWind(so3.Vec3) }); ok {
			o.SetWind(wind(t))
		}
		l := limits()
		command := l.Clip(c.Command(t, &seen))
		if o, ok := c.(interface{ Observe(quad.Row) }); ok {
			o.Observe(quad.Row{T: t, State: seen, Command: command})
		}
		quadrotor.Action(&command, a)
		sys.Step(1, s, a, none, next)
		clear(push)
		quadrotor.Measured(&quad.State{P: wind(t).Scale(dt * dt / 2), V: wind(t).Scale(dt)}, push)
		for j := range next {
			next[j] += push[j]
		}
		s, next = next, s
	}
	return out
}

func mean(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func limits() (l quad.Limits) {
	param.Default(&l)
	return l
}

func always(w so3.Vec3) func(float64) so3.Vec3 { return func(float64) so3.Vec3 { return w } }

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestRecentMean: the law without its integral hangs aside in a wind by wind/gain; with the compensation it does not,
// in any wind, and after a change the error is over as soon as the window is of the new wind.
func TestRecentMean(t *testing.T) {
	c := RecentMeanConfig{Window: 0.4}
	param.Default(&c.Gains)
	c.Gains.Integral = 0
	wind := so3.Vec3{X: 3, Y: -1, Z: 0.5}
	with := fly(must(NewRecentMean(c, limits(), actuator, dt, point{})), 400, always(wind))
	hangs := wind.Norm() / c.Gains.Position
	if e := mean(with[300:]); e > 0.02*hangs {
		t.Errorf("errs by %.4f m in a wind that pushes the law %.3f m aside", e, hangs)
	}
	c.Window = 0.04
	r := must(NewRecentMean(c, limits(), actuator, dt, point{}))
	r.push = wind
	r.Reset()
	if r.push != (so3.Vec3{}) || r.rows.Full() {
		t.Error("a reset forgets nothing")
	}
	c.Window = 0.001
	if _, err := NewRecentMean(c, limits(), actuator, dt, point{}); err == nil {
		t.Error("a window without a row passes")
	}
	c.Window, c.Gains.Integral = 0.4, 4
	turned := fly(must(NewRecentMean(c, limits(), actuator, dt, point{})), 600, func(t float64) so3.Vec3 {
		if t < 6 {
			return wind
		}
		return wind.Scale(-1)
	})
	if before, after := mean(turned[250:300]), mean(turned[500:]); before > 0.03 || after > 0.03 ||
		slices.Max(turned[300:400]) < 0.05 {
		t.Errorf("with the integral: %.3f m before the turn, %.3f m after, at most %.3f m on the way", before, after,
			slices.Max(turned[300:400]))
	}
}

// trainer is small, for hovering.
func trainer() *Trainer {
	var spread task.Spread
	param.Default(&spread)
	k := must(task.New(task.Hover, must(task.CostOf(task.StiffCost, task.Hover)), spread, nil))
	s := &Trainer{Tasks: []*task.Task{k}, Dt: dt, Seed: 1}
	s.Small()
	s.Policy.Steady = policy.Steady{} // the wind is for what is learned here
	return s
}

// trained trains a small policy in a world.
func trained(w train.World[float32], epochs int) *policy.Policy[float32] {
	s := trainer()
	c := s.Policy
	c.Hidden, c.Epochs, c.Rate = 32, epochs, 0.005
	return must(quadtrain.Run(context.Background(), c, w, dt,
		quadtrain.Options{Seed: 1, Tasks: s.Tasks, Limits: limits()})).Policy
}

func nominal() train.World[float32] {
	var n quadtrain.Nominal
	param.Default(&n)
	n.MaxDelay = 2 // trainings of a second have no time for more
	return quadtrain.NominalWorld[float32](n)
}

var base = sync.OnceValue(func() *policy.Policy[float32] { return trained(nominal(), 80) })

// TestBlind: with any numbers in place of the latent, a policy does what it did under the prior mean, whatever its
// normaliser.
func TestBlind(t *testing.T) {
	o := policy.Observation{PreviewPoints: 2, PreviewTime: 0.2, PastActions: 2}
	p := must(policy.New[float32](o, limits(), 5, []int{7, 6}))
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range p.Net.Params {
		p.Net.Params[i] = float32(0.4 * rng.NormFloat64())
	}
	for i := range p.Norm.Mean {
		p.Norm.Mean[i], p.Norm.Scale[i] = float32(rng.NormFloat64()), rng.Float32()+0.5
	}
	for _, size := range []int{0, 3, 8} {
		b := must(Blind(p, size))
		if b.Latent != size {
			t.Fatalf("input of size %d numbers, want %d", b.Latent, size)
		}
		sighted, blind := policy.NewRunner(p, dt, point{}.At), policy.NewRunner(b, dt, point{}.At)
		for k := range 20 {
			other := make([]float32, size)
			for i := range other {
				other[i] = float32(rng.NormFloat64())
			}
			blind.SetLatent(other)
			s := quad.State{P: so3.Vec3{X: rng.NormFloat64(), Z: 1}, V: so3.Vec3{Y: rng.NormFloat64()},
				Q: so3.Identity()}
			x, y := sighted.Command(float64(k)*dt, &s), blind.Command(float64(k)*dt, &s)
			if math.Abs(x.Thrust-y.Thrust)+x.Rates.Sub(y.Rates).Norm() > 1e-4 {
				t.Fatalf("input of size %d: commands %v, blind %v", size, x, y)
			}
		}
	}
}

// TestRefit: in a wind the policy of before is blown aside; the one that was re-fitted is not, and flies from when
// its budget is over, not before.
func TestRefit(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	c := RefitConfig{Seconds: 6, Every: 6, Budget: 4}
	from := must(Blind(base(), 0))
	wind := always(so3.Vec3{X: 2.5})
	r := must(NewRefit(context.Background(), c, trainer(), from, point{}.At, nil))
	errs := fly(r, 800, wind)
	alone := fly(policy.NewRunner(from, dt, point{}.At), 800, wind)
	first := r.log[0]
	if first.Err != nil || first.At < 6-1e-9 || first.At > 6.1 || math.Abs(first.Flies-first.At-4) > 1e-9 ||
		first.Rows < 295 || first.Rows > 305 {
		t.Fatalf("first re-fit %+v", first)
	}
	flies := int(first.Flies/dt + 0.5)
	if !slices.Equal(errs[:flies], alone[:flies]) {
		t.Error("flies otherwise before its budget is over")
	}
	if before, after := mean(alone[flies+100:]), mean(errs[flies+100:]); !(after < 0.5*before) {
		t.Errorf("errs by %.3f m after the re-fit, %.3f m without", after, before)
	}
	if len(r.log) != 2 || r.policy == from {
		t.Errorf("%d re-fits in 16 s", len(r.log))
	}
	r.Reset()
	if r.policy != from || len(r.log) != 0 {
		t.Error("a reset keeps what was learned")
	}
}

// TestRefitThatFails: the policy of before flies on, and the record says why. A measured budget is the clock's.
func TestRefitThatFails(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	clock := time.Unix(0, 0)
	now := func() time.Time { clock = clock.Add(3 * time.Second); return clock }
	from := must(Blind(base(), 0))
	r := must(NewRefit(ctx, RefitConfig{Seconds: 2, Every: 2}, trainer(), from, point{}.At, now))
	fly(r, 150, always(so3.Vec3{}))
	log := r.log
	if len(log) != 1 || !errors.Is(log[0].Err, context.Canceled) || log[0].Seconds != 3 ||
		log[0].Flies != log[0].At+3 || r.policy != from {
		t.Errorf("%+v", log)
	}
	if _, err := NewRefit(ctx, RefitConfig{Every: 1, Budget: 2}, trainer(), from, point{}.At, nil); err == nil ||
		!strings.Contains(err.Error(), "budget of 2 s") {
		t.Errorf("a budget beyond the interval: %v", err)
	}
	if _, err := NewRefit(ctx, RefitConfig{}, trainer(), base(), point{}.At, nil); err == nil ||
		!strings.Contains(err.Error(), "Blind") {
		t.Errorf("a policy with a latent: %v", err)
	}
	if _, _, err := trainer().Improve(ctx, nil, nil, base()); err == nil || !strings.Contains(err.Error(), "Blind") {
		t.Errorf("a policy with a latent: %v", err)
	}
}

// TestInformedPolicy: told the wind, it stays; told of no wind, the same policy is blown aside.
func TestInformedPolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	const spread = 2
	p := trained(quadtrain.Informed(nominal(), dt, spread), 130)
	o := must(NewInformed(p, spread, dt, point{}.At))
	wind := so3.Vec3{X: 2, Y: -1.5}
	informed := mean(fly(o, 400, always(wind))[200:])
	untold := mean(fly(policy.NewRunner(p, dt, point{}.At), 400, always(wind))[200:])
	t.Logf("errs by %.3f m, untold %.3f m", informed, untold)
	if informed > 0.12 || untold < 2*informed {
		t.Errorf("errs by %.3f m, untold %.3f m", informed, untold)
	}
	if _, err := NewInformed(base(), spread, dt, point{}.At); err == nil ||
		!strings.Contains(err.Error(), "room for 12 numbers, the wind has 3") {
		t.Errorf("a policy of another latent: %v", err)
	}
}
