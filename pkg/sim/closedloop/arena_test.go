package closedloop

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

func setup(t testing.TB, spec reference.Spec, w sim.World, seconds float64) (*Setup, reference.Reference) {
	t.Helper()
	param.Default(spec)
	r, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &Setup{World: w, Seed: 1, Path: r, Seconds: seconds, Tick: 0.02}
	param.Default(&s.Estimate)
	param.Default(&s.Limits)
	return s, r
}

func law(t testing.TB, s *Setup, r reference.Reference) quad.Controller {
	t.Helper()
	var g guard.Gains
	param.Default(&g)
	l, err := guard.NewLaw(g, s.Limits)
	if err != nil {
		t.Fatal(err)
	}
	return guard.PathFollower{Law: l, Path: r}
}

// TestTheLawFlies: hover and figure-eight, closed over motion capture and
// estimator, the same twice.
func TestTheLawFlies(t *testing.T) {
	for _, c := range []struct {
		spec reference.Spec
		most float64
	}{{new(reference.Hover), 0.01}, {new(reference.FigureEight), 0.08}} {
		s, r := setup(t, c.spec, sim.Default(), 8)
		trace, err := Fly(s, law(t, s, r))
		if err != nil {
			t.Fatal(err)
		}
		f := trace.Measure(4)
		if f.Crash != "" || !(f.Mean < c.most) || math.Abs(f.Seconds-4) > 0.1 || len(trace.Rows) != 400 {
			t.Errorf("%s: %+v over %d rows", c.spec.Kind(), f, len(trace.Rows))
		}
		again, err := Fly(s, law(t, s, r))
		if err != nil || again.Measure(0) != trace.Measure(0) {
			t.Errorf("%s: a second flight is another one, error %v", c.spec.Kind(), err)
		}
	}
}

// motorsOff commands no thrust.
type motorsOff struct{ ticks, observed int }

func (m *motorsOff) Command(float64, *quad.State) quad.Command { m.ticks++; return quad.Command{} }
func (m *motorsOff) Reset()                                    {}
func (m *motorsOff) Observe(quad.Row)                          { m.observed++ }

func TestACrashEndsTheFlight(t *testing.T) {
	s, _ := setup(t, &reference.Hover{}, sim.Default(), 8)
	s.Limits.MinThrust = 0
	s.Start = quad.State{Q: so3.Identity(), P: so3.Vec3{Z: 3}}
	c := &motorsOff{}
	trace, err := Fly(s, c)
	if err != nil {
		t.Fatal(err)
	}
	f := trace.Measure(4)
	if !strings.Contains(f.Crash, "hit the ground") || len(trace.Rows) > 100 {
		t.Errorf("%d rows, crash %q", len(trace.Rows), f.Crash)
	}
	if !(f.Mean > 0.1) {
		t.Errorf("a flight that ended before it settled has the error %g m, want that of all of it", f.Mean)
	}
	if c.observed != c.ticks || c.ticks == 0 || trace.Missed(Landing) == "" {
		t.Errorf("%d ticks, %d observed, missed %q", c.ticks, c.observed, trace.Missed(Landing))
	}
}

// A robot that swings at 2 Hz while it turns slowly, by far more, and yaws.
func TestSwingIsOfQuickTurnsAlone(t *testing.T) {
	trace := &Trace{}
	const amplitude, hertz = 0.2, 2.0
	for k := range 1000 {
		at := 0.02 * float64(k)
		roll := amplitude*math.Sin(2*math.Pi*hertz*at) + 0.5*math.Sin(2*math.Pi*0.1*at)
		q := so3.FromEuler(0, 0, at).Mul(so3.FromEuler(roll, 0, 0))
		trace.Rows = append(trace.Rows, TraceRow{T: at, Truth: quad.State{Q: q}})
	}
	want := amplitude * 2 * math.Pi * hertz / math.Sqrt2
	if got := trace.Measure(4).Swing; math.Abs(got/want-1) > 0.15 {
		t.Errorf("%.3f rad/s, want %.3f", got, want)
	}
	for k := range trace.Rows {
		at := trace.Rows[k].T
		trace.Rows[k].Truth.Q = so3.FromEuler(0.5*math.Sin(2*math.Pi*0.1*at), 0, 0)
	}
	if got := trace.Measure(4).Swing; got > 0.01 {
		t.Errorf("%.3f rad/s without a swing", got)
	}
}

func TestMeasure(t *testing.T) {
	trace := &Trace{}
	for k := range 100 {
		trace.Rows = append(trace.Rows, TraceRow{T: float64(k), Truth: quad.State{P: so3.Vec3{X: float64(k)}}})
	}
	f := trace.Measure(90)
	if f.Mean != 94.5 || f.Max != 99 || f.P95 != 98 || math.Abs(f.RMS-math.Sqrt(94.5*94.5+8.25)) > 1e-9 ||
		f.Seconds != 9 {
		t.Errorf("%+v", f)
	}
	if f := (&Trace{}).Measure(1); f != (Figures{}) {
		t.Errorf("of nothing: %+v", f)
	}
	s, r := setup(t, new(reference.Hover), sim.Default(), 1)
	s.Tick = 0
	if _, err := Fly(s, law(t, s, r)); err == nil {
		t.Error("ticks of 0 s pass")
	}
}

func BenchmarkFly(b *testing.B) {
	s, r := setup(b, new(reference.FigureEight), sim.Default(), 10)
	c := law(b, s, r)
	for b.Loop() {
		if _, err := Fly(s, c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10*float64(b.N)/b.Elapsed().Seconds(), "×realtime")
}
