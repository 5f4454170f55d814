package arm

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
)

// tracking is the task of these tests, along a reference.
func tracking(t *testing.T) *Track[float64] {
	t.Helper()
	r, err := NewReference("lissajous", 0.5, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	return &Track[float64]{Cost: PaperCost, References: []*Reference{r}, Spread: 0.05, Actions: 2,
		Bounds: robot.Bounds{Radius: 1, Collision: 1}}
}

// TestReferencesAreFollowedByTheirJoints: angles have the tool on the shape, and rates and accelerations are theirs.
func TestReferencesAreFollowedByTheirJoints(t *testing.T) {
	const dt = 0.02
	c := Panda()
	for _, shape := range Shapes {
		for _, speed := range []float64{0.25, 0.5} {
			r, err := NewReference(shape, speed, dt)
			if err != nil {
				t.Fatal(err)
			}
			var length float64
			for i := range r.Rows {
				length += r.at(i + 1).Tool.Sub(r.at(i).Tool).Norm()
				if off, left := strays(c, r, i, dt); !(off < 1e-8 && left < 2e-4) {
					t.Fatalf("%s, row %d: the tool is off by %g, the next row's angles by %g", shape, i, off, left)
				}
			}
			if got := length / (dt * float64(len(r.Rows))); math.Abs(got/speed-1) > 0.02 {
				t.Errorf("%s at %g m/s, want %g", shape, got, speed)
			}
		}
	}
}

// strays are the error of the tool in row i, m and rad, and of where its rates and accelerations lead to, rad: not a
// number where a rate is beyond its limit.
func strays(c *Chain, r *Reference, i int, dt float64) (off, left float64) {
	p, row := c.NewPose(), r.at(i)
	c.Place(row.Q[:], &p)
	off = p.Tool.Sub(row.Tool).Norm() + so3.Log(so3.FromMat3(r.Turn.Mul(p.Turn.T()))).Norm()
	for j, q := range r.at(i + 1).Q {
		left = max(left, math.Abs(row.Q[j]+dt*row.V[j]+dt*dt/2*row.A[j]-q))
		if math.Abs(row.V[j]) > c.Links[j].Speed {
			left = math.NaN()
		}
	}
	return off, left
}

func TestReferencesAreRefused(t *testing.T) {
	for want, r := range map[string]func() error{
		`reference "square", expected one of`: func() error { _, err := NewReference("square", 0.5, 0.02); return err },
		`speed is -1, expected 0.02 to 1 m/s`: func() error { _, err := NewReference("circle", -1, 0.02); return err },
		`speed is 1.1, expected 0.02 to 1 m`:  func() error { _, err := NewReference("circle", 1.1, 0.02); return err },
		"does not reach": func() error {
			q := Home
			return Panda().Reach(so3.Vec3{X: 2}, so3.Identity().Mat3(), Home[:], q[:])
		},
	} {
		if err := r(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestTaskGradientsMatchCentralDifferences(t *testing.T) {
	const B, H = 3, 1
	rng := rand.New(rand.NewPCG(5, 1))
	k := tracking(t)
	e, width := k.NewEpisodes(0.02, B, H), k.Size()+2
	s0, s, a := make([]float64, B*nS), make([]float64, B*nS), draw(rng, B*nA, 20)
	e.Begin(B, H)
	for b := range B {
		e.Draw(b, rng, s[b*nS:])
	}
	s[1] = Panda().Links[1].Max - 0.02 // within the margin of its limit
	past, dx, scale := draw(rng, 2*B*nA, 1), draw(rng, B*width, 1), []float64{1, 0, 0.5}
	ds, da, dpast := make([]float64, B*nS), make([]float64, B*nA), make([]float64, 2*B*nA)
	tr := robot.Transition[float64]{S0: s0, S1: s, A: a, Last: make([]float64, B*nA)}
	e.CostsVJP(0, &tr, scale, &robot.Transition[float64]{S0: make([]float64, B*nS), S1: ds, A: da,
		Last: make([]float64, B*nA)})
	e.ObserveVJP(0, s, dx, width, ds, dpast)
	x, cost, off := make([]float64, B*width), make([]float64, B), make([]float64, B)
	value := func() (sum float64) {
		e.Costs(0, &tr, cost, off)
		e.Observe(0, s, past, x, width)
		for b := range B {
			sum += scale[b] * cost[b]
			for j := range k.Size() {
				sum += dx[b*width+j] * x[b*width+j]
			}
		}
		return sum
	}
	matchDifferences(t, 1e-6, value, map[string][2][]float64{"s": {s, ds}, "a": {a, da}, "past": {past, dpast}})
}

// TestCostIsThePapers: on the reference there is none, and far off it is the sum of the weights.
func TestCostIsThePapers(t *testing.T) {
	k := tracking(t)
	k.Spread = 0
	e, rng := k.NewEpisodes(0.02, 1, 1), rand.New(rand.NewPCG(6, 1))
	e.Begin(1, 1)
	s, cost, off := make([]float64, nS), make([]float64, 1), make([]float64, 1)
	e.Draw(0, rng, s)
	tr := robot.Transition[float64]{S1: s, A: make([]float64, nA)}
	e.Costs(-1, &tr, cost, off)
	if cost[0] > 1e-12 || off[0] > 1e-12 {
		t.Errorf("on the reference it costs %g, %g m off", cost[0], math.Sqrt(off[0]))
	}
	tr.A[0] = 87
	k.Sharpness = 1e6
	s[3] += 0.5
	e.Costs(-1, &tr, cost, off)
	if want := k.Position + k.Orientation + k.Action; math.Abs(cost[0]-want) > 1e-9 {
		t.Errorf("far off it costs %g, want %g", cost[0], want)
	}
	if e.NonFiniteTerm(0, &tr, 0) != "" {
		t.Error("all terms are finite")
	}
	s[Joints] = math.NaN()
	if e.Costs(0, &tr, cost, off); e.NonFiniteTerm(0, &tr, 0) != "rate" || off[0] == off[0] {
		t.Errorf("a rate that is none: %q, %g", e.NonFiniteTerm(0, &tr, 0), off[0])
	}
}
