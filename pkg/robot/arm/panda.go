package arm

import (
	"math"

	"vnd/pkg/core/so3"
)

// Joints is how many joints a Panda has.
const Joints = 7

// joint is a row of panda: its frame by the parameters of Denavit and Hartenberg in Craig's form, its limits, and its
// link's body.
type joint struct {
	a, d, alpha             float64 // m, m, quarter turns
	min, max, speed, torque float64 // rad, rad, rad/s, N·m
	mass, x, y, z           float64 // kg, m
	xx, yy, zz, xy, xz, yz  float64 // kg·m², about the centre of mass
}

// panda is Franka Emika's Panda. Frames and limits: Franka Control Interface, "Robot and interface specifications".
// Bodies: those of franka_description, as identified by C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca,
// "Dynamic Identification of the Franka Emika Panda Robot", RA-L 2019.
var panda = [Joints]joint{
	{0, 0.333, 0, -2.8973, 2.8973, 2.175, 87, 4.970684, 0.003875, 0.002081, -0.04762,
		0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169},
	{0, 0, -1, -1.7628, 1.7628, 2.175, 87, 0.646926, -0.003141, -0.02872, 0.003495,
		0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704},
	{0, 0.316, 1, -2.8973, 2.8973, 2.175, 87, 3.228604, 0.027518, 0.039252, -0.066502,
		0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805},
	{0.0825, 0, 1, -3.0718, -0.0698, 2.175, 87, 3.587895, -0.05317, 0.104419, 0.027454,
		0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641},
	{-0.0825, 0.384, -1, -2.8973, 2.8973, 2.61, 12, 1.225946, -0.011953, 0.041065, -0.038437,
		0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229},
	{0, 0, 1, -0.0175, 3.7525, 2.61, 12, 1.666555, 0.060149, -0.014117, -0.010517,
		0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341},
	{0.088, 0, 1, -2.8973, 2.8973, 2.61, 12, 0.735522, 0.010517, -0.004252, 0.061597,
		0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741},
}

const (
	flange   = 0.107 // m behind the last joint: Franka Control Interface
	armature = 0.1   // kg·m² of each drive: MuJoCo Menagerie, franka_emika_panda
)

// Home are the angles that a Panda is made ready in, rad: libfranka's examples.
var Home = [Joints]float64{0, -math.Pi / 4, 0, -3 * math.Pi / 4, 0, math.Pi / 2, math.Pi / 4}

// Panda returns the chain of a Panda with its flange as the tool. Its joints have no friction.
func Panda() *Chain {
	c := &Chain{Tool: so3.Vec3{Z: flange}, Compensated: true}
	for _, j := range panda {
		cos, sin := 1-math.Abs(j.alpha), j.alpha
		c.Links = append(c.Links, Link{Turn: so3.Mat3{{1, 0, 0}, {0, cos, -sin}, {0, sin, cos}},
			At: so3.Vec3{X: j.a, Y: -sin * j.d, Z: cos * j.d}, Armature: armature,
			Min: j.min, Max: j.max, Speed: j.speed, Torque: j.torque,
			Body: Body{j.mass, so3.Vec3{X: j.x, Y: j.y, Z: j.z},
				so3.Mat3{{j.xx, j.xy, j.xz}, {j.xy, j.yy, j.yz}, {j.xz, j.yz, j.zz}}}})
	}
	return c
}
