package arm

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
)

// laden is an arm with all that a Robot may know of.
var laden = Robot{Dt: 0.02, Steps: 2, Payload: 2, At: so3.Vec3{X: 0.05, Z: 0.04}, Damping: 0.6, Friction: 0.4}

func draw(rng *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

// matchDifferences holds gradients of a value against central differences, by the numbers that the value is of.
func matchDifferences(t *testing.T, tolerance float64, value func() float64, numbers map[string][2][]float64) {
	t.Helper()
	for name, pair := range numbers {
		for i, keep := range pair[0] {
			const eps = 1e-6
			pair[0][i] = keep + eps
			up := value()
			pair[0][i] = keep - eps
			want := (up - value()) / (2 * eps)
			if pair[0][i] = keep; math.Abs(pair[1][i]-want) > tolerance*(1+math.Abs(want)) {
				t.Errorf("d%s[%d] is %.9g, central difference %.9g", name, i, pair[1][i], want)
			}
		}
	}
}

func TestGradientsMatchCentralDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, r := range []Robot{{Dt: 0.02, Steps: 1}, laden} {
		const B = 2
		m := New[float64](r)
		s, a, d, dnext, dx := draw(rng, B*nS, 0.8), draw(rng, B*nA, 5), draw(rng, B*nS, 0.1), draw(rng, B*nS, 1),
			draw(rng, B*nX, 1)
		ds, da, dd := make([]float64, B*nS), make([]float64, B*nA), make([]float64, B*nS)
		m.StepVJP(B, s, a, d, dnext, ds, da, dd)
		m.InputsVJP(B, s, a, dx, ds, da)
		at, next, e, x := draw(rng, B*nS, 1), make([]float64, B*nS), make([]float64, B*nS), make([]float64, B*nX)
		value := func() (sum float64) {
			m.Step(B, s, a, d, next)
			m.Inputs(B, s, a, x)
			m.Minus(B, next, nS, at, nS, e)
			for i, g := range dnext {
				sum += g * e[i]
			}
			for i, g := range dx {
				sum += g * x[i]
			}
			return sum
		}
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			matchDifferences(t, 1e-7, value, map[string][2][]float64{"s": {s, ds}, "a": {a, da}, "d": {d, dd}})
		})
	}
}

// TestPullIsTheTransposeOfTheJacobian: a turn of the joints moves the tool as its gradient says.
func TestPullIsTheTransposeOfTheJacobian(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	c := Panda()
	p, q, dx, turn := c.NewPose(), draw(rng, Joints, 1), so3.Vec3{X: 1, Y: -2, Z: 0.5}, so3.Vec3{X: 0.3, Y: 1, Z: -1}
	c.Place(q, &p)
	dq, x, r := make([]float64, Joints), p.Tool, p.Turn
	p.Pull(dx, turn, dq)
	for i, keep := range q {
		const eps = 1e-6
		q[i] = keep + eps
		c.Place(q, &p)
		q[i] = keep
		moved := p.Tool.Sub(x).Scale(1 / eps).Dot(dx)
		turned := so3.Log(so3.FromMat3(p.Turn.Mul(r.T()))).Scale(1 / eps).Dot(turn)
		if want := moved + turned; math.Abs(dq[i]-want) > 1e-5 {
			t.Errorf("joint %d: %g, difference %g", i, dq[i], want)
		}
	}
}

// energy is kinetic and potential, J.
func energy(c *Chain, q, v []float64) float64 {
	d, n := NewDynamics(c), len(q)
	m, sum := make([]float64, n*n), 0.
	d.Place(q)
	d.Mass(m)
	for i := range n {
		for j := range n {
			sum += v[i] * m[n*i+j] * v[j] / 2
		}
		sum -= d.weight[i].moment.Dot(gravity)
	}
	return sum
}

// TestEnergyIsKept: an arm without friction that falls and swings has its energy; one with damping loses some.
func TestEnergyIsKept(t *testing.T) {
	for _, damping := range []float64{0, 0.5} {
		r := Robot{Dt: 1, Steps: 8000, Payload: 2, At: so3.Vec3{X: 0.1}, Damping: damping}
		m := New[float64](r)
		m.chain.Compensated = false
		s, a := make([]float64, nS), make([]float64, nA)
		m.Rest(s, a)
		before := energy(m.chain, s[:Joints], s[Joints:])
		m.Step(1, s, a, make([]float64, nS), s)
		q, v := s[:Joints], s[Joints:]
		lost, moving := before-energy(m.chain, q, v), energy(m.chain, q, v)-energy(m.chain, q, make([]float64, Joints))
		if moving < 10 {
			t.Errorf("moves with %g J", moving)
		}
		if damping == 0 && math.Abs(lost) > 2e-3*moving || damping > 0 && lost < 0.1*moving {
			t.Errorf("damping %g: lost %g J, moves with %g J", damping, lost, moving)
		}
	}
}

