package smooth

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/robot/quadrotor"
)

// hovering is a robot that swings gently about a place, as poses with noise and a causal fit show it, and its truth.
func hovering(rows int, noise float64, seed uint64) (dataset.Segment, []quad.State) {
	rng := rand.New(rand.NewPCG(seed, 1))
	normal := func(s float64) so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(s)
	}
	s := dataset.Segment{Flight: "f"}
	var truth []quad.State
	const w, reach = 2.0, 0.3
	for k := range rows {
		at := 0.02 * float64(k)
		tilt := math.Atan(-reach * w * w * math.Sin(w*at) / quad.Gravity)
		turning := -reach * w * w * w * math.Cos(w*at) / quad.Gravity
		x := quad.State{P: so3.Vec3{X: reach * math.Sin(w*at), Z: 1}, V: so3.Vec3{X: reach * w * math.Cos(w*at)},
			Q: so3.FromEuler(0, tilt, 0)}
		row := quad.Row{T: at, State: x, Command: quad.Command{Thrust: quad.Gravity / math.Cos(tilt),
			Rates: so3.Vec3{Y: turning / (1 + math.Tan(tilt)*math.Tan(tilt))}}}
		row.State.P, row.State.V = x.P.Add(normal(noise)), x.V.Add(normal(30*noise))
		row.State.Q = x.Q.Mul(so3.Exp(normal(5 * noise)))
		truth = append(truth, x)
		s.Rows = append(s.Rows, dataset.WeightedRow{Row: row, Confidence: 1})
	}
	return s, truth
}

// TestFill: velocities of poor flights come out far better and are called poor, those of good ones are not; a segment
// is smoothed once, and one that is too short not at all.
func TestFill(t *testing.T) {
	poor, truth := hovering(400, 0.003, 1)
	good, _ := hovering(400, 0.0003, 2)
	short, _ := hovering(leastRows-1, 0.003, 3)
	segments := []dataset.Segment{poor, good, short}
	for range 2 {
		first := segments[0].Smoothed
		if err := Fill(t.Context(), 0.02, quadrotor.NominalActuator(), segments); err != nil {
			t.Fatal(err)
		}
		if first != nil && &first[0] != &segments[0].Smoothed[0] {
			t.Error("the second time it is smoothed again")
		}
	}
	measured, found := 0., 0.
	for k, x := range truth {
		a, b := poor.Rows[k].State.V.Sub(x.V), segments[0].Smoothed[k].V.Sub(x.V)
		measured, found = measured+a.Dot(a), found+b.Dot(b)
	}
	if ratio := math.Sqrt(found / measured); !(ratio < 0.25) {
		t.Errorf("velocities err %.2f times as much as before", ratio)
	}
	if p, a := Noise(segments[:1]); math.Abs(p/0.003-1) > 0.15 || math.Abs(a/0.015-1) > 0.2 {
		t.Errorf("poses err by %.4f m, %.4f rad, it was 0.003 and 0.015", p, a)
	}
	if !Poor(segments[:1]) || Poor(segments[1:2]) || Poor(segments[2:]) || segments[2].Smoothed != nil {
		t.Error("what is poor is not, or what is good is")
	}
	if n, of := Good(segments); !(n < 800 && n > 700 && of == 824) {
		t.Errorf("%.0f of %.0f rows count, expected less than the 800 of those that are long enough", n, of)
	}
}

// TestPoorAttitudesAreFound: velocities that come from elsewhere and are good do not make up for poor attitudes.
func TestPoorAttitudesAreFound(t *testing.T) {
	for _, c := range []struct {
		noise float64 // rad
		poor  bool
	}{{0.002, false}, {0.02, true}} {
		s, truth := hovering(400, 0.0003, 2)
		rng := rand.New(rand.NewPCG(4, 4))
		for k, x := range truth {
			turn := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(c.noise)
			s.Rows[k].State.Q = x.Q.Mul(so3.Exp(turn))
		}
		all := []dataset.Segment{s}
		if err := Fill(t.Context(), 0.02, quadrotor.NominalActuator(), all); err != nil {
			t.Fatal(err)
		}
		if Poor(all) != c.poor {
			t.Errorf("attitudes that err by %g rad are poor: %v", c.noise, !c.poor)
		}
	}
}

// TestMissedRowsCountWhereSmoothed: a row that fills a gap is known in poor state alone, which is smoothed.
func TestMissedRowsCountWhereSmoothed(t *testing.T) {
	poor, _ := hovering(400, 0.003, 1)
	good, _ := hovering(400, 0.0003, 2)
	for k := 3; k < 400; k += 4 {
		poor.Rows[k].Missed, good.Rows[k].Missed = true, true
	}
	for _, c := range []struct {
		s    dataset.Segment
		most float64
	}{{poor, 400}, {good, 300}} {
		all := []dataset.Segment{c.s}
		if err := Fill(t.Context(), 0.02, quadrotor.NominalActuator(), all); err != nil {
			t.Fatal(err)
		}
		if n, of := Good(all); !(n > 0.8*c.most && n <= c.most) || of != 400 {
			t.Errorf("%.0f of %.0f rows count, expected up to %.0f of 400", n, of, c.most)
		}
	}
}

// TestHalfRowsCountHalf: confidence counts in what is good.
func TestHalfRowsCountHalf(t *testing.T) {
	s, _ := hovering(100, 0, 1)
	for k := range s.Rows {
		s.Rows[k].Confidence = 0.5
	}
	if n, of := Good([]dataset.Segment{s}); n != 50 || of != 50 {
		t.Errorf("%g rows of %g count", n, of)
	}
}
