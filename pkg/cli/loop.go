package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/task"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd/bundle"
)

// loopNode is the node name of the loop's block in a parameter file.
const loopNode = "loop"

// learnFlags set the continual loop and the robot.
type learnFlags struct {
	Config   string   `placeholder:"F.yaml" help:"Parameter file, node name \"loop\" (see params/loop.yaml)."`
	Param    []string `short:"p" sep:"none" placeholder:"NAME:=VALUE" help:"Set one parameter, after the file's; may be repeated."`
	Airframe string   `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
}

type loopCommand struct {
	World   string  `required:"" placeholder:"W.yaml" help:"World of the full simulator, hidden from the learner. One with a schedule is flown by it, any other in each of its conditions."`
	Out     string  `required:"" placeholder:"DIR" help:"Folder for the bundles and the pictures."`
	Task    string  `default:"hover,track" placeholder:"TASK" help:"hover, track, land or several; or features."`
	Bundle  string  `placeholder:"BUNDLE" help:"Begin with this policy; else one is trained in the nominal simulator."`
	Rounds  int     `default:"3" help:"Rounds of flying and learning."`
	Seconds float64 `default:"20" help:"Length of a flight in each condition and task."`
	learnFlags
	externalFlags
	Seed uint64 `default:"1" help:"Seed of all randomness."`
}

// loopResult is what `vnd loop` came to.
type loopResult struct {
	Bundle   string      `json:"bundle"` // file of the last one promoted
	ID       string      `json:"id"`
	World    string      `json:"world"`
	Base     float64     `json:"base_s"` // training of the base policy
	Flown    []flownRow  `json:"flown"`  // before the first round, and after each
	Rounds   []loopRound `json:"rounds"`
	Files    []string    `json:"files"`
	Seed     uint64      `json:"seed"`
	Warnings []string    `json:"warnings"`
}

// flownRow is the flight of a bundle in a task and condition.
type flownRow struct {
	Round      int                   `json:"round"`
	Bundle     string                `json:"bundle"`
	Task       string                `json:"task"`
	Condition  string                `json:"condition"` // empty: as scheduled
	Figures    closedloop.Figures    `json:"figures"`
	Recoveries []closedloop.Recovery `json:"recoveries,omitempty"`
	Landings   *closedloop.Landings  `json:"landings,omitempty"` // the error is then where they ended, level
}

// loopRound is one round of learning.
type loopRound struct {
	*continual.Round
	Total float64 `json:"total_s"`
}

// Run implements `vnd loop`.
func (l *loopCommand) Run(c *console) error {
	cfg, err := settings[experiment.Config](loopNode, l.Config, l.Param)
	if err != nil {
		return err
	}
	if l.Rounds < 1 || !(l.Seconds >= 8) {
		return errors.New("--rounds and --seconds: expected at least one round, and flights of 8 s: half of them " +
			"is measured")
	}
	if err := os.MkdirAll(l.Out, 0o777); err != nil {
		return err
	}
	p, err := l.prepare(c, cfg)
	if err != nil {
		return err
	}
	out := &loopResult{World: l.World, Base: p.base, Seed: l.Seed}
	if err := p.run(c, out); err != nil {
		return err
	}
	out.Warnings = c.warnings
	return c.show(out)
}

// loop is the loop at work.
type loop struct {
	*loopCommand
	*experiment.Campaign
	scenarios []experiment.Scenario
	start     *bundle.Bundle
	base      float64 // s
	shown     []plot.Flown
	marks     []float64
}

func (l *loopCommand) prepare(c *console, cfg *experiment.Config) (*loop, error) {
	p := &loop{loopCommand: l}
	var err error
	if p.Campaign, err = enlist(cfg, l.Airframe, l.Task, l.Seed); err != nil {
		return nil, err
	}
	if p.External, err = l.maker(); err != nil {
		return nil, err
	}
	if p.scenarios, err = experiment.Scenarios(l.World); err != nil {
		return nil, err
	}
	if err = l.ready(p.External, p.scenarios...); err != nil {
		return nil, err
	}
	if err = l.respond(c, p.Campaign, p.scenarios...); err != nil {
		return nil, err
	}
	p.start, err = p.first(c)
	return p, err
}

// enlist makes a campaign of its tasks, by their names.
func enlist(cfg *experiment.Config, frameFile, names string, seed uint64) (*experiment.Campaign, error) {
	frame, err := airframe.Load(frameFile)
	if err != nil {
		return nil, err
	}
	each, err := task.Split(names)
	if err != nil {
		return nil, fmt.Errorf("--task: %w", err)
	}
	continual.Respond(&cfg.Nominal, &frame.Response)
	p := &experiment.Campaign{Config: *cfg, Limits: frame.Limits, Rotors: frame.Rotors, Seed: seed,
		Maker: "vnd " + version()}
	if frameFile != "" {
		p.Guard = experiment.Unbounded(frame.Guard)
	}
	for _, name := range each {
		path, err := frame.Reference(name, "")
		if err == nil && path == nil { // each flight has its own
			path, err = reference.OfTask(name)
		}
		if err != nil {
			return nil, err
		}
		if err := p.AddTask(name, path); err != nil {
			return nil, fmt.Errorf("--task: %w", err)
		}
	}
	return p, nil
}

// first reads or trains the bundle that the loop begins with.
func (p *loop) first(c *console) (*bundle.Bundle, error) {
	if p.Bundle != "" {
		b, _, err := readPolicy(p.Bundle, p.Tasks[0].Name)
		return b, err
	}
	began := time.Now()
	bar := c.newBar("base policy")
	b, err := p.BasePolicy(c.ctx, bar.showTraining)
	bar.done()
	if err != nil {
		return nil, err
	}
	p.base = time.Since(began).Seconds()
	return b, p.write(b, "base")
}

// write puts a bundle into the folder.
func (p *loop) write(b *bundle.Bundle, name string) error {
	return bundle.Write(filepath.Join(p.Out, name+".safetensors"), b)
}

// run flies and learns in turns.
func (p *loop) run(c *console, out *loopResult) error {
	id, began, bar := "base", time.Time{}, bar{}
	last, err := p.Learn(c.ctx, p.start, &experiment.Rounds{Scenarios: p.scenarios, Rounds: p.Rounds,
		Seconds: p.Seconds,
		Flown: func(round int, current *bundle.Bundle, flights []experiment.Recorded) error {
			p.flown(round, current, flights, out)
			if round < p.Rounds {
				began, bar = time.Now(), c.newBar("learn")
			}
			return nil
		},
		Learned: func(r *continual.Round) error {
			bar.done()
			out.Rounds = append(out.Rounds, loopRound{r, time.Since(began).Seconds()})
			name := fmt.Sprintf("round%d", r.Number)
			if r.Verdict.Pass {
				id = name
			} else {
				name += "-refused"
				for _, reason := range r.Verdict.Reasons() {
					c.warn(fmt.Sprintf("round %d: refused: %s", r.Number, reason))
				}
			}
			return p.write(r.Candidate, name)
		}})
	if err != nil {
		bar.done()
		return err
	}
	out.Bundle, out.ID = filepath.Join(p.Out, id+".safetensors"), last.ID
	return p.draw(out)
}

// flown keeps the figures of what the current bundle flew in every task and condition.
func (p *loop) flown(round int, current *bundle.Bundle, flights []experiment.Recorded, out *loopResult) {
	for _, flight := range flights {
		f := &p.scenarios[flight.At]
		row := flownRow{Round: round, Bundle: current.ID, Task: flight.Task, Condition: f.Condition}
		settle := max(p.Seconds, f.Seconds) / 2
		if f.Seconds > 0 {
			settle = 4
			row.Recoveries = flight.Trace.Recoveries(experiment.Steady)
		}
		if row.Figures = flight.Trace.Measure(settle); flight.Lands != nil {
			var l closedloop.Landings
			row.Figures, l = closedloop.MeasureLandings(flight.Lands)
			row.Recoveries, row.Landings = nil, &l
		}
		out.Flown = append(out.Flown, row)
		p.show(round, flight.Task, flight.At, f, flight.Trace)
	}
}

// show keeps the first and the last round's flights of the last task and
// condition for the picture: that is the strongest wind, or the whole schedule.
func (p *loop) show(round int, task string, at int, f *experiment.Scenario, t *closedloop.Trace) {
	if task != p.Tasks[len(p.Tasks)-1].Name || at != len(p.scenarios)-1 || round > 0 && round < p.Rounds {
		return
	}
	drawn := drawnFlight(f.Label(), t)
	drawn.Name = "before"
	if round > 0 {
		drawn.Name = fmt.Sprintf("after %d rounds", round)
		for _, s := range t.Recoveries(experiment.Steady) {
			p.marks = append(p.marks, s.Time)
		}
	}
	p.shown = append(p.shown, drawn)
}

func (p *loop) draw(out *loopResult) error {
	d, f := p.Tasks[len(p.Tasks)-1], p.scenarios[len(p.scenarios)-1]
	drawn := drawnPath(d.Path)
	file := filepath.Join(p.Out, "flights.png")
	title := fmt.Sprintf("%s in %s", d.Name, f.Label())
	out.Files = append(out.Files, file)
	return atomicfile.WriteFile(file, func(w io.Writer) error {
		return plot.Flights(w, title, drawn, p.shown,
			p.marks)
	})
}

// WriteText implements result: a line for each round and task, over the conditions.
func (l *loopResult) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "after round\tbundle\ttask\tconditions\tmean m\tbest m\tworst m\tin\tcrashes\tlanded\t")
	for lo := 0; lo < len(l.Flown); lo++ {
		first := &l.Flown[lo]
		if slices.ContainsFunc(l.Flown[:lo], func(r flownRow) bool {
			return r.Round == first.Round &&
				r.Task == first.Task
		}) {
			continue
		}
		s := summarise(l.Flown[lo:], first.Round, first.Task)
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%.4f\t%.4f\t%.4f\t%s\t%d\t%s\t\n", first.Round, first.Bundle, first.Task, s.n,
			s.mean, s.best, s.worst, s.in, s.crashes, s.landings())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range l.Flown {
		for _, s := range r.Recoveries {
			if err := writeRecovery(w, fmt.Sprintf("after round %d, %s", r.Round, r.Task), &s); err != nil {
				return err
			}
		}
	}
	for _, r := range l.Rounds {
		verdict := "promoted"
		if !r.Verdict.Pass {
			verdict = "refused"
		}
		fmt.Fprintf(w, "round %d: %d rows, fit %.1f s, improve %.1f s, gate %.1f s; bundle %s %s\n", r.Number, r.Rows,
			r.Seconds[continual.Fitting],
			r.Seconds[continual.Improving], r.Seconds[continual.Gating], r.ID, verdict)
	}
	_, err := fmt.Fprintf(w, "last bundle %s\n", l.Bundle)
	return err
}

// afterwards writes a recovery time; one that never came in words.
func afterwards(t float64) string {
	if t == math.MaxFloat64 {
		return "more time than there was"
	}
	return fmt.Sprintf("%.2f s", t)
}

// summary of a round's flights of a task.
type summary struct {
	n, crashes        int
	landed, lands     int // of the landings
	mean, best, worst float64
	in                string // the worst condition
}

func summarise(rows []flownRow, round int, task string) (s summary) {
	s.best = math.Inf(1)
	for _, r := range rows {
		if r.Round != round || r.Task != task {
			continue
		}
		s.n++
		s.mean += r.Figures.Mean
		s.best = min(s.best, r.Figures.Mean)
		if r.Figures.Mean >= s.worst {
			s.worst, s.in = r.Figures.Mean, r.Condition
		}
		if r.Figures.Crash != "" {
			s.crashes++
		}
		if l := r.Landings; l != nil {
			s.landed, s.lands = s.landed+l.Landed, s.lands+l.Flights
		}
	}
	s.mean /= float64(s.n)
	return s
}

// landings are those of landings, in words.
func (s *summary) landings() string {
	if s.lands == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", s.landed, s.lands)
}
