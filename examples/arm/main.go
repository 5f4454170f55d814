// Command arm learns, in simulation, to follow paths with a Panda's tool under payloads that it is not told of, and
// prints what each method errs by under each: the policy of the prior, the improved one, and adaptive control.
//
//	go run ./examples/arm build/arm.vnd           # three minutes of a core
//	go run ./examples/arm -quick build/arm.vnd    # seconds
//	go run ./examples/arm -smooth                 # what smooth recordings teach, of four payloads along three shapes
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
	peers := flag.Bool("peers", false, "also learn what it is compared with: for a quarter of an hour of a core")
	seed := flag.Uint64("seed", 1, "of all that is drawn")
	picture := flag.String("plot", "", "picture of the errors under each payload, PNG")
	smooth := flag.Bool("smooth", false, "learn from recordings without random torques, as of bags, and write nothing")
	flag.Parse()
	if *smooth {
		if err := manipulation.Smooth(context.Background(), os.Stdout, *seed, []float64{0, 1, 2, 3}); err != nil {
			log.Fatal(err)
		}
		return
	}
	if flag.NArg() != 1 {
		log.Fatal("usage: arm [-quick] [-peers] [-seed N] [-plot F.png] BUNDLE, or arm -smooth [-seed N]")
	}
	b := manipulation.SmallBudget()
	if *quick {
		b = manipulation.QuickBudget()
	}
	b.Seed = *seed
	b.Progress = log.New(os.Stderr, "", log.Ltime).Printf
	if err := run(context.Background(), &b, *peers, *picture, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, b *manipulation.Budget, peers bool, picture, out string) error {
	references, err := b.References()
	if err != nil {
		return err
	}
	l, err := b.Learn(ctx, references)
	if err != nil {
		return err
	}
	methods := append([]manipulation.Method{manipulation.ByPolicy("base", l.Base, nil),
		manipulation.ByPolicy("improved", l.Improved, l.Model)}, manipulation.Laws()...)
	b.Report(os.Stdout, l, references, methods)
	if peers {
		others, err := b.Peers(ctx, references, l)
		if err != nil {
			return err
		}
		methods = append(methods, others...)
	}
	all := manipulation.Compare(references, methods...)
	if err := manipulation.Table(os.Stdout, all); err != nil {
		return err
	}
	if err := draw(picture, all); err != nil {
		return err
	}
	return write(out, l)
}
