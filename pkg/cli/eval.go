package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/viz/plot"
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
	Filter    bool     `name:"state-filter" default:"true" negatable:"" help:"Fly by the filter of poses."`
	externalFlags
	Airframe string `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
	Seed     uint64 `default:"1" help:"Seed of the first flight."`
	Plot     string `placeholder:"F.png" help:"Draw the first flights from above, and their errors over time."`
}

// evalResult is what `vnd eval` found.
type evalResult struct {
	Bundle   string                 `json:"bundle"` // ID
	Task     string                 `json:"task"`
	Rows     []experiment.Evaluated `json:"rows"`
	Warnings []string               `json:"warnings"`
}

// Run implements `vnd eval`.
func (e *evalCommand) Run(c *console) error {
	p, err := e.prepare()
	if err != nil {
		return err
	}
	out := &evalResult{Bundle: p.Bundle.ID, Task: e.Task, Warnings: c.warnings}
	var shown []plot.Flown
	for _, path := range e.World {
		worlds, err := experiment.Scenarios(path)
		if err != nil {
			return err
		}
		if err := e.believe(c, p, worlds); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, w := range worlds {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			row, first, err := p.Fly(w)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			out.Rows = append(out.Rows, *row)
			shown = append(shown, drawnFlight(w.Label(), first))
		}
	}
	if e.Plot != "" {
		const most = 12 // that can be told apart
		title := fmt.Sprintf("%s, bundle %s", e.Task, p.Bundle.ID)
		err := atomicfile.WriteFile(e.Plot, func(w io.Writer) error {
			return plot.Flights(w, title, drawnPath(p.Path), shown[:min(most, len(shown))], nil)
		})
		if err != nil {
			return err
		}
	}
	return c.show(out)
}

func (e *evalCommand) prepare() (*experiment.Evaluation, error) {
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
	p := &experiment.Evaluation{Task: e.Task, Airframe: &frame, Flights: e.Flights, Seconds: e.Seconds,
		Settle: e.Settle, Seed: e.Seed, Filter: e.Filter}
	if p.Path, err = e.path(&frame); err != nil {
		return nil, err
	}
	var trained *policy.Policy[float32]
	if p.Bundle, trained, err = readPolicy(e.Bundle, e.Task); err != nil {
		return nil, err
	}
	if trained.Motors != nil && e.Firmware+e.Simulator != "" {
		return nil, fmt.Errorf("%s commands the motors itself: expected no --firmware and no --simulator", e.Bundle)
	}
	if p.External, err = e.maker(); err != nil {
		return nil, err
	}
	p.Camera = closedloop.CameraOf(trained, p.Bundle.Dt)
	return p, nil
}

// believe has the controller believe what an airframe's file says of the robot's response, or, where another's vehicle
// flies, what that shows in the worlds of a file.
func (e *evalCommand) believe(c *console, p *experiment.Evaluation, in []experiment.Scenario) error {
	if p.Guard = nil; e.Airframe != "" {
		p.Guard = experiment.Unbounded(p.Airframe.Guard)
	}
	if p.External == nil {
		return nil
	}
	cfg, err := settings[experiment.Config](loopNode, "", nil)
	if err != nil {
		return err
	}
	lab, err := enlist(cfg, "", "hover,track", e.Seed)
	if err != nil {
		return err
	}
	lab.External, lab.Filter, lab.Guard = p.External, p.Filter, p.Guard
	err = e.respond(c, lab, in...)
	p.Guard = lab.Guard
	return err
}

// readPolicy reads a bundle whose policy is to fly a task here.
func readPolicy(path, name string) (*bundle.Bundle, *policy.Policy[float32], error) {
	b, err := bundle.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if b.Robot != quadrotor.Name && b.Robot != rotors.Name {
		return nil, nil, fmt.Errorf("%s: bundle %s is of robot %q, expected %q or %q", path, b.ID, b.Robot,
			quadrotor.Name, rotors.Name)
	}
	p, err := flown(b)
	if err == nil {
		err = seesFor(name, p)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, p, nil
}

// flown is the policy of a bundle that flies by thrust and body rates, or by its motors.
func flown(b *bundle.Bundle) (*policy.Policy[float32], error) {
	if b.Robot == rotors.Name {
		return policy.RotorsFromBundle(b)
	}
	l, err := policy.Load(b)
	if err != nil {
		return nil, err
	}
	return l.Policy, nil
}

// path is the reference of the task; nil for a landing.
func (e *evalCommand) path(frame *airframe.Airframe) (reference.Reference, error) {
	if e.Reference != "" && e.Task != task.Track {
		return nil, fmt.Errorf("--reference: expected with --task %s alone", task.Track)
	}
	return frame.Reference(e.Task, e.Reference)
}

// drawnPath is a reference for the picture; a landing's is where it ends.
func drawnPath(path reference.Reference) []so3.Vec3 {
	if path == nil {
		return []so3.Vec3{{X: -0.05}, {X: 0.05}}
	}
	const points = 400
	var out []so3.Vec3
	for i := range points + 1 {
		out = append(out, path.At(path.Horizon()*float64(i)/points).P)
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
		head += "landed\tits\tfastest m/s\t"
	}
	fmt.Fprintln(t, head)
	for _, r := range e.Rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%d\t%.3f\t%d\t", r.World, r.Condition, r.Flights, r.Mean, r.P95,
			r.Max, r.Crashes, r.Law, r.LawCrash)
		if r.Landed != nil {
			fmt.Fprintf(t, "%d\t%d\t%.2f\t", *r.Landed, *r.LawLanded, r.Landings.Down)
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
