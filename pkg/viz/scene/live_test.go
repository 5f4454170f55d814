package scene

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

const begun = int64(1_700_000_000_000_000_000)

// stepSource makes steps of a vehicle that obeys thrust, gravity and one more acceleration exactly.
type stepSource struct {
	tick control.TickRecord
	m    msgs.Step
	dt   float64
	more so3.Vec3 // m/s²
}

func newStepSource(rate float64, more so3.Vec3) *stepSource {
	f := &stepSource{dt: 1 / rate, more: more, tick: control.NewTickRecord()}
	f.tick.Stamp, f.tick.State, f.tick.Bundle, f.tick.Task = begun, quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()},
		"first", "hover"
	f.tick.Sent.Thrust, f.tick.Actuator.Thrust = quad.Gravity, quad.Gravity
	f.tick.Reference = append(f.tick.Reference, quad.Reference{P: so3.Vec3{Z: 1}})
	return f
}

// next is the step of the next tick.
func (f *stepSource) next() *msgs.Step {
	bridge.PutStep(&f.m, &f.tick, "map")
	s := &f.tick.State
	a := s.Q.ZAxis().Scale(f.tick.Actuator.Thrust).Add(so3.Vec3{Z: -quad.Gravity}).Add(f.more)
	s.P = s.P.Add(s.V.Scale(f.dt)).Add(a.Scale(f.dt * f.dt / 2))
	s.V = s.V.Add(a.Scale(f.dt))
	f.tick.Seq++
	f.tick.Stamp += int64(math.Round(f.dt * 1e9))
	return &f.m
}

func scene() *Scene { return New(Config{History: 10, Rate: 50, Horizon: 1}) }

func all(t testing.TB, s *Scene) []TickRow {
	t.Helper()
	rows, _, ok := s.Since(s.Snapshot(time.Now()).Epoch, 0, nil)
	if !ok {
		t.Fatal("no such history")
	}
	return rows
}

// What neither thrust nor gravity explains is found, whatever the attitude.
func TestResidualIsTheUnexplained(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := rapid.Float64Range(-8, 8)
		more := so3.Vec3{X: g.Draw(rt, "x"), Y: g.Draw(rt, "y"), Z: g.Draw(rt, "z")}
		f, s := newStepSource(50, more), scene()
		f.tick.State.Q = so3.FromEuler(g.Draw(rt, "roll")/8, g.Draw(rt, "pitch")/8, g.Draw(rt, "yaw"))
		f.tick.Actuator.Thrust = 9 + g.Draw(rt, "thrust")
		for k := range 30 {
			s.Step(f.next(), 0)
			r, _, _, _ := s.Newest()
			if known := r.Residual.Norm() >= 0; known != (k >= residualRows) {
				rt.Fatalf("row %d: %v", k, r.Residual)
			}
			if k >= residualRows && r.Residual.Sub(more).Norm() > 1e-6 {
				rt.Fatalf("row %d: %v, the vehicle had %v", k, r.Residual, more)
			}
		}
	})
}

