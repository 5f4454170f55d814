package cli

import (
	"fmt"
	"io"
	"math/rand/v2"
	"text/tabwriter"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

type evalCommand struct {
	Task      string   `required:"" placeholder:"TASK" help:"hover, track, land or features."`
	Bundle    string   `required:"" placeholder:"BUNDLE" help:"Policy, with its model if it has one."`
	World     []string `required:"" placeholder:"W.yaml" help:"Worlds of the full simulator, see params/worlds; may be repeated. One with a schedule is flown by it, any other in each of its conditions."`
	Reference string   `placeholder:"R.json" help:"Reference that track follows; the default is a figure-eight."`
	Flights   int      `default:"1" help:"Flights in each condition, each with a seed of its own."`
	Seconds   float64  `default:"12" help:"Length of a flight; with a schedule, at least all of it."`
	Settle    float64  `default:"4" help:"Seconds at a flight's start that are not measured."`
	Airframe  string   `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
	Seed      uint64   `default:"1" help:"Seed of the first flight."`
	Plot      string   `placeholder:"F.png" help:"Draw the first flights from above, and their errors over time."`
}

// evalResult is what `vnd eval` found.
type evalResult struct {
	Bundle   string    `json:"bundle"` // ID
	Task     string    `json:"task"`
	Rows     []evalRow `json:"rows"`
	Warnings []string  `json:"warnings"`
}

// evalRow is one condition of a world.
type evalRow struct {
	World     string   `json:"world"`
	Condition string   `json:"condition"` // empty: as scheduled
	Flights   int      `json:"flights"`
	Mean      float64  `json:"mean_m"` // position error, mean over the flights
	P95       float64  `json:"p95_m"`
	Max       float64  `json:"max_m"`
	Crashes   int      `json:"crashes"`
	Landed    *int     `json:"landed,omitempty"`
	Law       float64  `json:"law_mean_m"` // of the geometric law in the same flights
	LawCrash  int      `json:"law_crashes"`
	Causes    []string `json:"causes,omitempty"` // of the crashes

	Recoveries []evalRecovery `json:"recoveries,omitempty"` // from each switch of a schedule
}

// evalRecovery is how a flight came through a switch.
type evalRecovery struct {
	Flight int `json:"flight"` // from 1
	closedloop.Recovery
}

// Run implements `vnd eval`.
func (e *evalCommand) Run(c *console) error {
	p, err := e.prepare()
	if err != nil {
		return err
	}
	out := &evalResult{Bundle: p.bundle.ID, Task: e.Task, Warnings: c.warnings}
	var shown []plot.Flown
	for _, path := range e.World {
		worlds, err := experiment.Scenarios(path)
		if err != nil {
			return err
		}
		for _, w := range worlds {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			row, first, err := p.fly(e, w)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			out.Rows = append(out.Rows, *row)
			shown = append(shown, first)
		}
	}
	if e.Plot != "" {
		const most = 12 // that can be told apart
		title := fmt.Sprintf("%s, bundle %s", e.Task, p.bundle.ID)
		err := atomicfile.WriteFile(e.Plot, func(w io.Writer) error {
			return plot.Flights(w, title, p.drawn(), shown[:min(most, len(shown))], nil)
		})
		if err != nil {
			return err
		}
	}
	return c.show(out)
}

// flying is a policy ready to be flown.
type flying struct {
	bundle *bundle.Bundle
	frame  *airframe.Airframe
	path   reference.Reference // nil: each flight has its own landing
	est    closedloop.Setup    // what all flights share
}

func (e *evalCommand) prepare() (*flying, error) {
	if e.Flights < 1 {
		return nil, fmt.Errorf("--flights %d: expected at least 1", e.Flights)
	}
	if !(e.Settle >= 0 && e.Seconds > e.Settle) {
		return nil, fmt.Errorf("--seconds %g --settle %g: expected something to measure", e.Seconds, e.Settle)
	}
	frame, err := airframe.Load(e.Airframe)
	if err != nil {
		return nil, err
	}
	p := &flying{frame: &frame}
	if p.path, err = e.path(&frame); err != nil {
		return nil, err
	}
	var trained *policy.Policy[float32]
	if p.bundle, trained, err = readPolicy(e.Bundle, e.Task); err != nil {
		return nil, err
	}
	p.est = closedloop.Setup{Tick: p.bundle.Dt, Limits: frame.Limits}
	param.Default(&p.est.Estimate)
	if trained.Pinhole != nil { // a camera as it was trained for
		c := trained.Observation.Camera
		p.est.Camera = &closedloop.Camera{Camera: c, Rate: 1 / p.bundle.Dt, Latency: float64(c.Delay) * p.bundle.Dt}
	}
	return p, nil
}

// readPolicy reads a bundle whose policy is to fly a task here.
func readPolicy(path, name string) (*bundle.Bundle, *policy.Policy[float32], error) {
	b, err := bundle.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if b.Robot != vnd.Robot {
		return nil, nil, fmt.Errorf("%s: bundle %s is of robot %q, expected %q", path, b.ID, b.Robot, vnd.Robot)
	}
	l, err := policy.Load(b)
	if err == nil {
		err = seesFor(name, l.Policy)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, l.Policy, nil
}

// path is the reference of the task; nil for a landing.
func (e *evalCommand) path(frame *airframe.Airframe) (reference.Reference, error) {
	if e.Reference != "" && e.Task != task.Track {
		return nil, fmt.Errorf("--reference: expected with --task %s alone", task.Track)
	}
	return frame.Reference(e.Task, e.Reference)
}

// fly flies a world's flights, and the geometric law in the same.
func (p *flying) fly(e *evalCommand, w experiment.Scenario) (*evalRow, plot.Flown, error) {
	row := &evalRow{World: w.Name, Condition: w.Condition, Flights: e.Flights}
	var first plot.Flown
	landed := 0
	for k := range e.Flights {
		setup, path, err := p.setup(e, w, e.Seed+uint64(k))
		if err != nil {
			return nil, first, err
		}
		runner, err := policy.NewClosedLoopRunner(p.bundle, path.At)
		if err != nil {
			return nil, first, err
		}
		trace, err := closedloop.Fly(setup, runner)
		if err != nil {
			return nil, first, err
		}
		row.add(trace.Measure(e.Settle), e.Flights)
		if w.Seconds > 0 {
			for _, r := range trace.Recoveries(experiment.Steady) {
				row.Recoveries = append(row.Recoveries, evalRecovery{k + 1, r})
			}
		}
		if trace.Landed(closedloop.Landing) {
			landed++
		}
		law, err := p.law(setup, path)
		if err != nil {
			return nil, first, err
		}
		f := law.Measure(e.Settle)
		row.Law += f.Mean / float64(e.Flights)
		if f.Crash != "" {
			row.LawCrash++
		}
		if k == 0 {
			first = drawnFlight(w.Label(), trace)
		}
	}
	if e.Task == task.Land {
		row.Landed = &landed
	}
	return row, first, nil
}

func (r *evalRow) add(f closedloop.Figures, flights int) {
	r.Mean += f.Mean / float64(flights)
	r.P95 += f.P95 / float64(flights)
	r.Max = max(r.Max, f.Max)
	if f.Crash != "" {
		r.Crashes++
		r.Causes = append(r.Causes, f.Crash)
	}
}

// setup is one flight. A landing begins up to 1 m aside and 0.5 to 1.5 m above
// its place.
func (p *flying) setup(e *evalCommand, w experiment.Scenario, seed uint64) (*closedloop.Setup, reference.Reference,
	error) {
	s := p.est
	s.World, s.Seed, s.Seconds = w.World, seed, max(e.Seconds, w.Seconds)
	if e.Task != task.Land {
		s.Path = p.path
		return &s, p.path, nil
	}
	rng := rand.New(rand.NewPCG(seed, 0x1a4d))
	s.Start = quad.State{Q: so3.Identity(), P: so3.Vec3{X: 2*rng.Float64() - 1, Y: 2*rng.Float64() - 1,
		Z: 0.5 + rng.Float64()}}
	spec := new(reference.Landing)
	param.Default(spec)
	stands := w.Ground.Height + w.Ground.Feet
	begun := func(height float64) (reference.Reference, error) {
		spec.To[2] = height
		r, err := reference.New(spec)
		if err != nil {
			return nil, err
		}
		return reference.StartAt(r, &s.Start)
	}
	var err error
	if s.Path, err = begun(stands); err != nil {
		return nil, nil, err
	}
	low, err := begun(stands - below)
	if err == nil {
		err = p.frame.Allows("--task "+e.Task, low)
	}
	return &s, low, err
}

// below the ground is where a landing is told to go: the cushion of air over the
// ground holds up what only goes down to it.
const below = 0.2 // m

// law flies the geometric law.
func (p *flying) law(s *closedloop.Setup, path reference.Reference) (*closedloop.Trace, error) {
	var g guard.Gains
	param.Default(&g)
	law, err := guard.NewLaw(g, p.frame.Limits)
	if err != nil {
		return nil, err
	}
	return closedloop.Fly(s, guard.PathFollower{Law: law, Path: path})
}

// drawn is the reference for the picture.
func (p *flying) drawn() []so3.Vec3 {
	if p.path == nil {
		return []so3.Vec3{{X: -0.05}, {X: 0.05}}
	}
	const points = 400
	var out []so3.Vec3
	for i := range points + 1 {
		out = append(out, p.path.At(p.path.Horizon()*float64(i)/points).P)
	}
	return out
}

func drawnFlight(name string, t *closedloop.Trace) plot.Flown {
	f := plot.Flown{Name: name}
	for i := range t.Rows {
		r := &t.Rows[i]
		f.T, f.P, f.Error = append(f.T, r.T), append(f.P, r.Truth.P), append(f.Error, r.Error())
	}
	return f
}

// WriteText implements result.
func (e *evalResult) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "world\tcondition\tflights\tmean m\tp95 m\tmax m\tcrashes\tgeometric law, mean m\tits crashes\t"
	if e.Task == task.Land {
		head += "landed\t"
	}
	fmt.Fprintln(t, head)
	for _, r := range e.Rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%d\t%.3f\t%d\t", r.World, r.Condition, r.Flights, r.Mean, r.P95,
			r.Max, r.Crashes, r.Law, r.LawCrash)
		if r.Landed != nil {
			fmt.Fprintf(t, "%d\t", *r.Landed)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, row := range e.Rows {
		for _, r := range row.Recoveries {
			if err := writeRecovery(w, fmt.Sprintf("%s, flight %d", row.World, r.Flight), &r.Recovery); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeRecovery writes one line.
func writeRecovery(w io.Writer, of string, r *closedloop.Recovery) error {
	_, err := fmt.Fprintf(w, "%s, %s to %s at %.0f s: peak %.3f m, within %.3f m + 2 cm after %s\n", of, r.From, r.To,
		r.Time, r.Peak, r.Envelope,
		afterwards(r.Wide))
	return err
}
