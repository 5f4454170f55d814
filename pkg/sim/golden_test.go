package sim

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"vnd/pkg/core/so3"
)

// golden is one flight of testdata/golden.py.
type golden struct {
	Name         string
	Inertia      []float64
	RotorDrag    []float64 `json:"rotor_drag"`
	BodyDrag     []float64 `json:"body_drag"`
	Wind, Air    [3]float64
	Payload      float64
	PayloadAt    [3]float64 `json:"payload_at"`
	CutRotor     int        `json:"cut_rotor"`
	CutThrust    float64    `json:"cut_thrust"`
	CutTorque    float64    `json:"cut_torque"`
	V, W, Turned [3]float64
	Speed        [4]float64
	Target       [4]float64
	Rows         []struct {
		T       float64
		P, V, W [3]float64
		Q       [4]float64
		Speed   [4]float64
	}
}

func vec(x [3]float64) so3.Vec3 { return so3.Vec3{X: x[0], Y: x[1], Z: x[2]} }

// motionOf returns the flight's start, out of reach of the ground and of the autopilot.
func (g *golden) motionOf(t *testing.T) *motion {
	w := ideal()
	w.Airframe.Inertia = g.Inertia
	w.Drag.Rotor, w.Drag.Body = g.RotorDrag, g.BodyDrag
	m := mustNew(t, w).motion
	m.mass = loaded(&w.Airframe, payload{mass: g.Payload, at: vec(g.PayloadAt)})
	m.rotors.cut = cut{rotor: g.CutRotor, thrust: g.CutThrust, torque: g.CutTorque}
	m.wind, m.air, m.target = vec(g.Wind), vec(g.Air), g.Target
	m.body = body{q: so3.Exp(vec(g.Turned)), v: vec(g.V), w: vec(g.W), rotor: g.Speed}
	return &m
}

// gaps returns how far m is from a row in p, v, ω, q and Ω.
func (g *golden) gaps(m *motion, row int) []float64 {
	r := &g.Rows[row]
	q := so3.Quat{W: r.Q[0], X: r.Q[1], Y: r.Q[2], Z: r.Q[3]}
	speed := 0.
	for i := range r.Speed {
		speed = math.Max(speed, math.Abs(m.body.rotor[i]-r.Speed[i]))
	}
	return []float64{
		m.body.p.Sub(vec(r.P)).Norm(), m.body.v.Sub(vec(r.V)).Norm(), m.body.w.Sub(vec(r.W)).Norm(),
		so3.Log(q.Conj().Mul(m.body.q)).Norm(), speed,
	}
}

func goldenFlights(t *testing.T) (flights []golden) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &flights); err != nil {
		t.Fatal(err)
	}
	if len(flights) != 5 {
		t.Fatalf("%d flights, expected 5", len(flights))
	}
	return flights
}

// TestGolden flies against scipy's DOP853 on independently derived equations. The bounds are the error of RK4 at 1 ms
// where two rotors make a gyroscope that nutates at 37 rad/s; the other flights stay below 1e-9.
func TestGolden(t *testing.T) {
	for _, g := range goldenFlights(t) {
		m := g.motionOf(t)
		tick := 0
		for i, row := range g.Rows {
			for ; float64(tick)*.001 < row.T-1e-6; tick++ {
				m.step(.001)
			}
			for j, gap := range g.gaps(m, i) {
				if most := []float64{1e-6, 2e-6, 2e-6, 1e-7, 1e-8}[j]; !(gap <= most) {
					t.Errorf("%s at %v s: off by %.1e in %s", g.Name, row.T, gap, []string{"p", "v", "ω", "q", "Ω"}[j])
				}
			}
		}
	}
}

// TestOrder halves the step: of a method of order 4 a sixteenth of the error is left.
func TestOrder(t *testing.T) {
	g := goldenFlights(t)[2]
	var gap [2][]float64
	for i, h := range []float64{.001, .0005} {
		m := g.motionOf(t)
		for range int(math.Round(g.Rows[2].T / h)) {
			m.step(h)
		}
		gap[i] = g.gaps(m, 2)
	}
	for j, name := range []string{"p", "v", "ω", "q"} {
		if ratio := gap[0][j] / gap[1][j]; ratio < 12 || ratio > 24 {
			t.Errorf("error in %s falls by %.1f with half the step, expected about 16", name, ratio)
		}
	}
}
