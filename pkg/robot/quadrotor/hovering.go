package quadrotor

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
)

// Hovering returns the state of a robot that has hovered at the origin for long: its actuator part is settled.
func Hovering[F kernel.Float](sys System[F]) []F {
	const rows = 100
	d := sys.Dims()
	s, m, a := make([]F, d.State), make([]F, (rows+1)*d.Measured), make([]F, rows*d.Action)
	for i := range rows + 1 {
		Measured(&quad.State{Q: so3.Identity()}, m[i*d.Measured:])
		if i < rows {
			Action(&quad.Command{Thrust: quad.Gravity}, a[i*d.Action:])
		}
	}
	sys.Window(rows, m, a, s, nil, nil, nil)
	return s
}
