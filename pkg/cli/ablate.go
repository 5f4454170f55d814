package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/learning/continual"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/viz/plot"
)

type ablateCommand struct {
	World    string   `required:"" placeholder:"W.yaml" help:"World whose conditions are met while learning, and measured in."`
	Turning  []string `placeholder:"W.yaml,…" help:"Worlds with a schedule: recovery after switches is measured there."`
	Unseen   []string `placeholder:"W.yaml,…" help:"Worlds whose conditions are measured in and never learned from."`
	Out      string   `required:"" placeholder:"DIR" help:"Folder for the picture."`
	Task     string   `default:"hover,track" placeholder:"TASK" help:"hover, track, or both with a comma between."`
	Rounds   int      `default:"2" help:"Rounds of flying and learning."`
	Seconds  float64  `default:"20" help:"Length of a flight to learn from, in each condition and task."`
	Seeds    []uint64 `default:"1" help:"Seeds, with commas between."`
	Config   string   `placeholder:"F.yaml" help:"Parameter file, node name \"loop\" (see params/loop.yaml)."`
	Airframe string   `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
	Param    []string `kong:"-"` // of a preset, in all variants
	Policies int      `default:"0" placeholder:"N" help:"So many policies of each variant, of one model, fly --air."`
	tableFlags
	Variants []string `arg:"" placeholder:"NAME=PARAMETER:=VALUE[,PARAMETER:=VALUE]" help:"What is changed, each beside the loop as it is."`
}

// ablationResult is what `vnd ablate` came to.
type ablationResult struct {
	Variants []variant `json:"variants"` // the first is the loop as it is
	File     string    `json:"file"`
	Warnings []string  `json:"warnings"`
}

// variant of the loop.
type variant struct {
	Name     string             `json:"name"`
	Params   []string           `json:"params"`
	Columns  []string           `json:"-"`
	Errors   map[string]float64 `json:"errors_m"`
	Recovers *experiment.Turns  `json:"turns,omitempty"`
	Knows    float64            `json:"knn"`        // share of unseen windows whose wind is told by z
	Wind     float64            `json:"wind_error"` // of the accelerations that encoded latents cause, m/s²
	Open     float64            `json:"open_loop_m"`
	OpenBy   map[string]float64 `json:"open_loop_by_task_m"`
	Fit      float64            `json:"fit_s"`     // mean of the rounds
	Improve  float64            `json:"improve_s"` // the same of the training of policies
	Promoted int                `json:"promoted"`  // rounds, of all seeds
}

// Run implements `vnd ablate`.
func (a *ablateCommand) Run(c *console) error {
	if a.Policies != 0 || a.Air != "" {
		return a.comparePolicies(c)
	}
	out, err := a.ablate(c)
	if out == nil {
		return err
	}
	out.Warnings = c.warnings
	return errors.Join(c.show(out), err)
}

// ablate tries the variants. Where one fails it returns those before, nil without any.
func (a *ablateCommand) ablate(c *console) (*ablationResult, error) {
	out := &ablationResult{}
	err := a.each(func(name string, params []string, _ *experiment.Config) error {
		out.Variants = append(out.Variants, variant{Name: name, Params: params})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(a.Out, 0o777); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	var failed error
	for i := range out.Variants {
		if err := a.try(c, &out.Variants[i]); err != nil {
			failed = fmt.Errorf("%s: %w", out.Variants[i].Name, err)
			out.Variants = out.Variants[:i]
			break
		}
	}
	if len(out.Variants) == 0 {
		return nil, failed
	}
	out.File = filepath.Join(a.Out, "ablations.png")
	return out, errors.Join(failed, atomicfile.WriteFile(out.File, out.draw))
}

// each reads the variants, the loop as it is first.
func (a *ablateCommand) each(do func(name string, params []string, cfg *experiment.Config) error) error {
	var names []string
	for _, text := range append([]string{"as it is="}, a.Variants...) {
		name, changed, ok := strings.Cut(text, "=")
		if !ok || name == "" || slices.Contains(names, name) {
			return fmt.Errorf("%s: expected NAME=PARAMETER:=VALUE, each name once", text)
		}
		if strings.Contains(name, "|") || slices.Contains(experiment.Methods, name) {
			return fmt.Errorf("%s: expected a name without | that is no method of vnd study", text)
		}
		names = append(names, name)
		params := slices.Clone(a.Param)
		if changed != "" {
			params = append(params, strings.Split(changed, ",")...)
		}
		cfg, err := settings[experiment.Config](loopNode, a.Config, params)
		if err == nil {
			err = do(name, params, cfg)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// try has a variant learn and fly.
func (a *ablateCommand) try(c *console, v *variant) error {
	s := &studyCommand{World: a.World, Turning: a.Turning, Unseen: a.Unseen, Task: a.Task,
		Methods: experiment.MethodOurs,
		Rounds:  a.Rounds,
		Seconds: a.Seconds, Turns: true, Seeds: a.Seeds, learnFlags: learnFlags{a.Config, v.Params, a.Airframe}}
	c.log.Info().Msg(v.Name)
	studies, _, err := s.studies(c, nil)
	if err != nil {
		return err
	}
	row, n := experiment.Summary(studies)[0], float64(len(studies))
	v.Columns, v.Errors, v.Recovers = studies[0].Columns(), row.Errors, row.Turns
	for _, study := range studies {
		v.Knows += study.Latents.KNN / n
		v.Wind += study.Latents.WindError / n
		for _, o := range study.OpenLoop {
			v.Open += o.Mean / n / float64(len(study.OpenLoop))
		}
		v.openBy(study, n)
		for _, r := range study.Rounds {
			v.Fit += r.Seconds[continual.Fitting] / n / float64(len(study.Rounds))
			v.Improve += r.Seconds[continual.Improving] / n / float64(len(study.Rounds))
			if r.Verdict.Pass {
				v.Promoted++
			}
		}
	}
	return nil
}

// openBy adds the errors of predictions by task.
func (v *variant) openBy(study *experiment.Study, seeds float64) {
	if v.OpenBy == nil {
		v.OpenBy = map[string]float64{}
	}
	windows := map[string]float64{}
	for _, o := range study.OpenLoop {
		windows[o.Task]++
	}
	for _, o := range study.OpenLoop {
		v.OpenBy[o.Task] += o.Mean / seeds / windows[o.Task]
	}
}

// crashBar is the bar of a variant that crashed, m.
const crashBar = 1

// draw makes the bars of the errors over all conditions.
func (a *ablationResult) draw(w io.Writer) error {
	var names []string
	series := map[string][]float64{}
	var order []string
	for _, v := range a.Variants {
		names = append(names, v.Name)
		for _, column := range v.Columns {
			if !strings.HasSuffix(column, ", all") {
				continue
			}
			if _, ok := series[column]; !ok {
				order = append(order, column)
			}
			series[column] = append(series[column], min(v.Errors[column], crashBar))
		}
	}
	var bars []plot.Series
	for _, column := range order {
		bars = append(bars, plot.Series{Name: column, Values: series[column]})
	}
	return plot.Bars(w, "Mean position error after learning, m", names, bars)
}

// WriteText implements result.
func (a *ablationResult) WriteText(w io.Writer) error {
	var b strings.Builder
	columns := a.Variants[0].Columns
	fmt.Fprintf(&b, "| variant |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c)
	}
	tasks := slices.Sorted(maps.Keys(a.Variants[0].OpenBy))
	fmt.Fprintf(&b, " T_rec, s | wind by z | acceleration off, m/s² |")
	for _, task := range tasks {
		fmt.Fprintf(&b, " %s, open loop 1 s, m |", task)
	}
	fmt.Fprintf(&b, " fit, s | improve, s | promoted |\n|---|%s\n",
		strings.Repeat("---|", len(columns)+len(tasks)+6))
	for _, v := range a.Variants {
		fmt.Fprintf(&b, "| %s |", v.Name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", metres(v.Errors[c]))
		}
		recovers := "–"
		if v.Recovers != nil {
			recovers = within(v.Recovers.Wide)
		}
		fmt.Fprintf(&b, " %s | %.1f %% | %s |", recovers, 100*v.Knows, within(v.Wind))
		for _, task := range tasks {
			fmt.Fprintf(&b, " %.4f |", v.OpenBy[task])
		}
		fmt.Fprintf(&b, " %.1f | %.1f | %d |\n", v.Fit, v.Improve, v.Promoted)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
