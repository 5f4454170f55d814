package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"vnd/pkg/sim/experiment"
)

// policiesResult is what policies of one model came to.
type policiesResult struct {
	Rows     []experiment.TableRow `json:"rows"` // of the variants, the first is the loop as it is
	Policies int                   `json:"policies"`
	File     string                `json:"file"`
	Warnings []string              `json:"warnings"`
}

// comparePolicies has policies of each variant learn in one model, and fly the table.
func (a *ablateCommand) comparePolicies(c *console) error {
	if a.Policies < 1 || a.Air == "" {
		return errors.New("--policies and --air: expected both, a number and the worlds that they fly in")
	}
	if len(a.Unseen) > 0 {
		return errors.New("--unseen: expected without --policies, which fly --air alone")
	}
	variants, err := a.campaigns()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.Out, 0o777); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	s := &studyCommand{World: a.World, Turning: a.Turning, Turns: true, Methods: experiment.MethodOurs,
		Rounds: a.Rounds, Seconds: a.Seconds, Seeds: a.Seeds, tableFlags: a.tableFlags}
	plan, err := s.plan()
	if err != nil {
		return err
	}
	plan.Report = func(phase string) { c.log.Info().Msg(phase) }
	studies, failed := variants[0].Policies(c.ctx, plan, variants, a.Policies)
	if len(studies) == 0 {
		return failed
	}
	out := &policiesResult{Rows: experiment.Tabulate(studies), Policies: len(studies),
		File: filepath.Join(a.Out, "policies.md"), Warnings: c.warnings}
	var b strings.Builder
	return errors.Join(failed, out.WriteText(&b), writeText(out.File, b.String()), c.show(out))
}

// campaigns are those of the variants.
func (a *ablateCommand) campaigns() (out []experiment.Variant, err error) {
	table, err := a.table()
	if err != nil {
		return nil, err
	}
	if len(a.Seeds) != 1 {
		return nil, errors.New("--seeds: expected one, that of the model")
	}
	var first *experiment.Config
	err = a.each(func(name string, _ []string, cfg *experiment.Config) error {
		if first == nil {
			first = cfg
		}
		rest := *cfg
		rest.Objective, rest.Policy, rest.FineTune = first.Objective, first.Policy, first.FineTune
		if !reflect.DeepEqual(&rest, first) {
			return errors.New("policies of one model: expected changes of policy.…, fine_tune.…, cost, weights.…, " +
				"or spread.…")
		}
		own := *cfg // enlist has it respond as the airframe does
		p, err := enlist(&own, a.Airframe, a.Task, a.Seeds[0])
		if err == nil && a.Learn {
			err = learnReferences(p, table)
		}
		out = append(out, experiment.Variant{Name: name, Campaign: p})
		return err
	})
	return out, err
}

// WriteText implements result: the table, then each variant beside the loop as it is.
func (r *policiesResult) WriteText(w io.Writer) error {
	var b strings.Builder
	writeTable(&b, r.Rows, fmt.Sprintf("%d policies", r.Policies))
	fmt.Fprintf(&b, "\n| variant | ÷ %s | cells less | cells greater |\n|---|---|---|---|\n", r.Rows[0].Name)
	for _, row := range r.Rows[1:] {
		mean, less, greater := row.Beside(&r.Rows[0])
		ratio := "–" // where no cell is flown by both
		if !math.IsNaN(mean) {
			ratio = fmt.Sprintf("%.3f", mean)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", row.Name, ratio, less, greater)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
