// Command arm learns, in simulation, to follow paths with a Panda's tool under payloads that it is not told of, and
// prints what each method errs by under each: the policy of the prior, the improved one, and adaptive control.
//
//	go run ./examples/arm build/arm.vnd           # three minutes of a core
//	go run ./examples/arm -quick build/arm.vnd    # seconds
//	go run ./examples/arm -smooth                 # what smooth recordings teach, of four payloads along three shapes
//	go run ./examples/arm -simulator mujoco -beside build/arm.vnd build/arm_mujoco.vnd
package main

import (
	"context"
	"flag"
	"log"
	"os"

	"vnd/pkg/sim/manipulation"
)

func main() {
	quick := flag.Bool("quick", false, "learn for seconds along one circle")
	var o options
	flag.BoolVar(&o.oracle, "oracle", false, "also learn a policy for each payload: for five minutes of a core")
	flag.BoolVar(&o.peers, "peers", false, "also learn what it is compared with: for a quarter of an hour of a core")
	flag.StringVar(&o.beside, "beside", "", "bundle to compare, too, such as one of the other simulator")
	flag.StringVar(&o.picture, "plot", "", "picture of the errors under each payload, PNG")
	seed := flag.Uint64("seed", 1, "of all that is drawn")
	smooth := flag.Bool("smooth", false, "learn from recordings without random torques, as of bags, and write nothing")
	simulator := flag.String("simulator", "", "mujoco: that simulator's arm is recorded and followed; empty: ours is")
	flag.Parse()
	b := manipulation.SmallBudget()
	if *quick {
		b = manipulation.QuickBudget()
	}
	var err error
	if b.World, err = manipulation.NewWorld[float32](*simulator); err != nil {
		log.Fatal(err)
	}
	defer b.World.Close()
	b.Seed = *seed
	b.Progress = log.New(os.Stderr, "", log.Ltime).Printf
	switch {
	case *smooth:
		err = manipulation.Smooth(context.Background(), os.Stdout, b.World, *seed, []float64{0, 1, 2, 3})
	case flag.NArg() != 1:
		log.Fatal("usage: arm [-quick] [-oracle] [-peers] [-seed N] [-simulator mujoco] [-beside B.vnd] " +
			"[-plot F.png] BUNDLE, or arm -smooth [-seed N] [-simulator mujoco]")
	default:
		err = run(context.Background(), &b, &o, flag.Arg(0))
	}
	if err != nil {
		log.Fatal(err)
	}
}
