package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/doctor"
)

// examination is the part of the doctor that looks at a robot.
type examination struct {
	Live      bool     `help:"Listen to the robot's topics, and ask for hand moves before it is armed."`
	Hover     float64  `placeholder:"SECONDS" help:"Listen to a hover of so many seconds instead of asking for moves: 60 are plenty."`
	Bag       string   `placeholder:"BAG" help:"Look at a recorded hover."`
	Namespace string   `default:"quad" help:"The robot's namespace."`
	Params    string   `placeholder:"F.yaml" help:"Parameter file of policy_controller: what it would hear."`
	Param     []string `short:"p" sep:"none" placeholder:"NAME:=VALUE" help:"One of its parameters, such as state_source:=mavros."`
	Mass      float64  `placeholder:"KG" help:"The vehicle's, to tell newtons from other units."`
	Airframe  string   `placeholder:"F.yaml" help:"Write gain, delay and lag of a hover into this airframe file."`
}

func (x *examination) asked() bool { return x.Live || x.Hover > 0 || x.Bag != "" }

// examine looks at a robot, or at the recording of one.
func (x *examination) examine(c *console) error {
	p, err := x.parameters()
	if err != nil {
		return err
	}
	if x.Bag != "" {
		if x.Live || x.Hover > 0 {
			return errors.New("--bag: expected without --live and --hover")
		}
		h, err := doctor.HoverOfBag(x.Bag, &p.Params)
		if err != nil {
			return err
		}
		h.Mass = x.Mass
		return x.flown(c, p, h, nil)
	}
	e, end, err := doctor.Join(c.ctx, x.Namespace, p)
	if err != nil {
		return err
	}
	defer end()
	const discovery, samples = time.Second, 4 * time.Second
	pause(c.ctx, discovery) // all endpoints have to be known
	e.Settle(samples, c.ctx.Done())
	found := e.Look()
	if x.Hover > 0 {
		return x.listen(c, p, e, found)
	}
	for _, f := range found {
		if f.Wrong && f.Name == "state topic" {
			return diagnosed(c, reported(found))
		}
	}
	moves, err := x.moves(c, p, e)
	if err != nil {
		return err
	}
	return diagnosed(c, reported(append(found, moves...)))
}

