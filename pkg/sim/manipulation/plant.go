package manipulation

import "vnd/pkg/robot/arm"

// Plant is an arm of a World that goes on step by step, with brakes that hold it while nobody commands.
type Plant struct {
	Q, V   [arm.Joints]float64 // rad, rad/s
	Torque [arm.Joints]float64 // that the joints have had, within their limits, N·m
	Braked bool

	world World[float64]
	links []arm.Link
	s     [2 * arm.Joints]float64
}

// PlantStep is a step of the plant, s.
const PlantStep = 0.001

// NewPlant returns an arm in a simulator, as NewWorld names them, that stands at angles q with its brakes on. Of the
// truth Dt and Steps do not count.
func NewPlant(simulator string, truth arm.Robot, q [arm.Joints]float64) (*Plant, error) {
	w, err := NewWorld[float64](simulator)
	if err != nil {
		return nil, err
	}
	p := &Plant{Q: q, Braked: true, links: arm.Panda().Links, world: w}
	return p, p.SetTruth(truth)
}

// Close ends its world.
func (p *Plant) Close() { p.world.Close() }

// SetTruth hangs another payload on the arm, and gives it other friction.
func (p *Plant) SetTruth(truth arm.Robot) error {
	truth.Dt, truth.Steps = PlantStep, 1
	return p.world.Set(truth)
}

// Step lets a step pass under torques, N·m, which are cut to what the joints have.
func (p *Plant) Step(tau *[arm.Joints]float64) error {
	for j, l := range p.links {
		p.Torque[j] = min(max(tau[j], -l.Torque), l.Torque)
	}
	if p.Braked {
		p.V, p.Torque = [arm.Joints]float64{}, [arm.Joints]float64{}
		return nil
	}
	copy(p.s[:], p.Q[:])
	copy(p.s[arm.Joints:], p.V[:])
	err := p.world.Step(p.s[:], p.Torque[:])
	copy(p.Q[:], p.s[:])
	copy(p.V[:], p.s[arm.Joints:])
	return err
}

// AtStop is the first joint that is at an end stop, from 0 on; -1: none.
func (p *Plant) AtStop() int {
	for j, l := range p.links {
		if p.Q[j] <= l.Min || p.Q[j] >= l.Max {
			return j
		}
	}
	return -1
}
