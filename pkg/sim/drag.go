package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Drag slows the body against the air: that of the rotors grows with velocity times rotor speed, that of the body with
// velocity squared. At hover the defaults make 0.25/s of linear drag along x and y.
type Drag struct {
	Rotor []float64 `param:"rotor" default:"0.048,0.048,0.03" min:"0" max:"1000" unit:"N s/m" doc:"force over velocity of all four rotors at hover speed, along x, y, z of the body"`
	Body  []float64 `param:"body" default:"0.0025,0.0025,0.006" min:"0" max:"1000" unit:"N s²/m²" doc:"½ρ·C_d·A along x, y, z of the body"`
}

func (d *Drag) check() error {
	if err := length("drag.rotor", len(d.Rotor), 3); err != nil {
		return err
	}
	return length("drag.body", len(d.Body), 3)
}

// drag is that of the body.
type drag struct{ area so3.Vec3 }

func newDrag(w *World) drag {
	b := w.Drag.Body
	return drag{so3.Vec3{X: b[0], Y: b[1], Z: b[2]}}
}

// force returns −c·|u|·u for a velocity u against the air; both in the body, N and m/s.
func (d drag) force(u so3.Vec3) so3.Vec3 {
	n := -math.Sqrt(u.Dot(u))
	return so3.Vec3{X: n * d.area.X * u.X, Y: n * d.area.Y * u.Y, Z: n * d.area.Z * u.Z}
}
