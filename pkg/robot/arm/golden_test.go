package arm

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"vnd/pkg/core/so3"
)

// golden is a case of testdata/golden.json, which MuJoCo made.
type golden struct {
	Payload                 bool
	Damping                 float64
	Q, V, Tau, Acceleration []float64
	Slope                   [][]float64 // [n][3n] of accelerations by angles, rates and torques
	Mass                    [][]float64
	Tool                    [3]float64
	Turn                    so3.Mat3
	Jacobian                [6][]float64
}

// chain is what MuJoCo had: its payload, and nothing that carries the links.
func (g *golden) chain() *Chain {
	c := Panda()
	c.Compensated = false
	for i := range c.Links {
		c.Links[i].Damping = g.Damping
	}
	if g.Payload {
		c.Payload = Body{1.7, so3.Vec3{X: 0.03, Y: -0.02, Z: 0.157},
			so3.Mat3{{0.003, 0.0002, -0.0003}, {0.0002, 0.002, 0.0004}, {-0.0003, 0.0004, 0.004}}}
	}
	return c
}

func readGolden(t *testing.T) []golden {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []golden }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) == 0 {
		t.Fatal("no cases")
	}
	return all.Cases
}

// near compares numbers with MuJoCo's, relative to the largest of those.
func near(t *testing.T, what string, got, want []float64, most float64) {
	t.Helper()
	size := 1.
	for _, x := range want {
		size = max(size, math.Abs(x))
	}
	for i, x := range got {
		if !(math.Abs(x-want[i]) <= most*size) {
			t.Errorf("%s[%d] is %.12g, MuJoCo has %.12g", what, i, x, want[i])
		}
	}
}

func TestDynamicsAreThoseOfMuJoCo(t *testing.T) {
	for _, g := range readGolden(t) {
		d, n := NewDynamics(g.chain()), len(g.Q)
		a, mass := make([]float64, n), make([]float64, n*n)
		d.Place(g.Q)
		d.Mass(mass)
		near(t, "mass", mass, slices.Concat(g.Mass...), 1e-9)
		d.Accelerate(g.V, g.Tau, a)
		near(t, "acceleration", a, g.Acceleration, 1e-9)
		tau := make([]float64, n)
		d.Torques(g.V, a, tau)
		near(t, "torque", tau, g.Tau, 1e-9)
		for i, row := range g.Slope {
			lambda, dq, dv := make([]float64, n), make([]float64, n), make([]float64, n)
			lambda[i] = 1
			d.Solve(lambda)
			near(t, "slope by torques", lambda, row[2*n:], 1e-7)
			for j := range lambda {
				lambda[j] *= -1
			}
			d.TorquesVJP(g.V, a, lambda, dq, dv)
			near(t, "slope by angles", dq, row[:n], 1e-7)
			near(t, "slope by rates", dv, row[n:2*n], 1e-7)
		}
	}
}

func TestToolIsWhereMuJoCoHasIt(t *testing.T) {
	for _, g := range readGolden(t) {
		c := g.chain()
		p := c.NewPose()
		c.Place(g.Q, &p)
		near(t, "tool", []float64{p.Tool.X, p.Tool.Y, p.Tool.Z}, g.Tool[:], 1e-12)
		for i := range p.Turn {
			near(t, "turn", p.Turn[i][:], g.Turn[i][:], 1e-12)
		}
		for i := range g.Q {
			lin, ang := p.Jacobian(i)
			for k, x := range []float64{lin.X, lin.Y, lin.Z, ang.X, ang.Y, ang.Z} {
				near(t, "Jacobian", []float64{x}, g.Jacobian[k][i:i+1], 1e-12)
			}
		}
	}
}
