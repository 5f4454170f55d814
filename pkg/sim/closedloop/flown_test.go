package closedloop

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// flying is a judge of the default robot on hover and figure-eight, and a policy.
func flying(t *testing.T) (*Judge, *bundle.Bundle) {
	t.Helper()
	j := &Judge{World: sim.Default(), JudgeConfig: judging()}
	for _, name := range []string{"hover", "track"} {
		path, err := reference.OfTask(name)
		if err != nil {
			t.Fatal(err)
		}
		j.Paths = append(j.Paths, path)
	}
	param.Default(&j.Limits)
	b, err := bundle.Read(filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	if err != nil {
		t.Fatal(err)
	}
	return j, b
}

// record has a policy fly the robot of a judge as it is.
func record(t *testing.T, j *Judge, b *bundle.Bundle) (out []quadgate.Stretch) {
	t.Helper()
	exact := *j
	exact.Exactly = true
	for k := range 8 {
		s, err := exact.Record(b, gate.Trial{Number: uint64(k), DisturbanceStrength: 2})
		if err != nil {
			t.Fatal(err)
		}
		if s.Tripped {
			t.Fatal("the guard takes over")
		}
		out = append(out, *s)
	}
	return out
}

// like is a judge whose robot was identified as the default one, later by so many seconds.
func (j *Judge) like(later float64) *Judge {
	const dt = 0.02
	p := looksOf(j.Filter)
	return j.Of(quadgate.Identified{Dt: dt, Drag: p.drag, Actuator: quadrotor.Actuator{ThrustGain: j.World.Motor.Gain,
		RateGain: 1, ThrustDelay: (p.thrustDelay + later) / dt, ThrustLag: p.thrust - p.thrustDelay,
		RateDelay: (p.rateDelay + later) / dt, RateLag: p.rate - p.rateDelay, YawLag: p.yawLag}}).(*Judge)
}

// TestFlownAgain: along what was flown, under the pushes felt there, the same robot errs about as much.
func TestFlownAgain(t *testing.T) {
	j, b := flying(t)
	same := j.like(0)
	for k, s := range record(t, j, b) {
		r, err := same.again(context.Background(), b, &s, uint64(k))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d: errs by %.4f m, again by %.4f m", k, r.flown, r.again)
		if r.crashes || math.Abs(r.flown-r.again) > 0.1*r.flown {
			t.Errorf("stretch %d: errs by %.4f m, by %.4f m when it is flown again (crashes: %v)", k, r.flown, r.again,
				r.crashes)
		}
	}
}

// faulty are flights whose poses follow the reference, are half as far off as they were, and stand still.
func faulty(flown []quadgate.Stretch) (at, half, frozen []quadgate.Stretch) {
	for _, s := range flown {
		a, h, f := s, s, s
		a.Rows, h.Rows, f.Rows = slices.Clone(s.Rows), slices.Clone(s.Rows), slices.Clone(s.Rows)
		for i := range s.Rows {
			r := s.Reference[i].P
			a.Rows[i].State.P, f.Rows[i].State = r, s.Rows[0].State
			h.Rows[i].State.P = r.Add(s.Rows[i].State.P.Sub(r).Scale(0.5))
		}
		at, half, frozen = append(at, a), append(half, h), append(frozen, f)
	}
	return at, half, frozen
}

// cut are flights that end after a few rows.
func cut(flown []quadgate.Stretch) (out []quadgate.Stretch) {
	for _, s := range flown {
		s.Rows, s.Reference = s.Rows[:20], s.Reference[:20]
		out = append(out, s)
	}
	return out
}

// TestSooner: the judge's robot answers sooner where it was identified later than it is, and never later.
func TestSooner(t *testing.T) {
	j, b := flying(t)
	flown := record(t, j, b)
	at, half, frozen := faulty(flown)
	two := j.Of(j.like(0.04).identified[0], j.like(0).identified[0]).(*Judge)
	for name, c := range map[string]struct {
		judge    *Judge
		flown    []quadgate.Stretch
		from, to float64
	}{
		"as it is":                     {j.like(0), flown, 0, 0},
		"sooner than it is":            {j.like(-0.02), flown, 0, 0},
		"later by .04 s":               {j.like(0.04), flown, 0.015, 0.015},
		"tripped":                      {j.like(0.04), append(flown[:7:7], quadgate.Stretch{Tripped: true}), 0, 0},
		"poses that are the reference": {j.like(0), at, 0, 0},
		"half as far off":              {j.like(0), half, 0, 0},
		"poses that stand still":       {j.like(0), frozen, 0, 0},
		"too short":                    {j.like(0.04), cut(flown), 0, 0},
		"too little flown":             {j.like(0.04), flown[:fewestFlown-1], 0, 0},
		"not identified":               {j, flown, 0, 0},
		"two robots":                   {two, flown, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, sooner, err := c.judge.Sooner(context.Background(), b, c.flown)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.3f s", sooner)
			if sooner < c.from-1e-9 || sooner > c.to+1e-9 {
				t.Errorf("sooner by %.3f s, want %.3f to %.3f", sooner, c.from, c.to)
			}
			if l := got.(*Judge); l.sooner != sooner || c.judge.sooner != 0 {
				t.Errorf("the judge's robot is sooner by %g s, that of the one before by %g", l.sooner,
					c.judge.sooner)
			}
		})
	}
}

// TestRecordedReference: between rows a recorded reference goes on as it moved.
func TestRecordedReference(t *testing.T) {
	path, err := reference.OfTask("track")
	if err != nil {
		t.Fatal(err)
	}
	const dt = 0.02
	s := &quadgate.Stretch{Dt: dt}
	for k := range 600 {
		r := path.At(float64(k) * dt)
		r.A = so3.Vec3{}
		s.Reference = append(s.Reference, r)
	}
	r := newRecorded(s)
	for k := range 1000 {
		at := 0.011 * float64(k)
		want, got := path.At(at), r.At(at)
		if got.P.Sub(want.P).Norm() > 1e-3 || got.V.Sub(want.V).Norm() > 0.02 || got.A.Sub(want.A).Norm() > 0.4 {
			t.Fatalf("at %.3f s: %+v, want %+v", at, got, want)
		}
	}
}
