package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"vnd/pkg/bridge/betaflight/sitl"
	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/so3"
	"vnd/pkg/node/quadsim"
	"vnd/pkg/sim"
	"vnd/pkg/sim/campaign"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd/bundle"
)

type campaignCommand struct {
	Rows     string  `default:"all" placeholder:"ROWS" help:"Rows, commas between: 4, 1-16, names, or all."`
	Runs     int     `default:"50" help:"Runs of each cell: hover and figure-eight, each in three winds."`
	Seed     uint64  `default:"1" help:"Seed of all randomness."`
	Out      string  `required:"" placeholder:"DIR" help:"Folder for the report, the policy and pictures of failures."`
	Bundle   string  `placeholder:"BUNDLE" help:"Policy to fly; else the one with which vnd loop begins is trained."`
	Odometry bool    `help:"Fly by an odometry, with measured velocities; else by poses."`
	Filter   bool    `name:"state-filter" default:"true" negatable:"" help:"Policies fly by the filter of poses."`
	Mocap    float64 `name:"mocap-rate" default:"200" help:"Samples of motion capture, Hz."`
	Replay   string  `placeholder:"ROW:CELL:RUN" help:"Fly a single run again, and draw it."`
	Pictures int     `default:"1" help:"Pictures of the worst failures of each row."`
	Workers  int     `default:"0" help:"Flights at a time; 0 takes all processors."`
}

// Run implements `vnd campaign`.
func (k *campaignCommand) Run(c *console) error {
	if k.Runs < 1 || k.Pictures < 0 || k.Workers < 0 {
		return errors.New("--runs, --pictures, --workers: expected at least one run, and no negative number")
	}
	if !(k.Mocap >= 10 && k.Mocap <= 1000) {
		return fmt.Errorf("--mocap-rate: %g Hz, expected 10 to 1000", k.Mocap)
	}
	rows, err := campaign.Select(k.Rows)
	if err != nil {
		return fmt.Errorf("--rows: %w", err)
	}
	if err := os.MkdirAll(k.Out, 0o777); err != nil {
		return err
	}
	p, err := k.policies(c)
	if err != nil {
		return err
	}
	if k.Replay != "" {
		r, err := k.replay(p, k.Replay)
		if err != nil {
			return fmt.Errorf("--replay: %w", err)
		}
		return c.show(r)
	}
	if k.Workers == 0 {
		k.Workers = runtime.GOMAXPROCS(0)
	}
	bar := c.newBar("campaign")
	report, err := campaign.Fly(c.ctx, p, campaign.Options{Rows: rows, Runs: k.Runs, Seed: k.Seed, Workers: k.Workers,
		Done: func(done, all int) { bar.at(float64(done)/float64(all), "") }})
	bar.done()
	if err != nil {
		return err
	}
	return k.keep(c, p, report)
}

// policies reads or trains the base policy, and keeps it beside the report.
func (k *campaignCommand) policies(c *console) (*campaign.Policies, error) {
	var base *bundle.Bundle
	if k.Bundle != "" {
		var err error
		if base, _, err = readPolicy(k.Bundle, "hover"); err != nil {
			return nil, err
		}
	}
	p, err := campaign.NewPolicies(c.ctx, base, nil)
	if err != nil {
		return nil, err
	}
	p.Odometry, p.Filter, p.Mocap = k.Odometry, k.Filter, k.Mocap
	if sitl.Built(sitl.Folder()) == nil {
		p.Firmware = func(w sim.World) (sim.Firmware, error) { return quadsim.NewBetaflight(w, nil) }
	}
	return p, bundle.Write(filepath.Join(k.Out, "policy.safetensors"), p.Base)
}

// campaignResult is the report with the files beside it.
type campaignResult struct {
	*campaign.Report
	Files []string `json:"files"`
}

// ofTests reports whether a row is one of Go tests.
func (k *campaignCommand) ofTests(id string) bool {
	rows, err := campaign.Select(id)
	return err == nil && rows[0].Tests != nil
}

