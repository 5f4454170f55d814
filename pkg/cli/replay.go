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
	if r.Uncorrected > 0 {
		fmt.Fprintf(&b, "not compared, for their position errors of before are not in the bag: %d\n", r.Uncorrected)
	}
	fmt.Fprintf(&b, "flown by the guard or not followed %d, without their sample in the bag %d, steps lost %d, "+
		"messages not readable %d\n", r.Guard, r.Unsampled, r.Lost, r.Unread)
	fmt.Fprintf(&b, "latents computed anew %d, to the bit %d, off by up to %.3g\n", r.Latents, r.Same, r.LatentsOff)
	_, err := io.WriteString(w, b.String())
	return err
}
