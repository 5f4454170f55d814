package estimator

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// feed adds poses of the eight at 100 Hz for the times [from, to), moved by offset and stamped later by delay.
func feed(t *testing.T, e *Estimator, from, to, delay float64, offset so3.Vec3) (s quad.State, outcome Outcome) {
	t.Helper()
	for k := math.Round(from * 100); k < math.Round(to*100); k++ {
		p, _ := eight(k / 100)
		if s, outcome = e.Add(level(k/100+delay, p.Add(offset))); outcome == Dropped {
			t.Fatalf("pose at %g s was dropped", k/100)
		}
	}
	return s, outcome
}

func TestGapStartsAnew(t *testing.T) {
	e := mustNew(t, DefaultParams())
	feed(t, e, 0, 1, 0, so3.Vec3{})
	if s, outcome := feed(t, e, 1.2, 1.21, 0, so3.Vec3{}); outcome != Warming || s.V != (so3.Vec3{}) {
		t.Fatalf("first pose after a gap: outcome %d, velocity %v", outcome, s.V)
	}
	s, outcome := feed(t, e, 1.21, 1.4, 0, so3.Vec3{})
	if _, v := eight(1.39); outcome != Ready || s.V.Sub(v).Norm() > 0.05 {
		t.Fatalf("after the gap: outcome %d, velocity %v, expected %v", outcome, s.V, v)
	}
	if want := (Counts{Gaps: 1}); e.Counts() != want {
		t.Fatalf("counts %+v", e.Counts())
	}
}

func TestJumpStartsAnew(t *testing.T) {
	e := mustNew(t, DefaultParams())
	feed(t, e, 0, 1, 0, so3.Vec3{})
	moved := so3.Vec3{X: 0.5} // another body's markers: 0.5 m in 10 ms
	if _, outcome := feed(t, e, 1, 1.03, 0, moved); outcome != Warming {
		t.Fatalf("outcome %d after a jump", outcome)
	}
	s, outcome := feed(t, e, 1.03, 1.2, 0, moved)
	if _, v := eight(1.19); outcome != Ready || s.V.Sub(v).Norm() > 0.05 {
		t.Fatalf("after the jump: outcome %d, velocity %v, expected %v", outcome, s.V, v)
	}
	if want := (Counts{Jumps: 1}); e.Counts() != want {
		t.Fatalf("counts %+v", e.Counts())
	}
}

// Stamps from a jittery clock, 0.1 ms apart at 3 m/s and 10 ms of travel, are no jump.
func TestJitterIsNoJump(t *testing.T) {
	e := mustNew(t, DefaultParams())
	for k := range 50 {
		at := float64(k) * 0.01
		stamp := at
		if k%2 == 1 {
			stamp -= 0.0099
		}
		e.Add(level(stamp, so3.Vec3{X: 3 * at}))
	}
	if e.Counts() != (Counts{}) {
		t.Fatalf("counts %+v", e.Counts())
	}
}

func TestLateAndRepeatedAreDropped(t *testing.T) {
	plain, e := mustNew(t, DefaultParams()), mustNew(t, DefaultParams())
	for k := range 100 {
		at := float64(k) / 100
		p, _ := eight(at)
		want, _ := plain.Add(level(at, p))
		if got, _ := e.Add(level(at, p)); got != want {
			t.Fatalf("state at %g s: %v, undisturbed %v", at, got, want)
		}
		if k%10 != 9 {
			continue
		}
		for _, stamp := range []float64{at, at, at - 0.015, at - 3} {
			if _, outcome := e.Add(level(stamp, so3.Vec3{X: 50})); outcome != Dropped {
				t.Fatalf("pose stamped %g s at %g s: outcome %d", stamp, at, outcome)
			}
		}
	}
	if want := (Counts{Duplicates: 20, Late: 20}); e.Counts() != want {
		t.Fatalf("counts %+v, expected %+v", e.Counts(), want)
	}
}

// One stamp from the future costs four poses, and so does a clock set back for good.
func TestClockSetBack(t *testing.T) {
	e := mustNew(t, DefaultParams())
	feed(t, e, 0, 1, 1000, so3.Vec3{})
	for k := range 4 {
		if _, outcome := e.Add(level(1+float64(k)/100, so3.Vec3{})); outcome != Dropped {
			t.Fatalf("pose %d after the clock was set back: outcome %d", k, outcome)
		}
	}
	s, outcome := feed(t, e, 1.04, 1.2, 0, so3.Vec3{})
	if _, v := eight(1.19); outcome != Ready || s.V.Sub(v).Norm() > 0.05 {
		t.Fatalf("outcome %d, velocity %v, expected %v", outcome, s.V, v)
	}
	if want := (Counts{Late: 4, ClockResets: 1}); e.Counts() != want || e.Counts().Restarts() != 1 {
		t.Fatalf("counts %+v, expected %+v", e.Counts(), want)
	}
}

func TestInvalidIsDropped(t *testing.T) {
	e := mustNew(t, DefaultParams())
	feed(t, e, 0, 0.2, 0, so3.Vec3{})
	p, one, nan := so3.Vec3{X: 1}, so3.Identity(), math.NaN()
	bad := []Pose{
		{nan, p, one}, {math.Inf(1), p, one}, {0.21, so3.Vec3{Y: nan}, one}, {0.21, so3.Vec3{Z: math.Inf(-1)}, one},
		{0.21, p, so3.Quat{}}, {0.21, p, so3.Quat{W: 1.02}}, {0.21, p, so3.Quat{W: 1, Z: nan}},
	}
	for _, pose := range bad {
		if _, outcome := e.Add(pose); outcome != Dropped {
			t.Errorf("%+v: outcome %d", pose, outcome)
		}
	}
	if want := (Counts{Invalid: len(bad)}); e.Counts() != want {
		t.Fatalf("counts %+v, expected %+v", e.Counts(), want)
	}
}

// Attitudes have unit norm and never flip their sign, however the source does.
func TestAttitudeIsContinuous(t *testing.T) {
	e := mustNew(t, DefaultParams())
	before := so3.Quat{}
	for k := range 400 {
		q := so3.Exp(so3.Vec3{X: 0.2, Z: 0.05 * float64(k)}) // several turns of yaw
		scale := 1.005
		if k%3 == 1 {
			scale = -scale
		}
		s, _ := e.Add(Pose{T: float64(k) / 100,
			Q: so3.Quat{W: scale * q.W, X: scale * q.X, Y: scale * q.Y, Z: scale * q.Z}})
		if math.Abs(s.Q.Norm()-1) > 1e-12 || k > 0 && dot(before, s.Q) < 0.99 {
			t.Fatalf("attitude %d is %v after %v", k, s.Q, before)
		}
		before = s.Q
	}
}

func TestNoAllocation(t *testing.T) {
	e := mustNew(t, DefaultParams())
	k := 0
	if n := testing.AllocsPerRun(2000, func() {
		p, _ := eight(float64(k) / 1000)
		e.Add(level(float64(k)/1000, p))
		k++
	}); n != 0 {
		t.Fatalf("%g allocations per pose", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, rate := range []float64{50, 200, 1000} {
		b.Run(map[float64]string{50: "50Hz", 200: "200Hz", 1000: "1kHz"}[rate], func(b *testing.B) {
			e := mustNew(b, DefaultParams())
			for k := range b.N {
				p, _ := eight(float64(k) / rate)
				e.Add(level(float64(k)/rate, p))
			}
		})
	}
}
