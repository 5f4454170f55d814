package nmpc

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func model() Model {
	return Model{H: 0.05, ThrustGain: 0.97, RateGain: 1.01, ThrustLag: 0.03, RateLag: 0.04, YawLag: 0.05, Drag: 0.3,
		Push: so3.Vec3{X: 0.5, Y: -1, Z: 0.2}}
}

func anyState(rng *rand.Rand, size float64) (s State) {
	n := func() so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(size)
	}
	s.P, s.V, s.Q, s.Rates = n(), n(), so3.Exp(n()), n()
	s.Thrust = quad.Gravity + size*rng.NormFloat64()
	return s
}

// differences are the derivatives of a step by central differences: of states, then of commands.
func (m *Model) differences(s *State, u *vecU) (d [nX][nX + nU]float64) {
	const eps = 1e-5
	c := command(u)
	next := m.Step(s, &c)
	moved := func(j int, by float64) vecX {
		at, given := *s, *u
		if j < nX {
			var x vecX
			x[j] = by
			at = s.plus(&x)
		} else {
			given[j-nX] += by
		}
		c := command(&given)
		after := m.Step(&at, &c)
		return after.minus(&next)
	}
	for j := range nX + nU {
		hi, lo := moved(j, eps), moved(j, -eps)
		for i := range nX {
			d[i][j] = (hi[i] - lo[i]) / (2 * eps)
		}
	}
	return d
}

// The derivatives of the model are those of central differences.
func TestDerivativesAreThoseOfDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 40 {
		m := model()
		if k%2 == 1 {
			m = Model{H: 0.05, ThrustGain: 1, RateGain: 1} // without lags
		}
		s := anyState(rng, 1)
		u := vecU{quad.Gravity + rng.NormFloat64(), rng.NormFloat64(), 3 * rng.NormFloat64(), rng.NormFloat64()}
		c := command(&u)
		_, way := m.step(&s, &c)
		var a matX
		var b matB
		m.derivatives(&way, &a, &b)
		for i, row := range m.differences(&s, &u) {
			for j, want := range row {
				if got := append(a[i][:], b[i][:]...)[j]; math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("∂%d/∂%d is %.8f, by differences %.8f", i, j, got, want)
				}
			}
		}
	}
}

func solver(n int) *Solver {
	var l quad.Limits
	param.Default(&l)
	s := NewSolver(model(), Weights{Position: 10, Velocity: 1, Tilt: 0.5, Heading: 1, Rates: 0.01, Thrust: 0.01,
		Turn: 0.05}, l, n)
	for i := range s.Goals() {
		s.Goals()[i] = Goal{State{quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}, quad.Gravity, so3.Vec3{}},
			quad.Command{Thrust: quad.Gravity}}
	}
	return s
}

// total is the cost of a plan from a state.
func (s *Solver) total(now *State, plan []vecU) float64 {
	t := &trial{make([]State, len(plan)+1), append([]vecU(nil), plan...)}
	return s.rollout(now, t)
}

// cheaper reports by how much a plan gets cheaper at most where one command moves a little within its bounds, and how
// many commands are at one.
func (s *Solver) cheaper(now *State) (by float64, bound int) {
	least := s.total(now, s.plan)
	for i := range s.plan {
		lo, hi := s.bounds(&s.plan[i])
		for j := range nU {
			if lo[j] > -1e-9 || hi[j] < 1e-9 {
				bound++
			}
			for _, move := range []float64{-0.01, 0.01} {
				plan := append([]vecU(nil), s.plan...)
				plan[i][j] += min(max(move, lo[j]), hi[j])
				by = max(by, 1-s.total(now, plan)/least)
			}
		}
	}
	return by, bound
}

// What the steps lead to has no cheaper neighbour, also where bounds hold commands.
func TestPlanIsAMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	bound := 0
	for range 10 {
		s, now := solver(20), anyState(rng, 0.7)
		s.Solve(&now, 0)
		for range 60 { // the first steps may be short
			promised, ok := s.backward()
			if !ok || promised < 1e-12 {
				break
			}
			if _, ok := s.forward(s.total(&now, s.plan)); !ok {
				break
			}
		}
		by, n := s.cheaper(&now)
		if bound += n; by > 1e-4 {
			t.Errorf("a neighbour is cheaper by %.2g of the cost", by)
		}
	}
	if bound == 0 {
		t.Error("no plan was at a bound")
	}
}

// From tick to tick one step each leads back to the goal, and keeps the limits.
func TestRealTimeIterationsComeBack(t *testing.T) {
	s := solver(20)
	s.Model.Push = so3.Vec3{}
	rng := rand.New(rand.NewPCG(3, 3))
	now := anyState(rng, 0.4)
	now.P.Z += 1
	plant := s.Model
	plant.H = 0.02
	for range 250 {
		c := s.Solve(&now, plant.H)
		if c != s.Limits.Clip(c) {
			t.Fatalf("%+v is beyond the limits", c)
		}
		now = plant.Step(&now, &c)
	}
	if off := now.P.Sub(so3.Vec3{Z: 1}).Norm(); off > 0.05 {
		t.Errorf("%.3f m off after 5 s", off)
	}
	if s.Counts.Ticks != 250 || s.Counts.Unsolved > 12 {
		t.Errorf("%+v", s.Counts)
	}
}

// A state that is no number is counted, and its command is finite.
func TestUnsolvedIsCounted(t *testing.T) {
	s := solver(5)
	now := State{State: quad.State{P: so3.Vec3{X: math.NaN()}, Q: so3.Identity()}}
	if c := s.Solve(&now, 0); s.Counts.Unsolved != 1 || !c.Finite() {
		t.Errorf("%+v, command %+v", s.Counts, c)
	}
}

func BenchmarkSolve(b *testing.B) {
	s := solver(20)
	rng := rand.New(rand.NewPCG(3, 3))
	now := anyState(rng, 0.4)
	for b.Loop() {
		now.P.X = 0.1 * rng.NormFloat64()
		s.Solve(&now, 0.02)
	}
}
