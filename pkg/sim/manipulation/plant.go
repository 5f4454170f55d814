package manipulation

import (
	"math"

	"vnd/pkg/robot/arm"
)

// Plant is an arm that goes on step by step: the truth, with end stops at its joints' limits, and brakes that hold it
// while nobody commands.
type Plant struct {
	Q, V   [arm.Joints]float64 // rad, rad/s
	Torque [arm.Joints]float64 // that the joints have had, within their limits, N·m
	Braked bool

	arm   *arm.Arm[float64]
	links []arm.Link
	s     [2 * arm.Joints]float64
}

// PlantStep is a step of the plant, s.
const PlantStep = 0.001

// NewPlant returns an arm that stands at angles q with its brakes on. Of what it is, Dt and Steps do not count.
func NewPlant(truth arm.Robot, q [arm.Joints]float64) *Plant {
	p := &Plant{Q: q, Braked: true, links: arm.Panda().Links}
	p.SetTruth(truth)
	return p
}

// SetTruth hangs another payload on the arm, and gives it other friction.
func (p *Plant) SetTruth(truth arm.Robot) {
	truth.Dt, truth.Steps = PlantStep, 1
	p.arm = arm.New[float64](truth)
}

// Step lets a step pass under torques, N·m, which are cut to what the joints have.
func (p *Plant) Step(tau *[arm.Joints]float64) {
	for j, l := range p.links {
		p.Torque[j] = min(max(tau[j], -l.Torque), l.Torque)
	}
	if p.Braked {
		p.V, p.Torque = [arm.Joints]float64{}, [arm.Joints]float64{}
		return
	}
	copy(p.s[:], p.Q[:])
	copy(p.s[arm.Joints:], p.V[:])
	var none [2 * arm.Joints]float64
	p.arm.Step(1, p.s[:], p.Torque[:], none[:], p.s[:])
	copy(p.Q[:], p.s[:])
	copy(p.V[:], p.s[arm.Joints:])
	for j, l := range p.links {
		if q := min(max(p.Q[j], l.Min), l.Max); q != p.Q[j] {
			p.Q[j], p.V[j] = q, 0
		}
	}
}

// AtStop is the first joint that is at an end stop, from 0 on; -1: none.
func (p *Plant) AtStop() int {
	for j, l := range p.links {
		if math.Abs(p.Q[j]-l.Min) < 1e-9 || math.Abs(p.Q[j]-l.Max) < 1e-9 {
			return j
		}
	}
	return -1
}
