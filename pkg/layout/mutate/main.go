// Command mutate breaks chosen lines of the sources, one at a time, and lists which tests notice.
// The lines are in mutations.txt; it is run by make mutate.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// least is the share of mutations that tests must notice.
const least = 0.95

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	list := flags.String("list", "pkg/layout/mutate/mutations.txt", "file of mutations")
	match := flags.String("match", "", "only mutations whose name or file matches this regular expression")
	jobs := flags.Int("jobs", 1, "mutations tried at a time, each in a copy of the sources")
	limit := flags.Duration("timeout", 5*time.Minute, "time for the tests of one mutation; beyond it they noticed")
	check := flags.Bool("check", false, "only see that every mutation's old text occurs exactly once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*match)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(*list)
	if err != nil {
		return err
	}
	all, err := parse(*list, string(text))
	if err != nil {
		return err
	}
	var chosen []mutation
	for _, m := range all {
		if wanted.MatchString(m.name) || wanted.MatchString(m.file) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return errors.New("no mutation matches")
	}
	if err := applicable(".", chosen); err != nil || *check {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	results, err := tryAll(ctx, chosen, *jobs, *limit, out)
	if err != nil {
		return err
	}
	return summary(out, results)
}

// summary prints the mutations that no test noticed; their share is the error.
func summary(out io.Writer, results []result) error {
	counts := map[outcome]int{}
	for _, r := range results {
		counts[r.outcome]++
	}
	fmt.Fprintf(out, "\n%d mutations: %d noticed, %d survived, %d do not build\n",
		len(results), counts[noticed], counts[survived], counts[broken])
	for _, r := range results {
		if r.outcome != noticed {
			fmt.Fprintf(out, "  %s: %s (%s)\n", r.outcome, r.name, r.file)
		}
	}
	if share := float64(counts[noticed]) / float64(len(results)); share < least {
		return fmt.Errorf("%.0f %% of the mutations were noticed, want %.0f %%", 100*share, 100*least)
	}
	return nil
}
