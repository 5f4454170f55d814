package quadrotor

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// only returns costs that have one term each, by their parameters' names, and
// one that has all.
func only() map[string]Cost {
	out, all := map[string]Cost{}, Cost{Delta: 1}
	for i, k := range all.weights() {
		c := Cost{Delta: 1}
		*c.weights()[i].w, *k.w = 0.7, 0.3
		out[k.name] = c
	}
	out["all"] = all
	return out
}

// TestCostGradient proves each term's gradient by central differences, on both
// branches of the Huber penalty.
func TestCostGradient(t *testing.T) {
	for name, c := range only() {
		rng := rand.New(rand.NewPCG(1, 1))
		for trial := range 40 {
			size := []float64{0.1, 1, 5}[trial%3]
			normal := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = size * rng.NormFloat64()
				}
				return x
			}
			tr := Transition[float64]{B: 1, S: 12, S0: normal(12), S1: normal(12), A: normal(4), Last: normal(4),
				Ref: normal(RowSize), Dt: 0.02}
			g := Gradient[float64]{make([]float64, 12), make([]float64, 12), make([]float64, 4), make([]float64, 4)}
			const scale = 1.3
			weights := make([]float64, WeightsSize)
			PutWeights(&c, weights)
			CostsVJP(&tr, weights, []float64{scale}, &g)
			cost, off := make([]float64, 1), make([]float64, 1)
			check := func(of string, x, dx []float64) {
				const eps = 1e-6
				for i, keep := range x {
					x[i] = keep + eps
					Costs(&tr, weights, cost, off)
					up := cost[0]
					x[i] = keep - eps
					Costs(&tr, weights, cost, off)
					x[i] = keep
					if want := scale * (up - cost[0]) / (2 * eps); math.Abs(dx[i]-want) > 1e-6*(1+math.Abs(want)) {
						t.Fatalf("%s: d/d%s[%d] is %g, central difference %g", name, of, i, dx[i], want)
					}
				}
			}
			check("s0", tr.S0, g.S0)
			check("s1", tr.S1, g.S1)
			check("a", tr.A, g.A)
			check("last", tr.Last, g.Last)
		}
	}
}

// TestCostByHand holds each term against the paper's formula at a state whose
// errors are known.
func TestCostByHand(t *testing.T) {
	row := make([]float64, RowSize)
	ref, every := quad.Reference{P: so3.Vec3{X: 1, Y: 2, Z: 3}, V: so3.Vec3{Y: 1}, A: so3.Vec3{X: 0.5},
		Yaw: math.Pi / 2}, only()["all"]
	PutRow(&every, &ref, row)
	q := FlatAttitude(&ref).Mul(so3.Exp(so3.Vec3{Z: 0.1}))
	tr := Transition[float64]{B: 1, S: 10, Dt: 0.1, Ref: row,
		S0: []float64{0, 0, 0, 1, 0, 0, 0, 0, 0.9, 0},
		S1: []float64{1.3, 2, 3.4, q.W, q.X, q.Y, q.Z, 0.3, 1, 0.4},
		A:  []float64{2 * quad.Gravity, 0, 3, 4}, Last: []float64{quad.Gravity, 0, 3, 2}}
	upright := FlatAttitude(&ref)
	x := upright.Mul(so3.Exp(so3.Vec3{Z: 0.1})).Rotate(so3.Vec3{X: 1})
	chord := 2 * math.Sin(0.05)
	for name, want := range map[string]float64{
		"position":       0.7 * 0.5 * 0.25,
		"height":         0.7 * 0.5 * 0.16,
		"velocity":       0.7 * 0.5 * 0.25,
		"rates":          0.7 * (5 - 0.5),
		"acceleration":   0.7 * (math.Sqrt(2.5*2.5+1+16) - 0.5),
		"attitude":       0.7 * 0.5 * chord * chord,
		"heading":        0.7 * 0.5 * (x.X*x.X + (x.Y-1)*(x.Y-1)),
		"action":         0.7 * 0.5,
		"command_change": 0.7 * (math.Sqrt(5) - 0.5),
	} {
		c, cost, off, weights := only()[name], make([]float64, 1), make([]float64, 1), make([]float64, WeightsSize)
		PutWeights(&c, weights)
		if Costs(&tr, weights, cost, off); math.Abs(off[0]-0.25) > 1e-12 {
			t.Errorf("squared distance %g, by hand 0.25", off[0])
		}
		if math.Abs(cost[0]-want) > 1e-9 {
			t.Errorf("%s costs %.9g, by hand %.9g", name, cost[0], want)
		}
	}
}

