// Command own_reference flies a curve of one's own, a trefoil knot, in the simulator under the geometric law. A
// reference gives position, velocity and acceleration at a time; derivatives that do not fit one another cost accuracy.
//
//	go run ./examples/own_reference
package main

import (
	"fmt"
	"log"
	"math"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// trefoil is a knot of 2 m about (0, 0, 1.5) m, once round in period seconds.
type trefoil struct{ period float64 }

// At implements guard.Path: world ENU, m, m/s, m/s².
func (k trefoil) At(t float64) quad.Reference {
	w := 2 * math.Pi / k.period
	// wave is a·sin(n·w·t + shift) with its first two derivatives.
	wave := func(a, n, shift float64) [3]float64 {
		sin, cos := math.Sincos(n*w*t + shift)
		return [3]float64{a * sin, a * n * w * cos, -a * n * w * n * w * sin}
	}
	x1, x2 := wave(0.33, 1, 0), wave(0.67, 2, 0)
	y1, y2 := wave(0.33, 1, math.Pi/2), wave(-0.67, 2, math.Pi/2)
	z := wave(0.3, 3, 0)
	at := func(i int) so3.Vec3 { return so3.Vec3{X: x1[i] + x2[i], Y: y1[i] + y2[i], Z: z[i]} }
	return quad.Reference{P: at(0).Add(so3.Vec3{Z: 1.5}), V: at(1), A: at(2)}
}

func main() {
	log.SetFlags(0)
	path := trefoil{period: 10}
	setup := &closedloop.Setup{World: sim.Default(), Seed: 1, Path: path, Seconds: 20, Tick: 0.02}
	param.Default(&setup.Estimate)
	param.Default(&setup.Limits)
	var gains guard.Gains
	param.Default(&gains)
	law, err := guard.NewLaw(gains, setup.Limits)
	if err != nil {
		log.Fatal(err)
	}
	trace, err := closedloop.Fly(setup, guard.Follower{Law: law, Path: path})
	if err != nil {
		log.Fatal(err)
	}
	f := trace.Measure(4) // from 4 s on
	fmt.Printf("trefoil: off by %.3f m on average over %.0f s, crash %q\n", f.Mean, f.Seconds, f.Crash)
}
