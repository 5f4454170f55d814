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
	"path/filepath"

	"vnd/pkg/sim/manipulation"
	"vnd/pkg/vnd/bundle"
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

// options are what is compared and drawn.
type options struct {
	oracle, peers   bool
	beside, picture string
}

func run(ctx context.Context, b *manipulation.Budget, o *options, out string) error {
	references, err := b.References()
	if err != nil {
		return err
	}
	others, err := read(o.beside)
	if err != nil {
		return err
	}
	l, err := b.Learn(ctx, references)
	if err != nil {
		return err
	}
	methods := append([]manipulation.Method{manipulation.ByPolicy("base", l.Base, nil),
		manipulation.ByPolicy("improved", l.Improved, l.Model)}, others...)
	methods = append(methods, manipulation.Laws(b.World, references, b.Progress)...)
	b.Report(os.Stdout, l, references, methods)
	if o.oracle || o.peers {
		oracle, err := b.Oracle(ctx, references, l.Base)
		if err != nil {
			return err
		}
		methods = append(methods, oracle)
	}
	if o.peers {
		others, err := b.Peers(ctx, references, l)
		if err != nil {
			return err
		}
		methods = append(methods, others...)
	}
	all := manipulation.Compare(b.World, references, methods...)
	if err := manipulation.Table(os.Stdout, all); err != nil {
		return err
	}
	if err := draw(o.picture, all); err != nil {
		return err
	}
	return write(out, l)
}

// read reads a bundle that is compared, if one is named.
func read(file string) ([]manipulation.Method, error) {
	if file == "" {
		return nil, nil
	}
	b, err := bundle.Read(file)
	if err != nil {
		return nil, err
	}
	m, err := manipulation.ByBundle(filepath.Base(file), b)
	return []manipulation.Method{m}, err
}
