package cli

import (
	"fmt"
	"io"
	"strings"

	"vnd/pkg/node/replay"
)

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
		line("latent", "%.3f, %.0f ms old, confidence %.2f", e.Latent, 1000**e.LatentAge, e.Confidence)
	}
	if len(e.LatentAgain) > 0 {
		line("latent again", "%.3f: what the encoder finds with this step", e.LatentAgain)
	}
	line("actuator", "%.3f: thrust (m/s²) and rates (rad/s) that act, by the model", e.Actuator)
	line("command", "%.3f of the policy", e.Command)
	line("command sent", "%.3f after the guard", e.CommandSent)
	again := "to the bit"
	if e.Difference > 0 {
		again = fmt.Sprintf("off by %.1g", e.Difference)
	}
	line("command again", "%.3f of the policy now, %s", e.CommandAgain, again)
	for _, x := range e.Unusual {
		line("unusual", "%s is %.1f standard deviations from its mean in training", x.Name, x.Value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
