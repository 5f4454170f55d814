package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd/bundle"
)

type studyCommand struct {
	Preset  string   `placeholder:"NAME" help:"A whole study by name, in place of --world: paper, budgets."`
	World   string   `placeholder:"W.yaml" help:"World whose conditions are met while learning, and measured in."`
	Turning []string `placeholder:"W.yaml,…" help:"Worlds with a schedule: recovery after switches is measured there."`
	Turns   bool     `default:"true" negatable:"" help:"Learn from flights in the turning world, too."`
	Unseen  []string `placeholder:"W.yaml,…" help:"Worlds whose conditions are measured in and never learned from."`
	Out     string   `required:"" placeholder:"DIR" help:"Folder for results and pictures."`
	Task    string   `default:"hover,track" placeholder:"TASK" help:"hover, track, land or several; or features."`
	Bundle  string   `placeholder:"BUNDLE" help:"Begin with this policy; else one is trained for each seed."`
	Methods string   `placeholder:"NAMES" help:"Who is measured, with commas between: law, recent, l1, indi, nmpc, l1nmpc, neuralfly, raptor, base, residual, single, refit, datt, rma, oracle, first, ours, there. The default is all."`
	Old     string   `name:"pilots" hidden:"" help:"Old name of --methods."`
	Rounds  int      `default:"3" help:"Rounds of flying and learning."`
	Seconds float64  `default:"20" help:"Length of a flight to learn from, in each condition and task."`
	Seeds   []uint64 `default:"1,2,3" help:"Seeds, with commas between."`
	learnFlags
	externalFlags
	tableFlags
}

// studyResult is what `vnd study` came to.
type studyResult struct {
	Studies  []*experiment.Study `json:"studies"`
	Files    []string            `json:"files"`
	Warnings []string            `json:"warnings"`
}

// Run implements `vnd study`.
func (s *studyCommand) Run(c *console) error {
	if s.Preset != "" {
		return s.runPreset(c)
	}
	out, err := s.study(c)
	if out == nil {
		return err
	}
	out.Warnings = c.warnings
	return errors.Join(c.show(out), err)
}

// study makes one. Where a seed fails it returns the seeds before, nil without any.
func (s *studyCommand) study(c *console) (*studyResult, error) {
	if s.Old != "" && s.Methods != "" {
		return nil, errors.New("--pilots is the old name of --methods, which is given, too")
	}
	if s.Old != "" {
		c.warn("--pilots is now --methods; the old name goes with the next version")
		s.Methods = s.Old
	}
	out := &studyResult{}
	var err error
	out.Studies, out.Files, err = s.studies(c,
		func(study *experiment.Study, plan *experiment.Plan, p *experiment.Campaign) ([]string, error) {
			if study.Bundle == nil {
				return nil, nil
			}
			name := fmt.Sprintf("seed%d.safetensors", p.Seed)
			err := bundle.Write(filepath.Join(s.Out, name), study.Bundle)
			if err != nil || p.Seed != s.Seeds[0] || plan.Table != nil {
				return nil, err
			}
			return s.draw(study, plan, p)
		})
	if len(out.Studies) == 0 {
		return nil, err
	}
	if s.Air != "" {
		file, saved := s.saveTable(out.Studies)
		if saved != nil {
			return out, errors.Join(err, saved)
		}
		out.Files = append(out.Files, file)
	}
	return out, err
}

// MarshalJSON writes the keys of before beside their new names, for one version.
func (s *studyResult) MarshalJSON() ([]byte, error) {
	type fields studyResult
	data, err := json.Marshal((*fields)(s))
	if err != nil {
		return nil, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	addKeys(tree, map[string]string{"methods": "pilots", "method": "pilot", "scenario": "field"})
	return json.Marshal(tree)
}

// addKeys gives every value below tree whose key has an old name that name, too.
func addKeys(tree any, old map[string]string) {
	switch x := tree.(type) {
	case []any:
		for _, v := range x {
			addKeys(v, old)
		}
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(x)) {
			addKeys(x[key], old)
			if name := old[key]; name != "" {
				x[name] = x[key]
			}
		}
	}
}

