package quadfit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/learning/dataset"
)

// spoil adds what poor motion capture errs by, and what a causal fit of velocities makes of it. From a row on
// poses are of another place.
func spoil(segments []dataset.Segment, jump int) {
	rng := rand.New(rand.NewPCG(3, 4))
	normal := func(s float64) so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(s)
	}
	for i := range segments {
		for k := range segments[i].Rows {
			s := &segments[i].Rows[k].State
			s.P, s.V, s.Q = s.P.Add(normal(.003)), s.V.Add(normal(.1)), s.Q.Mul(so3.Exp(normal(.02))).Normalize()
			if k >= jump {
				s.P.X += .2
			}
		}
	}
}

// TestPoorFlightsAreSmoothed: velocities of flights with noise are a quarter as wrong for the loss as they were
// measured, and the flights' own rows stay what they were. Flights that are measured well are taken as they are.
func TestPoorFlightsAreSmoothed(t *testing.T) {
	const never = 1 << 30
	cfg, clean, spoilt := quick(), recorded(4, 220), recorded(4, 220)
	spoil(spoilt, never)
	before := dataset.Digest(spoilt)
	r, err := Source(.02, spoilt)(t.Context(), &cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if dataset.Digest(spoilt) != before {
		t.Error("smoothing changed what the robot believed")
	}
	measured, found := 0., 0.
	for i := range clean {
		for k := range clean[i].Rows {
			v := clean[i].Rows[k].State.V
			off, left := spoilt[i].Rows[k].State.V.Sub(v), spoilt[i].Smoothed[k].V.Sub(v)
			measured, found = measured+off.Dot(off), found+left.Dot(left)
		}
		v := spoilt[i].Smoothed[9].V
		if x := r.Recordings[i].True[9*10+7:]; x[0] != float32(v.X) || x[2] != float32(v.Z) {
			t.Errorf("the loss of recording %d sees the velocity %v, found was %v", i, x[:3], v)
		}
	}
	if ratio := math.Sqrt(found / measured); !(ratio < .25) {
		t.Errorf("velocities err %.2f times as much as measured ones", ratio)
	}
	if r, err = Source(.02, clean)(t.Context(), &cfg, nil); err != nil || r.Recordings[0].True != nil {
		t.Errorf("flights that are measured well have other states, %v", err)
	}
}

// TestMissedRowsTeachWhereSmoothed: a row that fills a gap counts as it was found afterwards. Beside it those measured
// well stay as they are, and nothing counts of a gap where nothing is smoothed.
func TestMissedRowsTeachWhereSmoothed(t *testing.T) {
	const missed, never = 50, 1 << 30
	for _, c := range []struct{ poor, off bool }{{}, {poor: true}, {off: true}} {
		cfg, data := quick(), recorded(1, 220)
		cfg.Prior.Identify = false
		if data[0].Rows[missed].Missed = true; c.off {
			cfg.Smoothing = "off"
		}
		if c.poor {
			spoil(data, never)
		}
		r, err := Source(.02, data)(t.Context(), &cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := &r.Recordings[0]
		for k, w := range x.Weight {
			if want := !c.off || k != missed; (w == 1) != want {
				t.Errorf("%+v, row %d: weight %g", c, k, w)
			}
			if x.True == nil {
				continue
			}
			is := slices.Equal(x.True[10*k:][:10], x.Measured[10*k:][:10]) && x.Variance[9*k] == 0
			if want := !c.poor && k != missed; is != want {
				t.Errorf("%+v, row %d: as measured %v", c, k, is)
			}
		}
		if (x.True == nil) != c.off {
			t.Errorf("%+v: other states %v", c, x.True != nil)
		}
	}
}

// TestNoTransitionLeadsOverAJump: where the poses have jumped the loss looks at no transition.
func TestNoTransitionLeadsOverAJump(t *testing.T) {
	cfg, data := quick(), recorded(2, 220)
	cfg.Prior.Identify = false
	spoil(data, 120)
	r, err := Source(.02, data)(t.Context(), &cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range r.Recordings {
		for k, w := range x.Weight {
			if want := k != 119; (w == 1) != want {
				t.Errorf("recording %d, row %d: weight %g", i, k, w)
			}
		}
		if len(x.True) != len(x.Measured) || len(x.Variance) != 9*len(x.Weight) {
			t.Errorf("recording %d: %d true numbers, %d variances", i, len(x.True), len(x.Variance))
		}
	}
	cfg.Smoothing = "off"
	if r, err = Source(.02, data)(t.Context(), &cfg, nil); err != nil || r.Recordings[0].True != nil {
		t.Errorf("without smoothing there are true states, %v", err)
	}
}
