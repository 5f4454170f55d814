package tool

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"vnd/pkg/arena"
	"vnd/pkg/durable"
	"vnd/pkg/gate"
	"vnd/pkg/learn"
	"vnd/pkg/learned"
	"vnd/pkg/param"
	"vnd/pkg/policy"
	"vnd/pkg/quad"
	"vnd/pkg/reference"
	"vnd/pkg/sim"
	"vnd/pkg/snapshot"
	"vnd/pkg/so3"
	"vnd/pkg/task"
	"vnd/pkg/train"
	"vnd/pkg/view"
)

// loopNode is the node name of the loop's block in a parameter file.
const loopNode = "loop"

// loopConfig is all of the loop in simulation.
type loopConfig struct {
	Cost    string        `param:"cost" default:"stiff" enum:"stiff,paper,custom" doc:"cost of the tasks"`
	Weights task.Cost     `param:"weights" doc:"weights of the custom cost"`
	Spread  task.Spread   `param:"spread" doc:"where episodes begin"`
	Nominal train.Nominal `param:"nominal" doc:"the simulator of the base policy"`
	Base    train.Config  `param:"base" doc:"training of the base policy"`
	Excite  float64       `param:"excite" default:"0.1" min:"0" max:"10" doc:"noise on the commands of flights to learn from, m/s² and rad/s"`
	Judge   judgeConfig   `param:"judge" doc:"flights of the gate in the full simulator, under disturbances drawn at random"`
	learn.Config
}

type judgeConfig struct {
	Seconds float64 `param:"seconds" default:"8.0" min:"1" max:"600" unit:"s" doc:"length of a flight"`
	Wind    float64 `param:"wind" default:"4.0" min:"0" max:"30" unit:"m/s²" doc:"greatest wind"`
	Start   float64 `param:"start" default:"0.1" min:"0" max:"3" unit:"m" doc:"spread of the starts"`
}

