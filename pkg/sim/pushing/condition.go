// Package pushing has a box that is pushed over a table in MuJoCo, under conditions that nobody is informed of.
package pushing

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/pusher"
)

// Condition is what is hidden of a world.
type Condition struct {
	Mass     float64    // of the box, kg
	Friction float64    // of the box on the table, Coulomb's coefficient
	Centre   [2]float64 // centre of mass from the box's middle, m
	Tilt     [2]float64 // of the table: rise along x and y, rad
}

// Nominal is what is known of a box without having pushed it.
var Nominal = Condition{Mass: pushlearning.Prior.Mass, Friction: pushlearning.Prior.Friction}

// Bounds of conditions.
const (
	leastMass, mostMass         = 0.2, 2   // kg
	leastFriction, mostFriction = 0.2, 1.2 // with less, a tilted table lets the box slide by itself
	mostCentre                  = 0.02     // m, along each axis
	mostTilt                    = 0.03     // rad, along each axis
)

// Draw draws a condition, evenly of all there are.
func Draw(rng *rand.Rand) (c Condition) {
	even := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	c.Mass, c.Friction = even(leastMass, mostMass), even(leastFriction, mostFriction)
	for k := range 2 {
		c.Centre[k], c.Tilt[k] = even(-mostCentre, mostCentre), even(-mostTilt, mostTilt)
	}
	return c
}

// Check refuses, in words, what is outside the bounds.
func (c *Condition) Check() error {
	for _, x := range []struct {
		name           string
		value, min, to float64
	}{{"mass of the box", c.Mass, leastMass, mostMass},
		{"friction of the box", c.Friction, leastFriction, mostFriction},
		{"centre of mass along x", c.Centre[0], -mostCentre, mostCentre},
		{"centre of mass along y", c.Centre[1], -mostCentre, mostCentre},
		{"tilt of the table along x", c.Tilt[0], -mostTilt, mostTilt},
		{"tilt of the table along y", c.Tilt[1], -mostTilt, mostTilt}} {
		if !(x.value >= x.min && x.value <= x.to) {
			return fmt.Errorf("%s is %g, expected %g to %g", x.name, x.value, x.min, x.to)
		}
	}
	return nil
}

// inertia is that of the box about its centre of mass, kg·m²: of an even one, wherever its centre is.
func (c *Condition) inertia() [3]float64 {
	const a, h = pusher.Side, pusher.Height
	return [3]float64{c.Mass * (a*a + h*h) / 12, c.Mass * (a*a + h*h) / 12, c.Mass * 2 * a * a / 12}
}

// gravity is that of a tilted table, in the table's frame, m/s².
func (c *Condition) gravity() [3]float64 {
	const g = 9.81
	x, y := -g*math.Sin(c.Tilt[0]), -g*math.Sin(c.Tilt[1])
	return [3]float64{x, y, -math.Sqrt(g*g - x*x - y*y)}
}
