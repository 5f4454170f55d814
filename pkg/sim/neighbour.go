package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Neighbour is a second vehicle, which flies to and fro above: what is below it is in its downwash. Its rotors are like
// those of the first.
type Neighbour struct {
	Mass   float64   `param:"mass" default:"0" min:"0" max:"100" unit:"kg" doc:"mass of a second vehicle; 0: there is none"`
	Place  []float64 `param:"place" default:"0,0,1.8" unit:"m" doc:"middle of its path in the world"`
	Reach  []float64 `param:"reach" default:"0,0" min:"-100" max:"100" unit:"m" doc:"how far it flies from there along x and y"`
	Period float64   `param:"period" default:"6" min:"0.1" max:"1e6" unit:"s" doc:"time in which it is back"`
}

func (n *Neighbour) check() error {
	if err := length("neighbour.place", len(n.Place), 3); err != nil {
		return err
	}
	return length("neighbour.reach", len(n.Reach), 2)
}

// neighbour is its wake: a free round turbulent jet, as L. Bauersfeld et al., "Robotics meets fluid dynamics: a
// characterization of the induced airflow below a quadrotor as a turbulent jet" (2024), find it from 2.5 diameters of
// the vehicle on. Its momentum is that of the momentum theory of rotors: they have
// half the area where the wake is full-grown. It is the wake of a vehicle that hovers, at each place, without delay.
type neighbour struct {
	Neighbour
	wake jet
}

func newNeighbour(w *World) neighbour {
	const density = 1.225 // of air, kg/m³
	r := w.Motor.Radius
	area := 4 * math.Pi * r * r
	n := neighbour{Neighbour: w.Neighbour}
	n.wake = jet{along: so3.Vec3{Z: -1}, speed: 2 * math.Sqrt(n.Mass*gravity/(2*density*area)),
		diameter: math.Sqrt(2 * area / math.Pi)}
	return n
}

// at is where it is after t seconds, m.
func (n *neighbour) at(t float64) so3.Vec3 {
	s := math.Sin(2 * math.Pi * t / n.Period)
	return so3.Vec3{X: n.Place[0] + n.Reach[0]*s, Y: n.Place[1] + n.Reach[1]*s, Z: n.Place[2]}
}

// air is the velocity of the air at a place, m/s in the world.
func (n *neighbour) air(t float64, p so3.Vec3) so3.Vec3 {
	if n.Mass == 0 {
		return so3.Vec3{}
	}
	n.wake.at = n.at(t)
	return n.wake.along.Scale(n.wake.speedAt(p))
}