// Rows are those of the steps, at most 50 a second, and the newest of them.
func TestRows(t *testing.T) {
	s, f := New(Config{History: 2, Rate: 400, Horizon: 1}), newStepSource(400, so3.Vec3{X: 1})
	z := &msgs.Latent{Novelty: .25}
	f.tick.Latent, f.tick.LatentStamp, f.tick.Stage, f.tick.Confidence = []float32{1, 2, 3}, begun, guard.Limited, .75
	if n, _, _, ok := s.Newest(); ok {
		t.Fatalf("a row of nothing: %+v", n)
	}
	for k := range 400 * 5 {
		if k == 800 {
			s.Latent(z)
		}
		s.Step(f.next(), 0)
	}
	rows := all(t, s)
	if len(rows) != 100 {
		t.Fatalf("%d rows of 2 s", len(rows))
	}
	for i, r := range rows {
		if i > 0 && r.Stamp-rows[i-1].Stamp != 2e7 {
			t.Fatalf("row %d comes %d ns after the one before", i, r.Stamp-rows[i-1].Stamp)
		}
		if r.Novelty != .25 || r.Z != 3 || r.Latent[2] != 3 || r.Stage != guard.Limited || r.Bundle != 0 ||
			math.Abs(r.Error()-math.Abs(r.State.P.X)) > 1e-12 {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
	n := s.Snapshot(time.Now())
	if n.Steps != 2000 || n.Lost != 0 || n.Task != "hover" || n.Frame != "map" || len(n.Bundles) != 1 ||
		n.Bundles[0].ID != "first" || n.Bundles[0].Published {
		t.Errorf("%+v", n)
	}
	f.tick.Seq += 7
	s.Step(f.next(), 0)
	if n := s.Snapshot(time.Now()); n.Lost != 7 {
		t.Errorf("%d lost", n.Lost)
	}
}

// A reader that asks again and again is given every row once, whatever it asks; one that is too late is told what is
// left.
func TestSince(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, f := New(Config{History: rapid.Float64Range(.1, 1).Draw(rt, "history"), Rate: 50, Horizon: 1}),
			newStepSource(50, so3.Vec3{})
		epoch, next, last := s.Snapshot(time.Now()).Epoch, uint64(0), int64(0)
		for range rapid.IntRange(1, 20).Draw(rt, "turns") {
			n := rapid.IntRange(0, 80).Draw(rt, "steps")
			for range n {
				s.Step(f.next(), 0)
			}
			if e := s.Snapshot(time.Now()).Epoch; e != epoch {
				if _, _, ok := s.Since(epoch, next, nil); ok {
					rt.Fatal("rows of a history that is over")
				}
				epoch, next = e, 0
			}
			rows, after, ok := s.Since(epoch, next, nil)
			if !ok || len(rows) != min(n, len(s.rows.rows)) {
				rt.Fatalf("%d rows after %d steps", len(rows), n)
			}
			for _, r := range rows {
				if r.Stamp <= last {
					rt.Fatal("a row twice")
				}
				last = r.Stamp
			}
			next = after
		}
	})
}

// What a viewer begins with is whole at the end and thinned before, with the worst errors kept.
func TestBegin(t *testing.T) {
	s, f := New(Config{History: 100, Rate: 50, Horizon: 1}), newStepSource(50, so3.Vec3{})
	for k := range 2500 {
		f.tick.State.P.X = 0
		if k == 333 {
			f.tick.State.P.X = 2
		}
		s.Step(f.next(), 0)
	}
	rows, next := s.Begin(s.Snapshot(time.Now()).Epoch, 100, 10, 5, nil)
	if next != 2500 || len(rows) < 900 || len(rows) > 902 {
		t.Fatalf("%d rows, next %d", len(rows), next)
	}
	if worst := slices.MaxFunc(rows, func(a, b TickRow) int {
		return int(math.Copysign(1,
			a.Error()-b.Error()))
	}); worst.Error() != 2 {
		t.Errorf("the worst row has %g m", worst.Error())
	}
	if !slices.IsSortedFunc(rows, func(a, b TickRow) int { return int(a.Stamp - b.Stamp) }) {
		t.Error("out of order")
	}
	if rows, _ := s.Begin(s.Snapshot(time.Now()).Epoch, 20, 10, 5, nil); len(rows) < 600 || len(rows) > 602 {
		t.Errorf("%d rows of 20 s", len(rows))
	}
	if rows, _ := s.Begin(99, 100, 10, 5, nil); rows != nil {
		t.Error("rows of no history")
	}
}

// A clock that is set back begins a history anew.
func TestClockSetBack(t *testing.T) {
	s, f := scene(), newStepSource(50, so3.Vec3{})
	for range 100 {
		s.Step(f.next(), 0)
	}
	before := s.Snapshot(time.Now())
	f.tick.Stamp, f.tick.Seq = begun-5e9, 0
	s.Step(f.next(), 0)
	after := s.Snapshot(time.Now())
	if after.Epoch == before.Epoch || after.First != begun-5e9 || after.Lost != 0 || len(all(t, s)) != 1 {
		t.Errorf("%+v", after)
	}
}

func TestLatency(t *testing.T) {
	s, f := scene(), newStepSource(50, so3.Vec3{})
	var want []time.Duration
	for k := range 200 {
		d := time.Duration(k+1) * 100 * time.Microsecond
		stamp, source := f.tick.Stamp, begun+int64(k)*1e7
		if k%4 == 0 { // of others the sample comes after the step, or not at all
			s.Sample(stamp, source)
		}
		s.Step(f.next(), source+int64(d))
		if k%4 == 2 {
			s.Sample(stamp, source)
		}
		if k%2 == 0 {
			want = append(want, d)
		}
	}
	l := s.Snapshot(time.Now()).Latency
	slices.Sort(want)
	if l.Count != 100 || l.P50 != want[49] || l.P99 != want[98] || l.Max != want[99] {
		t.Errorf("%+v", l)
	}
	for i, n := range l.Buckets {
		lo, hi := 0.0, Edge(i)
		if i > 0 {
			lo = Edge(i - 1)
		}
		count := 0
		for _, d := range want {
			if x := d.Seconds(); x > lo*(1+1e-9) && x <= hi*(1+1e-9) {
				count++
			}
		}
		if n != count {
			t.Errorf("bucket up to %g s has %d, expected %d", hi, n, count)
		}
	}
}