// TestAttitude: thrust along z_B of the reference's attitude makes the
// reference's acceleration, and x_B is above the heading.
func TestAttitude(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 1000 {
		r := quad.Reference{A: so3.Vec3{X: 5 * rng.NormFloat64(), Y: 5 * rng.NormFloat64(), Z: 5 * rng.NormFloat64()},
			Yaw: 4 * rng.NormFloat64()}
		q, need := FlatAttitude(&r), r.A.Add(so3.Vec3{Z: quad.Gravity})
		if d := q.ZAxis().Scale(need.Norm()).Sub(need).Norm(); d > 1e-9 || math.Abs(q.Norm()-1) > 1e-9 {
			t.Fatalf("%+v: off by %g", r, d)
		}
		x := q.Rotate(so3.Vec3{X: 1})
		if lateral := -math.Sin(r.Yaw)*x.X + math.Cos(r.Yaw)*x.Y; need.Z > 0 &&
			math.Abs(math.Hypot(x.X, x.Y)*lateral) > 1 {
			t.Fatalf("%+v: x_B is %v", r, x)
		}
	}
	for _, r := range []quad.Reference{{A: so3.Vec3{Z: -quad.Gravity}}, {A: so3.Vec3{X: 1, Z: -quad.Gravity}}} {
		if q := FlatAttitude(&r); math.Abs(q.Norm()-1) > 1e-9 {
			t.Errorf("%+v has the attitude %v", r, q)
		}
	}
}

func TestCostChecksItsWeights(t *testing.T) {
	var c Cost
	if err := param.Check(&c); err != nil {
		t.Error(err)
	}
	param.Default(&c)
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	c.Action = math.NaN()
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "action") {
		t.Errorf("a weight that is not a number: %v", err)
	}
}

func TestNonFiniteTermIsNamed(t *testing.T) {
	c := only()["all"]
	tr := Transition[float64]{B: 1, S: 10, S0: make([]float64, 10), S1: make([]float64, 10), A: make([]float64, 4),
		Last: make([]float64, 4),
		Ref:  make([]float64, RowSize), Dt: 0.02}
	if b := NonFiniteTerm(&c, &tr, 0); b != "" {
		t.Errorf("%s is said not to be finite", b)
	}
	tr.Last[2] = math.Inf(1)
	if b := NonFiniteTerm(&c, &tr, 0); b != "command_change" {
		t.Errorf("%q is named for a command that is not finite", b)
	}
}

// TestSharperCostHasTheGradientOfLargeErrors holds a cost against its sharper one: alike beyond δ, steeper near 0.
func TestSharperCostHasTheGradientOfLargeErrors(t *testing.T) {
	const by = 10
	c := Cost{Position: 20, Collision: 3, Delta: 0.1}
	slope := func(c Cost, off float64) float64 {
		row, weights := make([]float64, RowSize), make([]float64, WeightsSize)
		PutRow(&c, &quad.Reference{}, row)
		PutWeights(&c, weights)
		at := []float64{off, 0, 0, 1, 0, 0, 0, 0, 0, 0}
		a := make([]float64, 4)
		tr := Transition[float64]{B: 1, S: 10, S0: at, S1: at, A: a, Last: a, Ref: row, Dt: 0.02}
		g := Gradient[float64]{make([]float64, 10), make([]float64, 10), make([]float64, 4), make([]float64, 4)}
		CostsVJP(&tr, weights, []float64{1}, &g)
		return g.S1[0]
	}
	sharp := c.Sharper(by)
	if sharp.Collision != c.Collision {
		t.Errorf("a collision costs %g, before %g", sharp.Collision, c.Collision)
	}
	for off, ratio := range map[float64]float64{0.5: 1, 0.2: 1, 0.005: by} {
		if got := slope(sharp, off) / slope(c, off); math.Abs(got-ratio) > 1e-9 {
			t.Errorf("%g m off: gradient %g times that of before, want %g", off, got, ratio)
		}
	}
}

// TestFlatAttitudeUpright: where thrust is upright the attitude is that of one that is almost so.
func TestFlatAttitudeUpright(t *testing.T) {
	for _, a := range []float64{-9, 0, 3} {
		for yaw := -7.; yaw < 7; yaw += 0.05 {
			r := quad.Reference{A: so3.Vec3{Z: a}, Yaw: yaw}
			upright := FlatAttitude(&r)
			r.A.X = 1e-14
			near := FlatAttitude(&r)
			off := math.Abs(upright.W-near.W) + math.Abs(upright.Z-near.Z) + math.Abs(near.X) + math.Abs(near.Y)
			if off > 1e-12 {
				t.Fatalf("yaw %.2f, %g m/s²: %v, almost upright %v", yaw, a, upright, near)
			}
		}
	}
}
