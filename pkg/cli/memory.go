package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"vnd/pkg/sim/experiment"
)

type memoryCommand struct {
	World    []string `required:"" placeholder:"W.yaml,…" help:"Worlds whose conditions are met, one a round."`
	Together string   `placeholder:"W.yaml" help:"World whose conditions are met after those, in one round."`
	Task     string   `default:"hover,track" placeholder:"TASK" help:"hover, track, or both with a comma between."`
	Seconds  float64  `default:"360" help:"Flight in each condition, shared among the tasks."`
	Seeds    []uint64 `default:"1" help:"Seeds, with commas between."`
	learnFlags
}

// memoryResult is what `vnd memory` came to.
type memoryResult struct {
	Seeds    []*experiment.Memory `json:"seeds"`
	Warnings []string             `json:"warnings"`
}

// Run implements `vnd memory`.
func (k *memoryCommand) Run(c *console) error {
	cfg, err := settings[experiment.Config](loopNode, k.Config, k.Param)
	if err != nil {
		return err
	}
	if !(k.Seconds >= 20) || len(k.Seeds) == 0 {
		return errors.New("--seconds and --seeds: expected at least 20 s of flight, and a seed")
	}
	q := &experiment.Sequence{Seconds: k.Seconds}
	for _, file := range k.World {
		met, err := scheduled("--world", file, false)
		if err != nil {
			return err
		}
		q.Met = append(q.Met, met...)
	}
	if k.Together != "" {
		if q.Together, err = scheduled("--together", k.Together, false); err != nil {
			return err
		}
	}
	out := &memoryResult{}
	for _, seed := range k.Seeds {
		p, err := enlist(cfg, k.Airframe, k.Task, seed)
		if err != nil {
			return err
		}
		q.Report = func(line string) { c.log.Info().Msg(fmt.Sprintf("seed %d: %s", seed, line)) }
		m, err := p.Remember(c.ctx, q)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		out.Seeds = append(out.Seeds, m)
	}
	out.Warnings = c.warnings
	return c.show(out)
}

// WriteText implements result: for each seed the matrix of errors, rounds by conditions, and what it comes to.
func (r *memoryResult) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, m := range r.Seeds {
		fmt.Fprintf(&b, "Seed %d: mean position error after each round, m; of the model's predictions of a second "+
			"behind it.\n\n| learned | min | rows |", m.Seed)
		for _, name := range m.Conditions {
			fmt.Fprintf(&b, " %s |", name)
		}
		fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---|", 2+len(m.Conditions)))
		for _, round := range m.Rounds {
			writeRemembered(&b, &round)
		}
		b.WriteString("\n")
		writeWorst(&b, m, "error in the end ÷ just after it was learned", m.Fading())
		writeWorst(&b, m, "the same of predictions", m.OpenLoopFading())
		transfer := slices.Sorted(slices.Values(m.Transfer()))
		if len(transfer) > 0 {
			fmt.Fprintf(&b, "error before it was met ÷ before all learning: median %s\n",
				ratio(experiment.Median(transfer)))
		}
		for i, x := range m.Combined() {
			fmt.Fprintf(&b, "%s, met singly ÷ met together: %s\n", m.Conditions[m.Met+i], ratio(x))
		}
		for _, round := range m.Rounds {
			if len(round.Refused) > 0 {
				fmt.Fprintf(&b, "after %s refused: %s\n", round.Learned, strings.Join(round.Refused, "; "))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRemembered(b *strings.Builder, r *experiment.MemoryRound) {
	name := r.Learned
	if name == "" {
		name = "nothing"
	}
	fmt.Fprintf(b, "| %s | %.0f | %d |", name, r.Minutes, r.Rows)
	for i, e := range r.Errors {
		fmt.Fprintf(b, " %s", metres(e))
		if r.OpenLoop != nil {
			fmt.Fprintf(b, ", %.3f", r.OpenLoop[i])
		}
		b.WriteString(" |")
	}
	b.WriteString("\n")
}

// writeWorst writes ratios of the conditions, the greatest first.
func writeWorst(b *strings.Builder, m *experiment.Memory, what string, ratios []float64) {
	at := 0
	for i, x := range ratios {
		if !(x <= ratios[at]) {
			at = i
		}
	}
	sorted := slices.Sorted(slices.Values(ratios))
	fmt.Fprintf(b, "%s: worst %s (%s), median %s\n", what, ratio(ratios[at]), m.Conditions[at],
		ratio(experiment.Median(sorted)))
}

// ratio writes one of errors; one of a crash in words.
func ratio(x float64) string {
	if !(x < 1e6) || math.IsInf(x, 0) {
		return "a crash"
	}
	return fmt.Sprintf("%.2f", x)
}