// parameters are those of the controller that is to fly.
func (x *examination) parameters() (*controller.File, error) {
	frame := ""
	for _, p := range x.Param {
		if path, ok := strings.CutPrefix(p, airframe.Node+":="); ok {
			frame = path
		}
	}
	p, err := controller.ReadFile(x.Params, x.Namespace+"/"+controller.Name, frame)
	if err != nil && !errors.Is(err, param.ErrNoBlock) {
		return nil, err
	}
	return p, set(p, x.Param)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// moves asks for the hand moves, one after the other.
func (x *examination) moves(c *console, p *controller.File, e *doctor.Examiner) ([]preflight.Finding, error) {
	lines := enters(c.ctx, os.Stdin)
	fmt.Fprintf(c.stderr, "The robot must not be armed; better take its propellers off. Hold it still after each "+
		"move and press Enter.\n")
	var holds [preflight.Moves]preflight.Hold
	var stream []preflight.Sample
	e.Take()
	for m := range preflight.Moves {
		fmt.Fprintf(c.stderr, "%2d of %d: %s, then Enter\n", m+1, preflight.Moves, m.Prompt())
		select {
		case <-c.ctx.Done():
			return nil, c.ctx.Err()
		case err := <-lines:
			if err != nil {
				return nil, fmt.Errorf("no Enter came for move %d (%s): %w", m+1, m.Prompt(), err)
			}
		}
		s := e.Take()
		holds[m] = preflight.NewHold(s)
		stream = append(stream, s...)
	}
	f := append(preflight.Timing(e.StateTopic(), stream), preflight.Hands(holds)...)
	f = append(f, preflight.Velocity(e.StateTopic(), stream)...)
	f = append(f, preflight.Source(e.StateTopic(), stream, p.Estimate)...)
	return append(f, preflight.Drift(e.StateTopic(), stream)...), nil
}

// enters tells of each line that is typed, and of the end.
func enters(ctx context.Context, in io.Reader) <-chan error {
	lines := make(chan error)
	go func() {
		r := bufio.NewReader(in)
		for {
			_, err := r.ReadString('\n')
			select {
			case lines <- err:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// listen hears a hover.
func (x *examination) listen(c *console, p *controller.File, e *doctor.Examiner, found []preflight.Finding) error {
	fmt.Fprintf(c.stderr, "listening for %.0f s: hover, with steps of about 0.3 m to all sides and up and down, "+
		"and some of yaw\n", x.Hover)
	e.Take()
	e.Commands()
	b := c.newBar("hover")
	for began := time.Now(); time.Since(began).Seconds() < x.Hover && c.ctx.Err() == nil; {
		pause(c.ctx, 100*time.Millisecond)
		b.at(min(1, time.Since(began).Seconds()/x.Hover), "")
	}
	b.done()
	h := &preflight.Hover{Poses: e.Take(), Commands: e.Commands(), Mass: x.Mass}
	return x.flown(c, p, h, append(found, preflight.Timing(e.StateTopic(), h.Poses)...))
}

// flown judges a hover, and writes down what it tells of the airframe.
func (x *examination) flown(c *console, p *controller.File, h *preflight.Hover, found []preflight.Finding) error {
	thrust, err := x.thrust(p)
	if err != nil {
		return err
	}
	if thrust != nil {
		h.Throttle = func(x float64) float64 { u, _ := thrust.Of(x, 0); return u }
	}
	var throttle *bridge.Throttle
	r, f := preflight.Fly(h)
	topic, _ := p.StateTopic()
	all := reported(slices.Concat(found, f, preflight.Source(topic, h.Poses, p.Estimate)))
	if r.Known() {
		all = append(all, check("response", doctor.OK,
			fmt.Sprintf("thrust: gain %.3f, delay %.0f ms, lag %.0f ms; rates: gain %.3f, delay %.0f ms, lag %.0f ms",
				r.ThrustGain, 1000*r.ThrustDelay, 1000*r.ThrustLag, r.RateGain, 1000*r.RateDelay, 1000*r.RateLag), ""))
		axes := preflight.Measure(h)
		all = append(all, byAxis(&axes)...)
		if thrust != nil {
			var curve doctor.Check
			curve, throttle = curved(&axes[0], thrust, x.Airframe != "")
			all = append(all, curve)
		}
	}
	if x.Airframe != "" {
		if !r.Known() {
			all = append(all, check("airframe", doctor.Wrong, x.Airframe+" was left as it is",
				"the hover does not tell gain, delay and lag"))
			return diagnosed(c, all)
		}
		if err := keep(x.Airframe, r, throttle); err != nil {
			return err
		}
		all = append(all, check("airframe", doctor.OK, "the response was written to "+x.Airframe, ""))
	}
	return diagnosed(c, all)
}

// byAxis are the responses of a hover by axis, with 95 % intervals.
func byAxis(axes *preflight.Intervals) (all []doctor.Check) {
	for i, f := range axes {
		name := [...]string{"thrust", "roll rate", "pitch rate", "yaw rate"}[i]
		all = append(all, check(name, doctor.OK, f.String(), ""))
	}
	return all
}

// keep writes a response into an airframe's file, which keeps its other values; one that is not there is made. Where a
// throttle was found, it goes with it, and thrust then comes as commanded.
func keep(path string, r preflight.Response, t *bridge.Throttle) error {
	a, err := airframe.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		a, err = airframe.Load("")
	}
	if err != nil {
		return err
	}
	if a.Response = r; t != nil {
		a.Throttle, a.Response.ThrustGain = airframe.Throttle(*t), 1
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, param.YAML(airframe.Node, &a))
		return err
	})
}

// reported are a doctor's findings for the console.
func reported(found []preflight.Finding) (all []doctor.Check) {
	for _, f := range found {
		state := doctor.OK
		if f.Wrong {
			state = doctor.Wrong
		}
		all = append(all, check(f.Name, state, f.Detail, f.Remedy))
	}
	return all
}
