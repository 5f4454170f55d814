package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/viz/rerun"
)

// rerunResult is what `vnd bag export --rerun` did.
type rerunResult struct {
	Out      string   `json:"out"`
	File     string   `json:"file"`
	Steps    int      `json:"steps"`
	Warnings []string `json:"warnings"`
}

// forRerun writes what Rerun and Foxglove show of the bag.
func (b *bagExportCommand) forRerun(c *console, o flightlog.Options) error {
	steps, own, warnings, err := flightlog.Steps(b.Bag, o)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		c.warn(w.String())
	}
	n, err := rerun.Write(b.Out, own, steps)
	if err != nil {
		return err
	}
	return c.show(&rerunResult{Out: b.Out, File: filepath.Join(b.Out, filepath.Base(b.Out)+"_0.mcap"), Steps: n,
		Warnings: c.warnings})
}

// WriteText implements result.
func (r *rerunResult) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "wrote %s: %d steps; open %s with rerun, or in Foxglove\n", r.Out, r.Steps, r.File)
	return err
}
