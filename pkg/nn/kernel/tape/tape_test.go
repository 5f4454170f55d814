package tape

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sample has every operation.
func sample() (*Program, Reg) {
	p := New(3)
	a := p.Shift(2, p.Mul(0, 0))
	b := p.Sub(p.Sqrt(a), p.Inv(p.Add(a, p.Mul(1, 1))))
	c := p.Dot(0, 0, 1, b)
	return p, p.Add(p.Mul(c, b), p.Scale(.7, p.Dot(1, b, 2)))
}

func random(n int, r *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func TestBackwardIsTheDerivative(t *testing.T) {
	p, out := sample()
	r := rand.New(rand.NewPCG(1, 2))
	theta, x := random(p.Params(), r), random(p.Registers()*Lanes, r)
	weights := random(Lanes, r)
	loss := func() (sum float64) {
		p.Forward(theta, x)
		for i, w := range weights {
			sum += w * x[int(out)*Lanes+i]
		}
		return sum
	}
	loss()
	dx, dtheta := make([]float64, len(x)), make([]float64, len(theta))
	copy(dx[int(out)*Lanes:], weights)
	p.Backward(theta, x, dx, dtheta)
	const h = 1e-6
	check := func(name string, at *float64, got float64) {
		old := *at
		*at = old + h
		up := loss()
		*at = old - h
		want := (up - loss()) / (2 * h)
		*at = old
		if math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%s: %g, finite difference %g", name, got, want)
		}
	}
	for i := range theta {
		check("parameter", &theta[i], dtheta[i])
	}
	for i := range 3 * Lanes {
		check("input", &x[i], dx[i])
	}
	if slices.ContainsFunc(dx[3*Lanes:], func(d float64) bool { return d != 0 }) {
		t.Error("adjoints of other registers than inputs are left")
	}
}

func TestReferenceGivesTheSameBytes(t *testing.T) {
	p, out := sample()
	r := rand.New(rand.NewPCG(3, 4))
	theta, x := random(p.Params(), r), random(p.Registers()*Lanes, r)
	y := slices.Clone(x)
	p.Forward(theta, x)
	forwardGo(p.code, p.args, theta, y)
	dx, dtheta := make([]float64, len(x)), make([]float64, len(theta))
	copy(dx[int(out)*Lanes:], random(Lanes, r))
	dy, dtheta2 := slices.Clone(dx), slices.Clone(dtheta)
	p.Backward(theta, x, dx, dtheta)
	backwardGo(p.code, p.args, theta, x, dy, dtheta2)
	for i := range x {
		if x[i] != y[i] || dx[i] != dy[i] {
			t.Fatalf("register %d: %g and %g, adjoints %g and %g", i/Lanes, x[i], y[i], dx[i], dy[i])
		}
	}
	if !slices.Equal(dtheta, dtheta2) {
		t.Errorf("gradients %v and %v", dtheta, dtheta2)
	}
}

func BenchmarkDot(b *testing.B) {
	p := New(20)
	var in []Reg
	for i := range 20 {
		in = append(in, Reg(i))
	}
	out := p.Dot(0, in...)
	theta, x := make([]float64, p.Params()), make([]float64, p.Registers()*Lanes)
	dx, dtheta := make([]float64, len(x)), make([]float64, len(theta))
	for b.Loop() {
		p.Forward(theta, x)
		dx[int(out)*Lanes] = 1
		p.Backward(theta, x, dx, dtheta)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20/Lanes, "ns/term")
}