// Latents of a plane are mapped as they lie in it, up to a turn, and the map keeps its sides.
func TestPlane(t *testing.T) {
	s, f := New(Config{History: 60, Rate: 50, Horizon: 1}), newStepSource(50, so3.Vec3{})
	s.UpdatePlane()
	if s.Snapshot(time.Now()).Plane != nil {
		t.Fatal("a plane of nothing")
	}
	axes := [2][4]float64{{.5, .5, .5, .5}, {.5, -.5, .5, -.5}}
	at := func(k int) (x, y float64) { return 3 * math.Sin(float64(k)/40), math.Cos(float64(k) / 17) }
	fly := func(from, to int) {
		for k := from; k < to; k++ {
			x, y := at(k)
			f.tick.Latent = f.tick.Latent[:0]
			for i := range 4 {
				f.tick.Latent = append(f.tick.Latent, float32(2+x*axes[0][i]+y*axes[1][i]))
			}
			f.tick.LatentStamp = f.tick.Stamp
			s.Step(f.next(), 0)
		}
		s.UpdatePlane()
	}
	fly(0, 1500)
	p := s.Snapshot(time.Now()).Plane
	if p == nil || math.Abs(p.Share[0]+p.Share[1]-1) > 1e-6 || p.Share[0] < p.Share[1] {
		t.Fatalf("%+v", p)
	}
	rows := all(t, s)
	for k := 0; k < 1400; k += 50 {
		x0, y0 := p.Project(rows[k].Latent[:4])
		x1, y1 := p.Project(rows[k+37].Latent[:4])
		u0, v0 := at(k)
		u1, v1 := at(k + 37)
		if got, want := p.Scale*math.Hypot(x1-x0, y1-y0), math.Hypot(u1-u0, v1-v0); math.Abs(got-want) > 1e-5 {
			t.Fatalf("rows %d and %d are %g apart on the map, expected %g", k, k+37, got, want)
		}
	}
	fly(1500, 1600)
	q := s.Snapshot(time.Now()).Plane
	for i := range q.Axes {
		dot := 0.0
		for j := range 4 {
			dot += q.Axes[i][j] * p.Axes[i][j]
		}
		if dot < .9 {
			t.Errorf("axis %d flipped: %g", i, dot)
		}
	}
	f.tick.Bundle = "second"
	fly(1600, 1700)
	if s.Snapshot(time.Now()).Plane.Bundle != 0 {
		t.Error("a plane of too few rows")
	}
	fly(1700, 2000)
	if s.Snapshot(time.Now()).Plane.Bundle != 1 {
		t.Error("no plane of the second bundle")
	}
}

// Steps that are broken in any way are taken without harm.
func TestBrokenSteps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, f := scene(), newStepSource(50, so3.Vec3{})
		odd := rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300})
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			m := f.next()
			m.Pose = geometrymsgs.Pose{Position: geometrymsgs.Point{X: odd.Draw(rt, "x")},
				Orientation: geometrymsgs.Quaternion{W: odd.Draw(rt, "w"), X: odd.Draw(rt, "qx")}}
			m.Velocity.X, m.CommandSent[0], m.Actuator[0] = odd.Draw(rt, "v"), odd.Draw(rt, "thrust"),
				odd.Draw(rt, "acting")
			m.Reference = m.Reference[:rapid.IntRange(0, len(m.Reference)).Draw(rt, "reference")]
			m.Latent = make([]float32, rapid.IntRange(0, 2*MaxLatent).Draw(rt, "latent"))
			m.LatentStamp.Sec = 1
			m.Header.Stamp.Sec += rapid.Int32Range(-1, 1).Draw(rt, "jump")
			s.Step(m, 0)
			s.UpdatePlane()
			if _, err := s.Predict(); err != nil {
				rt.Fatal(err)
			}
			s.Snapshot(time.Now())
		}
	})
}
