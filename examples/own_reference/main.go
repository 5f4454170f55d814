// Command own_reference adds a curve of one's own, a trefoil knot, to the kinds that are known by name, and flies it.
// With the same Add in a program of one's own, set_task of policy_controller and the file of a training take it, too.
//
//	go run ./examples/own_reference '{"kind": "trefoil", "period": 8}'
package main

import (
	"fmt"
	"log"
	"math"
	"os"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// Trefoil is a knot of 2 m about (0, 0, height).
type Trefoil struct {
	Period float64 `param:"period" default:"10.0" min:"4" max:"60" unit:"s" doc:"time for one round"`
	Height float64 `param:"height" default:"1.5" min:"0.5" max:"10" unit:"m" doc:"of its middle"`
}

// Kind implements reference.Spec, and Build too: a trefoil is its own reference.
func (*Trefoil) Kind() string                          { return "trefoil" }
func (k *Trefoil) Build() (reference.Reference, error) { return k, nil }
func (k *Trefoil) Spec() reference.Spec                { return k }
func (k *Trefoil) Duration() float64                   { return 0 } // endless
func (k *Trefoil) Horizon() float64                    { return k.Period }

// At implements reference.Reference: world ENU, m, m/s, m/s². Derivatives that do not fit one another cost accuracy.
func (k *Trefoil) At(t float64) quad.Reference {
	w := 2 * math.Pi / k.Period
	// wave is a·sin(n·w·t + shift) with its first two derivatives.
	wave := func(a, n, shift float64) [3]float64 {
		sin, cos := math.Sincos(n*w*t + shift)
		return [3]float64{a * sin, a * n * w * cos, -a * n * w * n * w * sin}
	}
	x1, x2 := wave(0.33, 1, 0), wave(0.67, 2, 0)
	y1, y2 := wave(0.33, 1, math.Pi/2), wave(-0.67, 2, math.Pi/2)
	z := wave(0.3, 3, 0)
	at := func(i int) so3.Vec3 { return so3.Vec3{X: x1[i] + x2[i], Y: y1[i] + y2[i], Z: z[i]} }
	return quad.Reference{P: at(0).Add(so3.Vec3{Z: k.Height}), V: at(1), A: at(2)}
}

func main() {
	log.SetFlags(0)
	reference.Add(func() reference.Spec { return new(Trefoil) })
	text := `{"kind": "trefoil"}`
	if len(os.Args) > 1 {
		text = os.Args[1]
	}
	path, err := reference.Parse("argument", []byte(text))
	if err != nil {
		log.Fatal(err)
	}
	setup := &closedloop.Setup{World: sim.Default(), Seed: 1, Path: path, Seconds: 20, Tick: 0.02}
	param.Default(&setup.Estimate)
	param.Default(&setup.Limits)
	law, err := guard.NewPathFollower(setup.Limits, path)
	if err != nil {
		log.Fatal(err)
	}
	trace, err := closedloop.Fly(setup, law)
	if err != nil {
		log.Fatal(err)
	}
	f := trace.Measure(4) // from 4 s on
	fmt.Printf("%s: off by %.3f m on average over %.0f s, crash %q\n", path.Spec().Kind(), f.Mean, f.Seconds, f.Crash)
}