// keep writes the report, and draws the worst failures.
func (k *campaignCommand) keep(c *console, p *campaign.Policies, report *campaign.Report) error {
	out := campaignResult{Report: report}
	for i := range report.Rows {
		worst := report.Rows[i].Worst
		if k.ofTests(report.Rows[i].ID) {
			continue // nothing is drawn of processes
		}
		for _, f := range worst[:min(len(worst), k.Pictures)] {
			r, err := k.replay(p, f.Run)
			if err != nil {
				return err
			}
			out.Files = append(out.Files, r.Picture)
		}
	}
	file := filepath.Join(k.Out, "campaign.json")
	err := atomicfile.WriteFile(file, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(report)
	})
	if err != nil {
		return err
	}
	page := filepath.Join(k.Out, "campaign.md")
	if err := atomicfile.WriteFile(page, report.WriteMarkdown); err != nil {
		return err
	}
	out.Files = append(out.Files, file, page)
	return c.show(&out)
}

// flownRun is one run, flown again.
type flownRun struct {
	Run     string           `json:"run"`
	Name    string           `json:"name"`
	Cell    string           `json:"cell"`
	Fault   string           `json:"fault"`
	Onset   float64          `json:"onset_s"`
	Checks  []campaign.Check `json:"checks"`
	Events  []string         `json:"events"`
	Picture string           `json:"picture"`
}

// replay flies the run of a name, and draws it.
func (k *campaignCommand) replay(p *campaign.Policies, name string) (*flownRun, error) {
	parts := strings.Split(name, ":")
	var cell, number int
	if n, _ := fmt.Sscanf(strings.Join(parts[1:], " "), "%d %d", &cell, &number); len(parts) != 3 || n != 2 ||
		cell < 0 || cell >= len(campaign.Cells()) {
		return nil, fmt.Errorf("%q, expected ROW:CELL:RUN with a cell of 0 to %d", name, len(campaign.Cells())-1)
	}
	rows, err := campaign.Select(parts[0])
	if err != nil {
		return nil, err
	}
	if rows[0].Tests != nil {
		return nil, fmt.Errorf("row %s: its runs are Go tests; go test -run %s ./pkg/%s runs one", rows[0].ID,
			rows[0].Tests[0].Name, rows[0].Tests[0].Package)
	}
	r, checks, err := campaign.Replay(p, &rows[0], cell, number, k.Seed)
	if err != nil {
		return nil, err
	}
	out := &flownRun{Run: name, Name: rows[0].Name, Cell: r.Cell.String(), Fault: r.Label, Onset: r.Onset,
		Checks: checks, Events: r.Events(),
		Picture: filepath.Join(k.Out, strings.ReplaceAll(name, ":", "-")+".png")}
	return out, atomicfile.WriteFile(out.Picture, func(w io.Writer) error { return drawRun(w, r, out) })
}

// drawRun draws a run from above, and its error over time with the onset of the fault.
func drawRun(w io.Writer, r *campaign.Run, out *flownRun) error {
	var reference []so3.Vec3
	actual, believed := plot.Flown{Name: "true motion"}, plot.Flown{Name: "state of the loop"}
	for i := range r.Ticks {
		k := &r.Ticks[i]
		reference = append(reference, k.Reference.P)
		believed.T, believed.P = append(believed.T, k.T), append(believed.P, k.Estimate.P)
		believed.Error = append(believed.Error, k.Estimate.P.Sub(k.Reference.P).Norm())
	}
	last := 0 // tick before a moment
	for i := range r.Motion {
		k := &r.Motion[i]
		for last+1 < len(r.Ticks) && r.Ticks[last+1].T <= k.T {
			last++
		}
		actual.T, actual.P = append(actual.T, k.T), append(actual.P, k.State.P)
		actual.Error = append(actual.Error, k.State.P.Sub(r.Ticks[last].Reference.P).Norm())
	}
	title := fmt.Sprintf("%s %s: %s, %s", out.Run, out.Name, out.Fault, out.Cell)
	return plot.FlightsWithHeight(w, title, reference, []plot.Flown{actual, believed}, []float64{r.Onset})
}

// WriteText implements result.
func (r *flownRun) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s, %s, %s, at %.2f s\n", r.Run, r.Name, r.Cell, r.Fault, r.Onset)
	for _, e := range r.Events {
		fmt.Fprintln(w, e)
	}
	for _, c := range r.Checks {
		mark := "ok  "
		if !c.OK() {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "%s %v\n", mark, c)
	}
	_, err := fmt.Fprintf(w, "drawn in %s\n", r.Picture)
	return err
}
