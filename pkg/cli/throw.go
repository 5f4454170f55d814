package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"vnd/pkg/flight/airframe"
	"vnd/pkg/learning/task"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/sim"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/vnd/bundle"
)

type throwCommand struct {
	Out      string  `required:"" placeholder:"BUNDLE" help:"File to write the policy to. It is of the task hover."`
	Airframe string  `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
	World    string  `placeholder:"W.yaml" help:"World of the full simulator; the default is calm air."`
	Throws   int     `default:"100" help:"How often it is thrown; 0: it is only trained."`
	Speed    float64 `default:"3" help:"Greatest speed at which it leaves the hand, m/s."`
	Spin     float64 `default:"8" help:"Greatest body rates with which it leaves the hand, rad/s."`
	Epochs   int     `default:"800" help:"Updates of the policy."`
	Seed     uint64  `default:"1" help:"Seed of all randomness."`
}

// throwResult is what training and throws came to.
type throwResult struct {
	Bundle    string   `json:"bundle"`
	ID        string   `json:"id"`
	Seconds   float64  `json:"seconds"` // of the training
	Epochs    int      `json:"epochs"`
	Kernel    string   `json:"kernel"`
	Seed      uint64   `json:"seed"`
	Throws    int      `json:"throws"`
	Recovered int      `json:"recovered"`
	Crashes   int      `json:"crashes"`
	Median    *float64 `json:"median_s"` // time to recovery of those that recovered; null: none did
	Slowest   *float64 `json:"slowest_s"`
	Fell      float64  `json:"fell_m"`      // median of the heights lost
	Deepest   float64  `json:"fell_most_m"` // greatest
	Warnings  []string `json:"warnings"`
}

// Run implements `vnd throw`.
func (t *throwCommand) Run(c *console) error {
	throws, err := t.prepare()
	if err != nil {
		return err
	}
	bar := c.newBar("train")
	began := time.Now()
	b, err := throws.Train(c.ctx, t.Epochs, bar.showTraining)
	took := time.Since(began).Seconds()
	bar.done()
	if err != nil {
		return err
	}
	b.CreatedBy = "vnd " + version()
	if err := bundle.Write(t.Out, b); err != nil {
		return err
	}
	flown, err := throws.Fly(c.ctx, b, t.Throws)
	if err != nil {
		return err
	}
	out := &throwResult{Bundle: t.Out, ID: b.ID, Seconds: took, Epochs: t.Epochs, Kernel: kernel.Name(), Seed: t.Seed,
		Throws: t.Throws, Warnings: c.warnings}
	out.count(flown)
	return c.show(out)
}

func (t *throwCommand) prepare() (*experiment.Throws, error) {
	switch {
	case t.Throws < 0 || t.Epochs < 1:
		return nil, fmt.Errorf("--throws %d --epochs %d: expected no negative number of throws and at least one epoch",
			t.Throws, t.Epochs)
	case !(t.Speed >= 0 && t.Speed <= 20):
		return nil, fmt.Errorf("--speed %g: expected 0 to 20 m/s", t.Speed)
	case !(t.Spin >= 0 && t.Spin <= 40):
		return nil, fmt.Errorf("--spin %g: expected 0 to 40 rad/s", t.Spin)
	}
	frame, err := airframe.Load(t.Airframe)
	if err != nil {
		return nil, err
	}
	world := sim.Default()
	if t.World != "" {
		if world, err = sim.Load(t.World); err != nil {
			return nil, err
		}
	}
	return &experiment.Throws{World: world, Airframe: &frame, Throw: task.Throw{Speed: t.Speed, Rates: t.Spin},
		Seed: t.Seed}, nil
}

// count sums the throws up.
func (r *throwResult) count(flown []experiment.Thrown) {
	var times, fell []float64
	for i := range flown {
		f := &flown[i]
		fell = append(fell, f.Fell)
		if f.Crash != "" {
			r.Crashes++
		}
		if f.Recovered() {
			times = append(times, f.Seconds)
		}
	}
	slices.Sort(times)
	slices.Sort(fell)
	r.Recovered = len(times)
	if n := len(times); n > 0 {
		r.Median, r.Slowest = &times[n/2], &times[n-1]
	}
	if n := len(fell); n > 0 {
		r.Fell, r.Deepest = fell[n/2], fell[n-1]
	}
}

// WriteText implements result.
func (r *throwResult) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "trained from nothing: %d epochs in %.2f s on %s\n", r.Epochs, r.Seconds, r.Kernel)
	if r.Throws > 0 {
		fmt.Fprintf(w, "%d of %d throws recovered: within %g° and %g m/s from %g s after the release on\n", r.Recovered,
			r.Throws, experiment.RecoveryTilt, experiment.RecoverySpeed, experiment.RecoveryTime)
		fmt.Fprintf(w, "fell %.1f m at the median, %.1f m at most; %d hit the ground\n", r.Fell, r.Deepest, r.Crashes)
	}
	if r.Median != nil {
		fmt.Fprintf(w, "level and slow for good after %.2f s at the median, %.2f s at the latest\n", *r.Median,
			*r.Slowest)
	}
	_, err := fmt.Fprintf(w, "wrote %s, bundle %s\n", r.Bundle, r.ID)
	return err
}
