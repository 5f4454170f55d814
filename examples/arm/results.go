package main

import (
	"fmt"
	"io"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/sim/manipulation"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd/bundle"
)

// write writes what was learned as a bundle, if the gate passes it.
func write(file string, l *manipulation.Learned) error {
	if !l.Verdict.Pass {
		return fmt.Errorf("refused: %q", l.Verdict.Reasons())
	}
	promoted, err := armlearning.Pack(l.Model, l.Improved)
	if err != nil {
		return err
	}
	fmt.Println("promoted")
	return bundle.Write(file, promoted)
}

// draw draws errors by payload, where a file is named.
func draw(file string, all []manipulation.Errors) error {
	if file == "" {
		return nil
	}
	var series []plot.Series
	for _, e := range all {
		series = append(series, plot.Series{Name: e.Name, Values: e.Means})
	}
	return atomicfile.WriteFile(file, func(w io.Writer) error {
		return plot.Curves(w, "An arm that is not told its payload", "payload, kg", "mean error, mm",
			manipulation.Masses, series)
	})
}
