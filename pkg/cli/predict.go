package cli

import (
	"fmt"
	"io"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/openloop"
)

type predictCommand struct {
	Bundle   string `required:"" placeholder:"BUNDLE" help:"Fitted model."`
	Steps    int    `default:"50" help:"Steps to predict from each start."`
	Stride   int    `default:"5" help:"Rows from one start to the next; the first is row 20."`
	Out      string `required:"" placeholder:"P.csv" help:"File to write the predictions to."`
	Config   string `placeholder:"F.yaml" help:"Parameter file, node name \"assemble\": how bags become flights."`
	Airframe string `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
	Input    string `arg:"" help:"Flight CSV or bag."`
}

// predictResult is what `vnd predict` did.
type predictResult struct {
	Out    string `json:"out"`
	Bundle string `json:"bundle"` // ID
	Flight string `json:"flight"`
	Starts int    `json:"starts"`
	Steps  int    `json:"steps"`
	Stride int    `json:"stride"`
	// Spread is, for each start, how much the members of an ensemble disagree, in units of the residual's outputs.
	Spread   []float32 `json:"spread,omitempty"`
	Warnings []string  `json:"warnings"`
}

// Run implements `vnd predict`.
func (p *predictCommand) Run(c *console) error {
	if p.Steps < 1 {
		return fmt.Errorf("--steps %d: expected at least 1", p.Steps)
	}
	if p.Stride < 1 {
		return fmt.Errorf("--stride %d: expected at least 1", p.Stride)
	}
	m, err := openloop.LoadModel(p.Bundle)
	if err != nil {
		return err
	}
	o, err := recordings{dt: m.Dt, window: openloop.Context, config: p.Config, airframe: p.Airframe}.options()
	if err != nil {
		return err
	}
	o.FlightGap = 0 // starts count the rows of the whole recording
	flights, err := c.read([]string{p.Input}, o)
	if err != nil {
		return err
	}
	if len(flights) != 1 {
		return fmt.Errorf("%s: holds %d flights, expected one", p.Input, len(flights))
	}
	counted := &counting{predictor: &interruptible{c, m}}
	err = writePredictions(p.Out, &flights[0], openloop.Entry{Name: p.Bundle, Predictor: counted}, p.Steps, p.Stride)
	if err != nil {
		return err
	}
	return c.show(&predictResult{Out: p.Out, Bundle: m.ID, Flight: flights[0].Name, Starts: counted.windows,
		Steps:  p.Steps,
		Stride: p.Stride, Spread: m.Spread, Warnings: c.warnings})
}

// writePredictions writes the file of predictions, whole or not at all.
func writePredictions(path string, f *quad.Flight, e openloop.Entry, steps, stride int) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return openloop.WritePredictions(w, f, e, steps,
			stride)
	})
}

// WriteText implements result.
func (p *predictResult) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "wrote %s: %d predictions of %d steps\n", p.Out, p.Starts, p.Steps)
	return err
}

// counting counts the windows that a predictor was given, and tells of it.
type counting struct {
	predictor openloop.Predictor
	windows   int
	report    func(windows int) // nil tells nobody
}

// Predict implements openloop.Predictor.
func (p *counting) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	if err := p.predictor.Predict(windows, future, out); err != nil {
		return err
	}
	p.windows += len(windows)
	if p.report != nil {
		p.report(len(windows))
	}
	return nil
}