type loopCommand struct {
	World    string   `required:"" placeholder:"W.yaml" help:"World of the full simulator, hidden from the learner. One with a schedule is flown by it, any other in each of its conditions."`
	Out      string   `required:"" placeholder:"DIR" help:"Folder for the bundles and the pictures."`
	Task     string   `default:"hover,track" placeholder:"TASK" help:"hover, track, or both with a comma between."`
	Bundle   string   `placeholder:"BUNDLE" help:"Begin with this policy; else one is trained in the nominal simulator."`
	Rounds   int      `default:"3" help:"Rounds of flying and learning."`
	Seconds  float64  `default:"20" help:"Length of a flight in each condition and task."`
	Config   string   `placeholder:"F.yaml" help:"Parameter file, node name \"loop\" (see params/loop.yaml)."`
	Param    []string `short:"p" sep:"none" placeholder:"NAME:=VALUE" help:"Set one parameter, after the file's; may be repeated."`
	Airframe string   `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
	Seed     uint64   `default:"1" help:"Seed of all randomness."`
}

// looped is what `vnd loop` came to.
type looped struct {
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
	Round      int              `json:"round"`
	Bundle     string           `json:"bundle"`
	Task       string           `json:"task"`
	Condition  string           `json:"condition"` // empty: as scheduled
	Figures    arena.Figures    `json:"figures"`
	Recoveries []arena.Recovery `json:"recoveries,omitempty"`
}

// loopRound is one round of learning.
type loopRound struct {
	*learn.Round
	Total float64 `json:"total_s"`
}

// Run implements `vnd loop`.
func (l *loopCommand) Run(c *console) error {
	cfg, err := settings[loopConfig](loopNode, l.Config, l.Param)
	if err != nil {
		return err
	}
	if l.Rounds < 1 || !(l.Seconds >= 8) {
		return errors.New("--rounds and --seconds: expected at least one round, and flights of 8 s: half of them is measured")
	}
	if err := os.MkdirAll(l.Out, 0o777); err != nil {
		return err
	}
	p, err := l.prepare(c, cfg)
	if err != nil {
		return err
	}
	out := &looped{World: l.World, Base: p.base, Seed: l.Seed}
	if err := p.run(c, out); err != nil {
		return err
	}
	out.Warnings = c.warnings
	return c.show(out)
}

// loop is the loop at work.
type loop struct {
	*loopCommand
	cfg     *loopConfig
	frame   Airframe
	worlds  []flownWorld
	names   []string // of the tasks
	paths   map[string]reference.Reference
	learner *learn.Learner
	start   *snapshot.Bundle
	base    float64 // s
	shown   []view.Flown
	marks   []float64
}

func (l *loopCommand) prepare(c *console, cfg *loopConfig) (*loop, error) {
	p := &loop{loopCommand: l, cfg: cfg, paths: map[string]reference.Reference{}}
	var err error
	if p.frame, err = airframe(l.Airframe); err != nil {
		return nil, err
	}
	if p.worlds, err = conditions(l.World); err != nil {
		return nil, err
	}
	if p.names, err = task.Split(l.Task); err != nil {
		return nil, fmt.Errorf("--task: %w", err)
	}
	var tasks []*task.Task
	var paths []reference.Reference
	for _, name := range p.names {
		k, path, err := p.task(name)
		if err != nil {
			return nil, err
		}
		p.paths[name] = path
		tasks, paths = append(tasks, k), append(paths, path)
	}
	if p.start, err = p.first(c, tasks); err != nil {
		return nil, err
	}
	calm := sim.Default()
	judge := &arena.Judge{World: calm, Paths: paths, Limits: p.frame.Limits, Seconds: cfg.Judge.Seconds, Wind: cfg.Judge.Wind, Start: cfg.Judge.Start}
	p.learner, err = learn.New(cfg.Config, p.start, learn.Options{Tasks: tasks, Task: l.Task, Seed: l.Seed, Judge: judge,
		Vehicle: gate.Vehicle{Robot: learned.Robot, Limits: p.frame.Limits}})
	return p, err
}

// task makes a task and its reference.
func (p *loop) task(name string) (*task.Task, reference.Reference, error) {
	if name != task.Hover && name != task.Track {
		return nil, nil, fmt.Errorf("--task %s: the loop flies %s and %s", name, task.Hover, task.Track)
	}
	path, err := p.frame.path(name, "")
	if err != nil {
		return nil, nil, err
	}
	cost := p.cfg.Weights
	if p.cfg.Cost != "custom" {
		if cost, err = task.CostOf(p.cfg.Cost, name); err != nil {
			return nil, nil, err
		}
	}
	k, err := task.New(name, cost, p.cfg.Spread, path)
	return k, path, err
}

// first reads or trains the bundle that the loop begins with.
func (p *loop) first(c *console, tasks []*task.Task) (*snapshot.Bundle, error) {
	if p.Bundle != "" {
		b, _, err := readPolicy(p.Bundle, p.names[0])
		return b, err
	}
	began := time.Now()
	w := &train.NominalWorld[float32]{Nominal: p.cfg.Nominal}
	trials := &train.Trials{World: w, Tasks: tasks, Dt: p.cfg.Nominal.Dt, Flights: 16, Steps: 200, Seed: p.Seed}
	bar := c.newBar("base policy")
	r, err := train.Run(c.ctx, p.cfg.Base, w, p.cfg.Nominal.Dt, train.Options{Seed: p.Seed, Tasks: tasks, Limits: p.frame.Limits, Fly: trials.Fly,
		Progress: bar.tellTraining(began)})
	bar.done()
	if err != nil {
		return nil, err
	}
	p.base = time.Since(began).Seconds()
	b := &snapshot.Bundle{Robot: learned.Robot, Dt: p.cfg.Nominal.Dt, CreatedBy: "vnd " + version()}
	if err := policy.Put(b, r.Policy, p.Task); err != nil {
		return nil, err
	}
	return b, p.write(b, "base")
}

// write puts a bundle into the folder.
func (p *loop) write(b *snapshot.Bundle, name string) error {
	return snapshot.Write(filepath.Join(p.Out, name+".safetensors"), b)
}

// run flies and learns in turns.
func (p *loop) run(c *console, out *looped) error {
	bundle := "base"
	for round := range p.Rounds + 1 {
		flights, err := p.fly(c, round, out)
		if err != nil {
			return err
		}
		if round == p.Rounds {
			break
		}
		p.learner.Collect(flights...)
		began := time.Now()
		bar := c.newBar("learn")
		r, err := p.learner.Round(c.ctx)
		bar.done()
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		out.Rounds = append(out.Rounds, loopRound{r, time.Since(began).Seconds()})
		name := fmt.Sprintf("round%d", round+1)
		if r.Verdict.Pass {
			bundle = name
		} else {
			name += "-refused"
			for _, reason := range r.Verdict.Reasons() {
				c.warn(fmt.Sprintf("round %d: refused: %s", round+1, reason))
			}
		}
		if err := p.write(r.Candidate, name); err != nil {
			return err
		}
	}
	out.Bundle, out.ID = filepath.Join(p.Out, bundle+".safetensors"), p.learner.Current().ID
	return p.draw(out)
}

// fly flies the current bundle in every task and condition, and returns what was
// recorded.
func (p *loop) fly(c *console, round int, out *looped) ([]quad.Flight, error) {
	var flights []quad.Flight
	b := p.learner.Current()
	for i, w := range p.worlds {
		for k, name := range p.names {
			if err := c.ctx.Err(); err != nil {
				return nil, err
			}
			seed := p.Seed<<20 + uint64(round)<<12 + uint64(i)<<4 + uint64(k)
			trace, rows, err := p.flight(b, w, name, seed)
			if err != nil {
				return nil, err
			}
			settle := max(p.Seconds, w.seconds) / 2
			if w.seconds > 0 {
				settle = 4
			}
			row := flownRow{Round: round, Bundle: b.ID, Task: name, Condition: w.condition, Figures: trace.Measure(settle)}
			if w.seconds > 0 {
				row.Recoveries = trace.Recoveries(steady)
			}
			out.Flown = append(out.Flown, row)
			flights = append(flights, quad.Flight{Name: fmt.Sprintf("round%d %s %s", round, name, w.condition), Segments: segments(rows, b.Dt)})
			p.show(round, name, i, w, trace)
		}
	}
	return flights, nil
}

// flight flies once.
func (p *loop) flight(b *snapshot.Bundle, w flownWorld, name string, seed uint64) (*arena.Trace, []quad.Step, error) {
	pilot, err := policy.NewFlyer(b, p.paths[name].At)
	if err != nil {
		return nil, nil, err
	}
	s := &arena.Setup{World: w.World, Seed: seed, Path: p.paths[name], Seconds: max(p.Seconds, w.seconds), Tick: b.Dt, Limits: p.frame.Limits}
	param.Default(&s.Estimate)
	rec := &recording{Flyer: pilot, rng: rand.New(rand.NewPCG(seed, 0xe0c1)), sigma: p.cfg.Excite}
	trace, err := arena.Fly(s, rec)
	return trace, rec.rows, err
}

// recording flies a policy with some noise on its commands, and keeps the steps.
type recording struct {
	*policy.Flyer
	rng   *rand.Rand
	sigma float64
	noise quad.Command
	rows  []quad.Step
}

// Command implements quad.Controller. The noise is correlated over a tenth of a
// second, so that it moves the robot.
func (r *recording) Command(t float64, s *quad.State) quad.Command {
	const keep = 0.8
	c, n := r.Flyer.Command(t, s), r.rng.NormFloat64
	r.noise.Thrust = keep*r.noise.Thrust + r.sigma*n()
	r.noise.Rates = r.noise.Rates.Scale(keep).Add(so3.Vec3{X: r.sigma * n(), Y: r.sigma * n(), Z: r.sigma * n()})
	c.Thrust += r.noise.Thrust
	c.Rates = c.Rates.Add(r.noise.Rates)
	return c
}

// Observe implements arena.Observer. A state that did not change is no new row.
func (r *recording) Observe(s quad.Step) {
	if n := len(r.rows); n > 0 && s.T <= r.rows[n-1].T {
		return
	}
	r.rows = append(r.rows, s)
	r.Flyer.Observe(s)
}

// segments cuts rows at gaps.
func segments(rows []quad.Step, dt float64) (out [][]quad.Step) {
	lo := 0
	for i := 1; i <= len(rows); i++ {
		if i == len(rows) || !quad.Follows(rows[i-1].T, rows[i].T, dt) {
			out = append(out, rows[lo:i])
			lo = i
		}
	}
	return out
}

// show keeps the first and the last round's flights of the last task and
// condition for the picture: that is the strongest wind, or the whole schedule.
func (p *loop) show(round int, name string, world int, w flownWorld, t *arena.Trace) {
	if name != p.names[len(p.names)-1] || world != len(p.worlds)-1 || round > 0 && round < p.Rounds {
		return
	}
	f := drawnFlight(w, t)
	f.Name = "before"
	if round > 0 {
		f.Name = fmt.Sprintf("after %d rounds", round)
		for _, s := range t.Recoveries(steady) {
			p.marks = append(p.marks, s.Time)
		}
	}
	p.shown = append(p.shown, f)
}

func (p *loop) draw(out *looped) error {
	path := p.paths[p.names[len(p.names)-1]]
	drawn := (&pilotage{path: path}).drawn()
	file := filepath.Join(p.Out, "flights.png")
	w := p.worlds[len(p.worlds)-1]
	title := fmt.Sprintf("%s in %s %s", p.names[len(p.names)-1], w.name, w.condition)
	out.Files = append(out.Files, file)
	return durable.WriteFile(file, func(w io.Writer) error { return view.Flights(w, title, drawn, p.shown, p.marks) })
}

// WriteText implements result: a line for each round and task, over the conditions.
func (l *looped) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "after round\tbundle\ttask\tconditions\tmean m\tbest m\tworst m\tin\tcrashes\t")
	for lo := 0; lo < len(l.Flown); lo++ {
		first := &l.Flown[lo]
		if slices.ContainsFunc(l.Flown[:lo], func(r flownRow) bool { return r.Round == first.Round && r.Task == first.Task }) {
			continue
		}
		s := summarise(l.Flown[lo:], first.Round, first.Task)
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%.4f\t%.4f\t%.4f\t%s\t%d\t\n", first.Round, first.Bundle, first.Task, s.n, s.mean, s.best, s.worst, s.in, s.crashes)
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
		fmt.Fprintf(w, "round %d: %d rows, fit %.1f s, improve %.1f s, gate %.1f s; bundle %s %s\n", r.Number, r.Rows, r.Seconds[learn.Fitting],
			r.Seconds[learn.Improving], r.Seconds[learn.Gating], r.ID, verdict)
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
	}
	s.mean /= float64(s.n)
	return s
}