// studies makes the study of each seed; done, which may be nil, takes each as it ends and returns the files that it
// wrote. An error comes with the seeds before it.
func (s *studyCommand) studies(c *console, done func(*experiment.Study, *experiment.Plan,
	*experiment.Campaign) ([]string, error)) (all []*experiment.Study, files []string, err error) {
	cfg, err := settings[experiment.Config](loopNode, s.Config, s.Param)
	if err != nil {
		return nil, nil, err
	}
	plan, err := s.plan()
	if err != nil {
		return nil, nil, err
	}
	external, err := s.maker()
	if err != nil {
		return nil, nil, err
	}
	if err := s.ready(external, slices.Concat(plan.Scenarios, plan.Turning, plan.Unseen)...); err != nil {
		return nil, nil, err
	}
	if done != nil {
		if err := os.MkdirAll(s.Out, 0o777); err != nil {
			return nil, nil, err
		}
	}
	for _, seed := range s.Seeds {
		p, err := enlist(cfg, s.Airframe, s.Task, seed)
		if err != nil {
			return all, files, err
		}
		p.External = external
		if err := s.respond(c, p, plan.Scenarios...); err != nil {
			return all, files, fmt.Errorf("seed %d: %w", seed, err)
		}
		if plan.Table != nil && s.Learn {
			if err := learnReferences(p, plan.Table); err != nil {
				return all, files, err
			}
		}
		plan.Report = func(phase string) { c.log.Info().Msg(fmt.Sprintf("seed %d: %s", seed, phase)) }
		study, err := p.Run(c.ctx, plan)
		if err != nil {
			return all, files, fmt.Errorf("seed %d: %w", seed, err)
		}
		all = append(all, study)
		if done != nil {
			wrote, err := done(study, plan, p)
			if err != nil {
				return all, files, err
			}
			files = append(files, wrote...)
		}
	}
	return all, files, nil
}

// plan reads the worlds.
func (s *studyCommand) plan() (*experiment.Plan, error) {
	if s.Rounds < 1 || !(s.Seconds >= 8) || len(s.Seeds) == 0 {
		return nil, errors.New("--rounds, --seconds and --seeds: expected at least one round, flights of 8 s, and " +
			"a seed")
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	if s.World == "" {
		return nil, errors.New("--world: expected a world, or a whole study by --preset")
	}
	p := &experiment.Plan{Rounds: s.Rounds, Seconds: s.Seconds, Turns: s.Turns, Table: table}
	if s.Methods != "" {
		p.Methods = strings.Split(s.Methods, ",")
		for _, name := range p.Methods {
			if !slices.Contains(experiment.Methods, name) {
				return nil, fmt.Errorf("--methods: %q is none of %s", name, strings.Join(experiment.Methods, ", "))
			}
		}
	}
	for _, w := range []struct {
		flag      string
		files     []string
		scheduled bool
		to        *[]experiment.Scenario
	}{{"--world", []string{s.World}, false, &p.Scenarios}, {"--turning", s.Turning, true, &p.Turning},
		{"--unseen", s.Unseen, false, &p.Unseen}} {
		for _, file := range w.files {
			scenarios, err := scheduled(w.flag, file, w.scheduled)
			if err != nil {
				return nil, err
			}
			*w.to = append(*w.to, scenarios...)
		}
	}
	if s.Bundle != "" {
		var err error
		p.Start, _, err = readPolicy(s.Bundle, strings.Split(s.Task, ",")[0])
		return p, err
	}
	return p, nil
}

// draw makes the pictures of a seed.
func (s *studyCommand) draw(study *experiment.Study, plan *experiment.Plan, p *experiment.Campaign) (files []string,
	err error) {
	last := p.Tasks[len(p.Tasks)-1]
	write := func(name string, draw func(w io.Writer) error) {
		file := filepath.Join(s.Out, name)
		if err = cmp.Or(err, atomicfile.WriteFile(file, draw)); err == nil {
			files = append(files, file)
		}
	}
	groups := make([]plot.LatentGroup, len(study.Latents.Groups))
	for i, g := range study.Latents.Groups {
		groups[i] = plot.LatentGroup{Name: plan.Scenarios[i].Label(), Latents: g}
	}
	write("latents.png", func(w io.Writer) error {
		return plot.LatentPlane(w, "Latents of flights that were not learned from", groups)
	})
	write("accelerations.png", func(w io.Writer) error {
		title := "What latents do to a robot that hovers, and the true winds"
		return plot.Accelerations(w, title, study.Latents.Sampled, study.Latents.Encoded, plan.Winds())
	})
	for i := range study.Curves {
		write(fmt.Sprintf("training%d.png", i+1), func(w io.Writer) error {
			return plot.TrainingCurve(w, fmt.Sprintf("Training of the policy in round %d", i+1),
				curve(&study.Curves[i]))
		})
	}
	scenario := plan.Scenarios[len(plan.Scenarios)-1].Label()
	scenarios := append([]string{scenario}, labels(plan.Turning)...)
	for _, label := range scenarios {
		var flights []plot.Flown
		var marks []float64
		for _, m := range study.Methods {
			if !slices.Contains(drawnMethods, m.Method) {
				continue
			}
			for _, t := range m.Traces {
				if t.Task == last.Name && t.Scenario == label {
					flights = append(flights, drawnFlight(m.Name, t.Trace))
				}
			}
			for _, turn := range m.Turns {
				if turn.Task == last.Name && label != scenario && !slices.Contains(marks, turn.Time) {
					marks = append(marks, turn.Time)
				}
			}
		}
		if len(flights) == 0 {
			continue
		}
		write(strings.ReplaceAll(label, " ", "_")+".png", func(w io.Writer) error {
			return plot.Flights(w, last.Name+" in "+label, drawnPath(last.Path), flights, marks)
		})
	}
	return files, err
}

// drawnMethods are those of the pictures: more could not be told apart.
var drawnMethods = []string{experiment.MethodBase, experiment.MethodRefit, experiment.MethodOracle,
	experiment.MethodOurs}

func labels(scenarios []experiment.Scenario) (out []string) {
	for i := range scenarios {
		out = append(out, scenarios[i].Label())
	}
	return out
}

// WriteText implements result: a table over the seeds, then each seed's model and rounds.
func (s *studyResult) WriteText(w io.Writer) error {
	var b strings.Builder
	writeLeftOut(&b, s.Studies[0])
	if len(s.Studies[0].Methods[0].Cells) > 0 {
		writeTable(&b, experiment.Tabulate(s.Studies), fmt.Sprintf("%d seeds", len(s.Studies)))
		_, err := io.WriteString(w, b.String())
		return err
	}
	columns := s.Studies[0].Columns()
	rows := experiment.Summary(s.Studies)
	fmt.Fprintf(&b, "Mean position error, m; median of %d seeds.\n\n| method |", len(s.Studies))
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c)
	}
	fmt.Fprintf(&b, " crashes | learned in, s |\n|---|%s\n", strings.Repeat("---|", len(columns)+2))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.Name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", metres(r.Errors[c]))
		}
		fmt.Fprintf(&b, " %d | %.1f |\n", r.Crashes, r.Learned)
	}
	writeLandings(&b, rows)
	turns := func(r experiment.MethodRow) *experiment.Turns { return r.Turns }
	writeTurns(&b, rows, "turned about", turns)
	quarter := func(r experiment.MethodRow) *experiment.Turns { return r.Quarter }
	writeTurns(&b, rows, "turned by a quarter", quarter)
	writeReturns(&b, rows)
	for _, study := range s.Studies {
		writeSeed(&b, study)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeLandings writes how many landings of all seeds were good, where there were any.
func writeLandings(b *strings.Builder, rows []experiment.MethodRow) {
	if !slices.ContainsFunc(rows, func(r experiment.MethodRow) bool { return r.Landings > 0 }) {
		return
	}
	fmt.Fprintf(b, "\nLandings; their error above is the level distance from the place.\n\n| method | landed | of |\n"+
		"|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %d | %d |\n", r.Name, r.Landed, r.Landings)
	}
}

