package quadrotor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// swayed are rows of a robot that follows its commands late. It sways at a frequency, Hz, and about each axis at its
// own besides; a constant part of the commands holds it against a torque.
func swayed(n int, dt, hz, late, noise float64, signs so3.Vec3) []quad.Row {
	rng, rows := rand.New(rand.NewPCG(1, 2)), make([]quad.Row, n)
	rates := func(t float64) so3.Vec3 {
		return so3.Vec3{X: math.Sin(2*math.Pi*hz*t) + 0.1*math.Sin(3*t), Y: 0.5 * math.Cos(2.3*t), Z: 0.2 * math.Sin(t)}
	}
	q := so3.Identity()
	for k := range rows {
		t := float64(k) * dt
		c := rates(t)
		off := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(noise)
		rows[k] = quad.Row{T: t, State: quad.State{Q: q.Mul(so3.Exp(off))}, Command: quad.Command{Thrust: quad.Gravity,
			Rates: so3.Vec3{X: signs.X*c.X + 0.4, Y: signs.Y * c.Y, Z: signs.Z * c.Z}}}
		q = q.Mul(so3.Exp(rates(t - late).Scale(dt))).Normalize()
	}
	return rows
}

// cut are rows in segments of n.
func cut(rows []quad.Row, n int) [][]quad.Row { return slices.Collect(slices.Chunk(rows, n)) }

// TestReversed: an axis whose commands have the wrong sign is found among good segments, and none where they are right,
// whatever the robot sways like and however late and noisy it is.
func TestReversed(t *testing.T) {
	const dt = 0.02
	good := swayed(600, dt, 1, 0.05, 0.002, so3.Vec3{X: 1, Y: 1, Z: 1})
	for axis, signs := range []so3.Vec3{{X: -1, Y: 1, Z: 1}, {X: 1, Y: -1, Z: 1}, {X: 1, Y: 1, Z: -1}} {
		got, c, found := Reversed(dt, [][]quad.Row{good, swayed(600, dt, 1, 0.05, 0.002, signs), good})
		if !found || got != axis || c > -0.8 {
			t.Errorf("signs %v: found %v, axis %d, correlation %.2f", signs, found, got, c)
		}
	}
	for _, hz := range []float64{0.5, 1, 2, 3, 4.5, 5, 8} {
		for _, late := range []float64{0, 0.05, 0.1, 0.15} {
			rows := swayed(600, dt, hz, late, 0.01, so3.Vec3{X: 1, Y: 1, Z: 1})
			if axis, c, found := Reversed(dt, [][]quad.Row{rows}); found {
				t.Errorf("%g Hz, %g s late: %s, correlation %.2f", hz, late, Axes[axis], c)
			}
		}
	}
	reversed := swayed(600, dt, 1, 0.05, 0.002, so3.Vec3{X: -1, Y: 1, Z: 1})
	if _, _, found := Reversed(dt, [][]quad.Row{reversed[:400], nil, {}}); found {
		t.Error("eight seconds were enough to say")
	}
	if axis, _, found := Reversed(dt, cut(reversed, 100)); !found || axis != 0 {
		t.Error("twelve seconds in segments of 2 s were not enough to say")
	}
	if axis, c, found := Reversed(dt, cut(good, 100)); found {
		t.Errorf("short segments: %s, correlation %.2f", Axes[axis], c)
	}
	if _, _, found := Reversed(dt, [][]quad.Row{good[:400], reversed}); !found {
		t.Error("a short segment hides what a long one shows")
	}
	few := [][]quad.Row{reversed}
	for range 10 {
		few = append(few, good)
	}
	if _, _, found := Reversed(dt, few); found {
		t.Error("one segment of eleven was enough to refuse all")
	}
	spun := swayed(600, dt, 1, 0.05, 0.002, so3.Vec3{X: 1, Y: 1, Z: 1})
	for k := range spun {
		spun[k].State.Q = so3.Exp(so3.Vec3{Z: 12 * spun[k].T}).Mul(spun[k].State.Q)
		spun[k].Command.Rates = so3.Vec3{X: math.Sin(2 * spun[k].T), Y: math.Cos(3 * spun[k].T)}
	}
	if axis, c, found := Reversed(dt, [][]quad.Row{spun}); found {
		t.Errorf("a spin that nobody commands: %s, correlation %.2f", Axes[axis], c)
	}
}