// TestWeightIsCarried: an arm without torque stays, and one with a payload sinks.
func TestWeightIsCarried(t *testing.T) {
	for _, mass := range []float64{0, 1} {
		m := New[float64](Robot{Dt: 0.1, Steps: 100, Payload: mass})
		s, a := make([]float64, nS), make([]float64, nA)
		m.Rest(s, a)
		p := m.chain.NewPose()
		m.chain.Place(s[:Joints], &p)
		before := p.Tool.Z
		m.Step(1, s, a, make([]float64, nS), s)
		m.chain.Place(s[:Joints], &p)
		if sunk := before - p.Tool.Z; (mass == 0) != (sunk == 0) || sunk < 0 {
			t.Errorf("%g kg: sinks by %g m", mass, sunk)
		}
	}
}

// TestAlgebraOfTheManifold: ⊖ is the inverse of ⊕, and the step of a moved batch is that of each arm.
func TestAlgebraOfTheManifold(t *testing.T) {
	const B = 3
	rng := rand.New(rand.NewPCG(3, 1))
	m := New[float64](laden)
	s, a, d, zero := draw(rng, B*nS, 0.5), draw(rng, B*nA, 5), draw(rng, B*nS, 0.3), make([]float64, B*nS)
	plain, moved, e, alone := make([]float64, B*nS), make([]float64, B*nS), make([]float64, B*nS), make([]float64, nS)
	m.Step(B, s, a, zero, plain)
	m.Step(B, s, a, d, moved)
	m.Minus(B, moved, nS, plain, nS, e)
	for i, x := range e {
		if math.Abs(x-d[i]) > 1e-12 {
			t.Fatalf("(s ⊕ d) ⊖ s differs from d by %g", x-d[i])
		}
	}
	m.Step(1, s[2*nS:], a[2*nA:], zero, alone)
	for j, x := range alone {
		if x != plain[2*nS+j] {
			t.Fatal("an arm of a batch moves otherwise than alone")
		}
	}
	w, back := make([]float64, B*nS), make([]float64, B*nS)
	m.ToWorld(B, s, d, w)
	m.ToBody(B, s, w, back)
	for i := range d {
		if back[i] != d[i] {
			t.Fatal("to the world and back is another tangent")
		}
	}
}

// TestWindowLeavesWhatThePriorMisses: recorded by an arm with a payload, an arm without one leaves residuals of rates.
func TestWindowLeavesWhatThePriorMisses(t *testing.T) {
	const T = 4
	truth, prior := New[float64](laden), New[float64](Robot{Dt: 0.02, Steps: 1})
	rows, actions, zero := make([]float64, (T+1)*nS), draw(rand.New(rand.NewPCG(4, 1)), T*nA, 2), make([]float64, nS)
	truth.Rest(rows, make([]float64, nA))
	for i := range T {
		truth.Step(1, rows[i*nS:], actions[i*nA:], zero, rows[(i+1)*nS:])
	}
	s, states, r, ctx := make([]float64, nS), make([]float64, T*nS), make([]float64, T*nS), make([]float64, T*nC)
	truth.Window(T, rows, actions, s, ctx, states, r)
	for i, x := range r {
		if x != 0 || ctx[i/nS*nC+nX+i%nS] != 0 || states[i] != rows[i] {
			t.Fatalf("number %d of the window of what was recorded: residual %g", i, x)
		}
	}
	prior.Window(T, rows, actions, s, nil, nil, r)
	if missed := slices.Max(r[Joints:nS]); missed < 0.05 {
		t.Errorf("the prior misses %g rad/s", missed)
	}
	for j := range s {
		if s[j] != rows[T*nS+j] {
			t.Fatal("the state at the window's end is another")
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	config, err := json.Marshal(laden.Config())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Reader.Read(laden.Dt, config); err != nil || r != laden {
		t.Errorf("%+v, %v", r, err)
	}
	for text, want := range map[string]string{
		`{"steps": 1, "payload": 3.5}`:         "payload is 3.5, expected 0 to 3",
		`{"steps": 0}`:                         "steps is 0, expected 1 to 100",
		`{"steps": 1, "payload_at": {"X": 2}}`: "distance of the payload is 2, expected 0 to 1",
		`{"steps": 1, "friction": -1}`:         "friction is -1",
		`{"steps": 1, "mass": 1}`:              "mass",
	} {
		if _, err := Reader.Read(0.02, json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	const B = 64
	rng := rand.New(rand.NewPCG(1, 1))
	m := New[float32](Robot{Dt: 0.02, Steps: 1})
	s, a, d, ds := make([]float32, B*nS), make([]float32, B*nA), make([]float32, B*nS), make([]float32, B*nS)
	for i := range s {
		s[i] = float32(rng.NormFloat64())
	}
	b.Run("forward", func(b *testing.B) {
		for b.Loop() {
			m.Step(B, s, a, d, ds)
		}
	})
	b.Run("back", func(b *testing.B) {
		for b.Loop() {
			m.StepVJP(B, s, a, d, s, ds, a, d)
		}
	})
}
