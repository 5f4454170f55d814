package policy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func defaults(t testing.TB) (o Observation, l quad.Limits) {
	t.Helper()
	if err := param.Check(&o); err != nil {
		t.Fatal(err)
	}
	param.Default(&o)
	param.Default(&l)
	return o, l
}

// TestObserveVJP compares the pullback of a random functional with central
// differences, for states that are not normalised too; once with positions and
// once with features.
func TestObserveVJP(t *testing.T) {
	o := Observation{PreviewPoints: 2, PreviewTime: 0.2, PastActions: 3}
	checkObserveVJP(t, &o)
	o.Camera = someCamera()
	checkObserveVJP(t, &o)
}

// someCamera sees nine points, some of them near the edge of its view.
func someCamera() (c Camera) {
	param.Default(&c)
	c.Place, c.Yaw, c.Pitch = []float64{0.1, -0.05, 0.02}, 0.3, 0.2
	for _, x := range []float64{1.5, 2, 4} {
		c.Points = append(c.Points, x, 0.9*x, -0.5*x, x, 0.3*x, -0.2*x, x, -0.5*x, 0.3*x)
	}
	return c
}

func checkObserveVJP(t *testing.T, o *Observation) {
	const B, S, width = 2, 11, 100
	rng := rand.New(rand.NewPCG(1, 1))
	normal := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	s, ref, weight, x := normal(B*S), normal(B*o.RefSize()), normal(B*width), make([]float64, B*width)
	var seen, dseen []float64
	if n := B * o.Camera.Size(); n > 0 {
		seen, dseen = normal(n), make([]float64, n)
	}
	past, dpast := normal(o.PastActions*B*nA), make([]float64, o.PastActions*B*nA)
	loss := func() (sum float64) {
		observe(o, B, s, S, ref, seen, past, x, width)
		for i := range x {
			sum += weight[i] * x[i]
		}
		return sum
	}
	loss()
	ds := make([]float64, len(s))
	observeVJP(o, B, s, S, weight, width, ds, dseen, dpast)
	central(t, "state", loss, s, ds)
	central(t, "seen", loss, seen, dseen)
	central(t, "past", loss, past, dpast)
}

// TestObserveBatch: a batch in float32, which C puts together where the machine can, is seen as float64 sees it.
func TestObserveBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	with := Observation{PreviewPoints: 3, PreviewTime: 0.2, PastActions: 4}
	with.Camera = someCamera()
	for _, o := range []Observation{{PreviewPoints: 5, PreviewTime: 0.4, PastActions: 5},
		{PreviewPoints: 1, PastActions: 1}, with} {
		const B, S = 7, 30
		width := o.Size() + 3
		normal := func(n int) (x []float64, y []float32) {
			for range n {
				v := float32(rng.NormFloat64())
				x, y = append(x, float64(v)), append(y, v)
			}
			return x, y
		}
		s, s32 := normal(B * S)
		ref, ref32 := normal(B * o.RefSize())
		past, past32 := normal(o.PastActions * B * nA)
		seen, seen32 := normal(B * o.Camera.Size())
		x, x32 := normal(B * width)
		dx, dx32 := normal(B * width)
		ds, ds32 := normal(B * S)
		dseen, dseen32 := normal(B * o.Camera.Size())
		dpast, dpast32 := normal(o.PastActions * B * nA)
		observe(&o, B, s, S, ref, seen, past, x, width)
		observe(&o, B, s32, S, ref32, seen32, past32, x32, width)
		observeVJP(&o, B, s, S, dx, width, ds, dseen, dpast)
		observeVJP(&o, B, s32, S, dx32, width, ds32, dseen32, dpast32)
		for name, pair := range map[string]struct {
			want []float64
			got  []float32
		}{"x": {x, x32}, "ds": {ds, ds32}, "dseen": {dseen, dseen32}, "dpast": {dpast, dpast32}} {
			for i, w := range pair.want {
				if !(math.Abs(float64(pair.got[i])-w) <= 1e-5*(1+math.Abs(w))) {
					t.Fatalf("%d points, %s[%d] = %v in the batch, %v alone", o.Camera.Count(), name, i, pair.got[i], w)
				}
			}
		}
	}
}

// BenchmarkObserve is what 64 robots see by default, forth and back.
func BenchmarkObserve(b *testing.B) {
	const B, S = 64, 30
	o := Observation{PreviewPoints: 5, PreviewTime: 0.4, PastActions: 5}
	width := o.Size() + 12
	s, ref, past, x := make([]float32, B*S), make([]float32, B*o.RefSize()), make([]float32, o.PastActions*B*nA),
		make([]float32, B*width)
	ds, dpast := make([]float32, B*S), make([]float32, o.PastActions*B*nA)
	for b.Loop() {
		observe(&o, B, s, S, ref, nil, past, x, width)
		observeVJP(&o, B, s, S, x, width, ds, nil, dpast)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e9/B, "ns/robot")
}

