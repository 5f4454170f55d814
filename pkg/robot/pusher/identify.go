package pusher

import (
	"fmt"
	"math"
)

// Bounds of the force that it takes to push a box that Identify finds, N.
const leastForce, mostForce = 0.1, 40

// Identify finds, by least squares, the box that rows dt seconds apart show, without a gap: the force that it takes to
// push it, as the friction of a box of known mass.
func Identify(rows []Row, dt, mass float64) (Robot, error) {
	const least = 10 // rows in which the box is pushed
	pushed := 0
	for i := range rows {
		if v := rows[i].State.BoxVelocity; math.Hypot(v[0], v[1]) > 0.01 {
			pushed++
		}
	}
	of := func(force float64) Robot { return Robot{Dt: dt, Mass: mass, Friction: force / (mass * gravity)} }
	if pushed < least {
		return Robot{}, fmt.Errorf("the box moves in %d rows, expected at least %d", pushed, least)
	}
	lo, hi := float64(leastForce), float64(mostForce)
	for hi-lo > 0.01 {
		const golden = 0.381966
		a, b := lo+golden*(hi-lo), hi-golden*(hi-lo)
		if missed(rows, newPrior(of(a))) < missed(rows, newPrior(of(b))) {
			hi = b
		} else {
			lo = a
		}
	}
	return of((lo + hi) / 2), nil
}

// missed is the sum of squares by which boxes are elsewhere, a step later, than a prior has them.
func missed(rows []Row, f prior) (sum float64) {
	var u push
	for i := range rows[1:] {
		now, next := rows[i].State.planar(), rows[i+1].State.planar()
		f.step(&now, vector(rows[i].Command), &u)
		off := next.box.add(-1, u.next.box)
		sum += off.dot(off)
	}
	return sum
}
