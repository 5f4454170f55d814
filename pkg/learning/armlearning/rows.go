package armlearning

import (
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/arm"
)

// Rows is how an arm's rows lie in segment files: time, angles, rates and torques. They are described by torques, N·m,
// that an arm without a payload does not explain.
var Rows = dataset.Numbers(2, func(rows []arm.Row, dt float64) (all []float32, D int) {
	for _, mean := range arm.Unexplained(rows, dt, unexplained) {
		for _, x := range mean {
			all = append(all, float32(x))
		}
	}
	return all, arm.Joints
})

// unexplained are the rows over which torques are averaged that tell what an arm carries.
const unexplained = 20

// PlaceRows are as many as tell a Place.
const PlaceRows = 51

// Place is where in the space of conditions an arm did rows: its payload, kg, friction, N·m, and damping, N·m·s/rad.
func Place(rows []arm.Row) (*gate.Place, error) {
	r, err := arm.Identify(rows, Dt)
	return &gate.Place{r.Payload, r.Friction, r.Damping}, err
}