// central compares a gradient with central differences.
func central(t *testing.T, name string, loss func() float64, x, dx []float64) {
	t.Helper()
	const eps = 1e-6
	for i, keep := range x {
		x[i] = keep + eps
		up := loss()
		x[i] = keep - eps
		down := loss()
		x[i] = keep
		if want := (up - down) / (2 * eps); math.Abs(dx[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%s[%d]: %g, central difference %g", name, i, dx[i], want)
		}
	}
}

func somePolicy(t testing.TB, latent int) *Policy[float32] {
	o, l := defaults(t)
	return policyThatSees(t, o, l, latent)
}

func policyThatSees(t testing.TB, o Observation, l quad.Limits, latent int) *Policy[float32] {
	p, err := New[float32](o, l, latent, []int{16, 8})
	if err != nil {
		t.Fatal(err)
	}
	hover := p.Hover()
	rng := rand.New(rand.NewPCG(2, 2))
	p.Net.Init(rng, hover[:])
	for i := range p.Norm.Mean {
		p.Norm.Mean[i], p.Norm.Scale[i] = float32(rng.NormFloat64()), float32(rng.Float64())
	}
	return p
}

// circle is some reference.
func circle(t float64) quad.Reference {
	return quad.Reference{P: so3.Vec3{X: 1e4 + math.Cos(t), Y: math.Sin(t), Z: 1},
		V: so3.Vec3{X: -math.Sin(t), Y: math.Cos(t)}, Yaw: t}
}

// TestRunnerSeesTheTrainingsObservation: in flight the policy gets what a batch of
// the same states, references and actions would have given it, far from the
// world's origin too.
func TestRunnerSeesTheTrainingsObservation(t *testing.T) {
	p := somePolicy(t, 3)
	const dt = 0.02
	runner := NewRunner(p, dt, circle)
	z := []float32{0.3, -1, 2}
	runner.SetLatent(z)
	hover := p.Hover()
	var past []float32
	for range p.Observation.PastActions {
		past = append(past, hover[:]...)
	}
	tape := p.Net.NewTape(1, 1)
	for k := range 12 {
		now := float64(k) * dt
		s := quad.State{P: so3.Vec3{X: 1e4 + 0.5, Y: 0.1 * now, Z: 1.2}, Q: so3.FromEuler(0.1, -0.2, now),
			V: so3.Vec3{X: now, Y: 1}}
		got := runner.Command(now, &s)

		near := s
		near.P.X -= 1e4
		state, ref, x := make([]float32, statePart), make([]float32, p.Observation.RefSize()),
			make([]float32, p.Net.Inputs)
		quadrotor.Measured(&near, state)
		PutReference(&p.Observation, func(ahead float64) *quad.Reference {
			r := circle(now + ahead)
			r.P.X -= 1e4
			return &r
		}, ref)
		observe(&p.Observation, 1, state, statePart, ref, nil, past, x, len(x))
		copy(x[p.Observation.Size():], z)
		p.Norm.Apply(x)
		var u [nA]float32
		p.Net.Forward(tape, 0, 1, x, u[:])
		want := p.Command(u)
		if d := math.Abs(got.Thrust-want.Thrust) + got.Rates.Sub(want.Rates).Norm(); d > 1e-4 {
			t.Fatalf("step %d: %+v in flight, %+v in training", k, got, want)
		}
		past = append(past[nA:], u[:]...)
	}
	s := quad.State{Q: so3.Identity()}
	now := 1.
	if n := testing.AllocsPerRun(100, func() { now += dt; runner.Command(now, &s) }); n != 0 {
		t.Errorf("%g allocations per tick", n)
	}
}

// TestRunnerTicksFaster: with eight ticks per Δt the past holds means over Δt.
func TestRunnerTicksFaster(t *testing.T) {
	p := somePolicy(t, 0)
	const dt, ticks = 0.02, 8
	runner := NewRunner(p, dt, circle)
	s := quad.State{P: so3.Vec3{X: 1e4, Z: 1}, Q: so3.Identity()}
	var mean [nA]float64
	for k := range 10*ticks + 1 {
		if k > 9*ticks-1 && k < 10*ticks {
			s.P.Y = 0.01 * float64(k)
		}
		c := runner.Command(float64(k)*dt/ticks, &s)
		if k >= 9*ticks && k < 10*ticks {
			for j, u := range p.Action(c) {
				mean[j] += float64(u) / ticks
			}
		}
	}
	youngest := runner.past[len(runner.past)-nA:]
	for j, u := range youngest {
		if math.Abs(float64(u)-mean[j]) > 1e-5 {
			t.Errorf("past action %v, the mean of the last interval is %v", youngest, mean)
		}
	}
}

func TestCommandsStayWithinTheLimits(t *testing.T) {
	p := somePolicy(t, 0)
	for _, u := range [][nA]float32{{1, 1, 1, 1}, {-1, -1, -1, -1}, {0.3, -0.2, 0.9, 0}} {
		c := p.Command(u)
		if got := p.Limits.Clip(c); math.Abs(got.Thrust-c.Thrust)+got.Rates.Sub(c.Rates).Norm() > 1e-5 {
			t.Errorf("action %v is %+v, beyond %+v", u, c, p.Limits)
		}
		for j, back := range p.Action(c) {
			if math.Abs(float64(back-u[j])) > 1e-6 {
				t.Errorf("action %v comes back as %v", u, p.Action(c))
			}
		}
	}
	if c := p.Command(p.Hover()); math.Abs(c.Thrust-quad.Gravity) > 1e-5 {
		t.Errorf("hover is %+v", c)
	}
}

// Limits that float32 does not hold, or cannot tell apart, are refused: all commands would be no numbers.
func TestLimitsThatAreNoNumbers(t *testing.T) {
	for name, change := range map[string]func(*quad.Limits){
		"thrust without bounds": func(l *quad.Limits) { l.MaxThrust = 1e39 },
		"rates without bounds":  func(l *quad.Limits) { l.MaxTiltRate = 1e300 },
		"no rate about yaw":     func(l *quad.Limits) { l.MaxYawRate = 1e-300 },
	} {
		o, l := defaults(t)
		change(&l)
		if _, err := New[float32](o, l, 0, []int{8}); err == nil || !strings.Contains(err.Error(), "finite") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBundle(t *testing.T) {
	p := somePolicy(t, 3)
	b := &bundle.Bundle{Robot: "quadrotor", Dt: 0.02}
	for range 2 { // the second replaces the first
		if err := Put(b, p, "hover"); err != nil {
			t.Fatal(err)
		}
	}
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := bundle.Decode("b", data)
	if err != nil {
		t.Fatal(err)
	}
	q, err := FromBundle(back)
	if err != nil {
		t.Fatal(err)
	}
	if back.Task != "hover" || !reflect.DeepEqual(q.Observation, p.Observation) || q.Limits != p.Limits ||
		q.Latent != p.Latent ||
		!slices.Equal(q.Net.Params, p.Net.Params) || !slices.Equal(q.Norm.Scale, p.Norm.Scale) ||
		!slices.Equal(q.Norm.Mean, p.Norm.Mean) {
		t.Error("the policy comes back changed")
	}
	for name, damage := range map[string]func(*bundle.Bundle){
		"no policy": func(b *bundle.Bundle) { b.Config = nil },
		"look-aheads": func(b *bundle.Bundle) {
			set(b, func(c *config) { c.Observation.PreviewPoints = 1 << 30 })
		},
		"lags in units":      func(b *bundle.Bundle) { set(b, func(c *config) { c.Observation.Lag = 0.3 }) },
		"observation.lag is": func(b *bundle.Bundle) { set(b, func(c *config) { c.Observation.Lag = 1e-9 }) },
		"pushes in units":    func(b *bundle.Bundle) { set(b, func(c *config) { c.Observation.Push = -1 }) },
		"hovering":           func(b *bundle.Bundle) { set(b, func(c *config) { c.Limits.MaxThrust = 9 }) },
		"inputs":             func(b *bundle.Bundle) { set(b, func(c *config) { c.Net.Inputs++ }) },
		"the model's has 12": func(b *bundle.Bundle) { b.Dimensions = map[string]int{"latent": 12} },
		"no tensor":          func(b *bundle.Bundle) { b.Tensors = b.Tensors[1:] },
		"hidden layers":      func(b *bundle.Bundle) { set(b, func(c *config) { c.Net.Hidden = nil }) },
	} {
		bad, _ := bundle.Decode("b", data)
		damage(bad)
		if _, err := FromBundle(bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

func set(b *bundle.Bundle, f func(*config)) {
	var c config
	if err := b.Section(vnd.PolicySection, &c); err != nil {
		panic(err)
	}
	f(&c)
	if err := b.SetSection(vnd.PolicySection, c); err != nil {
		panic(err)
	}
}

func BenchmarkTick(b *testing.B) {
	o, l := defaults(b)
	p, err := New[float32](o, l, 12, []int{256, 256})
	if err != nil {
		b.Fatal(err)
	}
	hover := p.Hover()
	p.Net.Init(rand.New(rand.NewPCG(1, 1)), hover[:])
	runner := NewRunner(p, 0.02, circle)
	s := quad.State{Q: so3.Identity()}
	now := 0.
	for b.Loop() {
		now += 0.02
		runner.Command(now, &s)
	}
}

func observe[F kernel.Float](o *Observation, B int, s []F, S int, ref, seen, past, x []F, width int) {
	view := o.View(S, width)
	quadrotor.Observe(&view, B, s, ref, seen, past, x)
}

func observeVJP[F kernel.Float](o *Observation, B int, s []F, S int, dx []F, width int, ds, dseen, dpast []F) {
	view := o.View(S, width)
	quadrotor.ObserveVJP(&view, B, s, dx, ds, dseen, dpast)
}
