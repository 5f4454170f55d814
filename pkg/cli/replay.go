package cli

import (
	"fmt"
	"io"
	"strings"

	"vnd/pkg/node/replay"
)

// flightAgain is what a recorded flight is flown again with.
type flightAgain struct {
	Bundle []string `sep:"none" placeholder:"BUNDLE" help:"Bundle that flew and is not in the bag; may be repeated."`
	Config string   `placeholder:"F.yaml" help:"Parameter file of policy_controller, as it flew."`
	Bag    string   `arg:"" help:"Folder of a bag with step and the motion capture, or one of its storage files."`
}

type replayCommand struct {
	flightAgain `embed:""`
}

// replayResult is what `vnd replay` found.
type replayResult struct {
	Bag string `json:"bag"`
	*replay.Report
}

// Run implements `vnd replay`. Ticks that do not come out are an error, after what was found.
func (r *replayCommand) Run(c *console) error {
	found, err := replay.Run(c.ctx, r.Bag, r.Config, r.Bundle, nil)
	if err != nil {
		return err
	}
	if err := c.show(&replayResult{r.Bag, found}); err != nil {
		return err
	}
	switch {
	case found.Policy == 0:
		return fmt.Errorf("bag %s: no tick of the policy can be replayed", r.Bag)
	case found.FirstOff != nil:
		return fmt.Errorf("bag %s: %d of %d ticks come out differently, the first of them %d; were bundles and "+
			"parameters those that flew?",
			r.Bag, found.Policy-found.Within, found.Policy, *found.FirstOff)
	}
	return nil
}

// WriteText implements result.
func (r *replayResult) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ticks in %.1f s of flight; %v\n", r.Ticks, r.Flight, r.Report)
	if r.FirstOff != nil {
		fmt.Fprintf(&b, "the first that did not is %d; off by up to %.3g m/s² or rad/s\n", *r.FirstOff, r.Worst)
	}
	if !r.Primed {
		b.WriteString("the bag does not begin with the flight: the first past commands are not known\n")
	}
	fmt.Fprintf(&b, "flown by the guard or not followed %d, without their sample in the bag %d, steps lost %d, "+
		"messages not readable %d\n", r.Guard, r.Unsampled, r.Lost, r.Unread)
	fmt.Fprintf(&b, "latents computed anew %d, to the bit %d, off by up to %.3g\n", r.Latents, r.Same, r.LatentsOff)
	_, err := io.WriteString(w, b.String())
	return err
}

type explainCommand struct {
	Tick        uint64 `required:"" placeholder:"N" help:"Number of the tick: seq of its step."`
	flightAgain `embed:""`
}

// explanation is what `vnd explain` found.
type explanation struct {
	Bag string `json:"bag"`
	*replay.Explanation
}

// Run implements `vnd explain`.
func (e *explainCommand) Run(c *console) error {
	found, err := replay.Explain(c.ctx, e.Bag, e.Config, e.Bundle, e.Tick)
	if err != nil {
		return err
	}
	return c.show(&explanation{e.Bag, found})
}

// WriteText implements result.
func (e *explanation) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%-14s "+format+"\n", append([]any{name}, values...)...)
	}
	line("tick", "%d at %.6f s, task %s, bundle %s, guard: %s", e.Seq, float64(e.Stamp)/1e9, e.Task, e.Bundle, e.Guard)
	line("position", "%.3f m, %.3f m off the reference", e.Position, e.Error)
	line("attitude", "%.4f (w x y z)", e.Attitude)
	line("velocity", "%.3f m/s", e.Velocity)
	for _, r := range e.Reference {
		line("reference", "in %.2f s: %.3f m, %.3f m/s, yaw %.3f rad", r.Ahead, r.Position, r.Velocity, r.Yaw)
	}
	if e.LatentAge == nil {
		line("latent", "prior mean: there was none of this bundle, or none that is fresh")
	} else {
		line("latent", "%.3f, %.0f ms old, confidence %.2f", e.Latent, 1000**e.LatentAge, e.Trust)
	}
	if len(e.Again) > 0 {
		line("latent after", "%.3f: what the encoder finds with this step", e.Again)
	}
	line("acts by model", "%.3f (m/s², rad/s)", e.Actuator)
	line("asked", "%.3f", e.Asked)
	line("sent", "%.3f", e.Sent)
	again := "to the bit"
	if e.Off > 0 {
		again = fmt.Sprintf("off by %.1g", e.Off)
	}
	line("asked again", "%.3f, %s", e.Replayed, again)
	for _, x := range e.Unusual {
		line("unusual", "%s is %.1f spreads off what the policy was trained on", x.Name, x.Value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