// metres writes an error for a table.
func metres(e float64) string {
	if e == math.MaxFloat64 {
		return "crash"
	}
	return fmt.Sprintf("%.4f", e)
}

// within writes a recovery time, or what else may not be there, for a table.
func within(t float64) string {
	if t > 1e6 {
		return "–"
	}
	return fmt.Sprintf("%.2f", t)
}

func writeSeed(b *strings.Builder, study *experiment.Study) {
	if len(study.Rounds) == 0 {
		return
	}
	l := &study.Latents
	fmt.Fprintf(b, "\nSeed %d: wind by the %d nearest latents %.1f %% of %d windows; accelerations of unseen "+
		"windows off by %s m/s²; of samples, 5 to 99 %%: %.2f m/s²\n  %s\n",
		study.Seed, l.Neigh, 100*l.KNN, l.Windows, within(l.WindError), l.Quantiles, l.Samples)
	for _, task := range []string{"hover", "track", "land"} {
		mean, worst, n, in := 0., 0., 0., ""
		for _, o := range study.OpenLoop {
			if o.Task == task {
				mean, n = mean+o.Mean, n+1
				if o.Mean > worst {
					worst, in = o.Mean, o.Scenario
				}
			}
		}
		if n > 0 {
			fmt.Fprintf(b, "  %s, open loop after 1 s: mean %.4f m, worst %.4f m (%s)\n", task, mean/n, worst, in)
		}
	}
	for _, r := range study.Rounds {
		fmt.Fprintf(b, "  round %d: %d rows, %.1f s (fit %.1f, improve %.1f, gate %.1f), %s%s\n", r.Number, r.Rows,
			r.Total, r.Seconds["fit"], r.Seconds["improve"],
			r.Seconds["gate"], map[bool]string{true: "promoted", false: "refused: "}[r.Verdict.Pass],
			strings.Join(r.Refused, "; "))
	}
}
