package arm

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/so3"
)

// Shapes are those of closed paths around where the tool is at Home.
var Shapes = []string{"circle", "eight", "lissajous"}

// Reference is a closed path of the tool, whose axes stay those of Home, with joints that follow it: a row each Δt.
type Reference struct {
	Turn so3.Mat3 // R_WT
	Rows []Target
}

// Target is a row of a reference.
type Target struct {
	Tool so3.Vec3 // p_W, m
	Q, V [Joints]float64
	A    [Joints]float64 // mean until the next row, rad/s²
}

// at is the row a number of steps after the first.
func (r *Reference) at(h int) *Target { return &r.Rows[h%len(r.Rows)] }

// point is a shape's in m from the middle, at a phase in rad. The first two shapes are upright and stand across.
func point(shape string, phase float64) so3.Vec3 {
	wave := func(size, times float64) float64 { return size * math.Sin(times*phase) }
	switch shape {
	case "circle":
		return so3.Vec3{Y: wave(0.12, 1), Z: 0.12 * math.Cos(phase)}
	case "eight":
		return so3.Vec3{Y: wave(0.18, 1), Z: wave(0.09, 2)}
	}
	return so3.Vec3{X: wave(0.06, 1), Y: wave(0.15, 2), Z: wave(0.12, 3)}
}

// NewReference follows a shape at a mean speed, m/s, in rows of dt seconds. A round has a whole number of rows.
func NewReference(shape string, speed, dt float64) (*Reference, error) {
	const slowest, fastest = 0.02, 1.0 // the slower, the more rows
	if !slices.Contains(Shapes, shape) {
		return nil, fmt.Errorf("reference %q, expected one of %q", shape, Shapes)
	}
	if !(speed >= slowest && speed <= fastest) {
		return nil, fmt.Errorf("speed is %g, expected %g to %g m/s", speed, slowest, fastest)
	}
	const chords = 2000
	var length float64
	for i := range chords {
		a, b := point(shape, 2*math.Pi*float64(i)/chords), point(shape, 2*math.Pi*float64(i+1)/chords)
		length += b.Sub(a).Norm()
	}
	c, q := Panda(), Home
	p := c.NewPose()
	c.Place(q[:], &p)
	middle, turn := p.Tool, p.Turn
	r := &Reference{Turn: turn, Rows: make([]Target, int(math.Round(length/speed/dt)))}
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Tool = middle.Add(point(shape, 2*math.Pi*float64(i)/float64(len(r.Rows))))
		if err := c.Reach(row.Tool, turn, Home[:], q[:]); err != nil {
			return nil, fmt.Errorf("reference %q: %w", shape, err)
		}
		row.Q = q
	}
	r.differentiate(dt)
	return r, nil
}

// differentiate fills rates and accelerations by differences of the fourth order.
func (r *Reference) differentiate(dt float64) {
	n := len(r.Rows)
	for i := range r.Rows {
		a, b, c, d := r.at(i+n-2), r.at(i+n-1), r.at(i+1), r.at(i+2)
		for j := range Joints {
			r.Rows[i].V[j] = (8*(c.Q[j]-b.Q[j]) - (d.Q[j] - a.Q[j])) / (12 * dt)
		}
	}
	for i := range r.Rows {
		for j := range Joints {
			r.Rows[i].A[j] = (r.at(i + 1).V[j] - r.Rows[i].V[j]) / dt
		}
	}
}
