// Command push learns, in simulation, to push a box to a place and heading, under masses and frictions that it is not
// informed of. It prints how often each policy succeeds in MuJoCo, which `make simulators` installs.
//
//	go run ./examples/push build/push.vnd    # three minutes of a core
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"vnd/pkg/sim/pushing"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func main() {
	b := pushing.DefaultBudget()
	flag.Uint64Var(&b.Seed, "seed", 1, "of all that is drawn")
	flag.IntVar(&b.Times, "rounds", 1, "of pushing and learning")
	trials := flag.Int("trials", 200, "of each policy, with each kind of box")
	plots := flag.String("plots", "", "folder for pictures")
	peers := flag.Bool("peers", false, "also learn what it is compared with: for half an hour of a core")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: push [-seed N] [-rounds N] [-trials N] [-peers] [-plots DIR] BUNDLE")
	}
	began := time.Now()
	b.Progress = func(format string, a ...any) {
		fmt.Fprintf(os.Stderr, "%5.0f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, a...))
	}
	if err := run(context.Background(), &b, *trials, *peers, *plots, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, b *pushing.Budget, trials int, peers bool, plots, out string) error {
	l, err := b.Learn(ctx)
	if err != nil {
		return err
	}
	methods := []pushing.Method{{Name: "base", Policy: l.Base}, {Name: "ours", Policy: l.Improved}}
	for _, r := range l.Rounds {
		if r.Verdict.Pass {
			fmt.Printf("round %d on %d rows: bundle %s follows\n", r.Number, r.Rows, r.ID)
			continue
		}
		fmt.Printf("round %d on %d rows: the gate refuses: %s\n", r.Number, r.Rows,
			strings.Join(r.Verdict.Reasons(), "; "))
		p, err := vnd.ActorFromBundle(r.Candidate)
		if err != nil {
			return err
		}
		methods = append(methods, pushing.Method{Name: fmt.Sprint("refused ", r.Number), Policy: p})
	}
	if peers {
		others, err := b.Peers(ctx, l)
		if err != nil {
			return err
		}
		methods = append(methods, others...)
	}
	const unseen = 1000 // beyond the seeds of learning
	results, err := pushing.Compare(b.Task, trials, b.Seed+unseen, methods...)
	if err == nil {
		err = pushing.Table(os.Stdout, results)
	}
	if err == nil && plots != "" {
		err = draw(plots, b.Task, results)
	}
	if err != nil {
		return err
	}
	return bundle.Write(out, l.Bundle)
}
