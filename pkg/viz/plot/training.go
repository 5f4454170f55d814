package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Training is the record of a policy's training: a point per epoch, and one per trial flight.
type Training struct {
	Cost       []float64
	Error      []float64 // m
	FlownEpoch []int
	Flown      []float64 // m
}

// TrainingCurve writes a PNG of a training: its cost, and its errors in episodes and in trial flights.
func TrainingCurve(w io.Writer, title string, t Training) error {
	if len(t.Cost) == 0 || len(t.Error) != len(t.Cost) || len(t.Flown) != len(t.FlownEpoch) {
		return fmt.Errorf("plot: %d costs, %d errors, %d flights at %d epochs", len(t.Cost), len(t.Error), len(t.Flown),
			len(t.FlownEpoch))
	}
	epochs := make([]float64, len(t.Cost))
	for i := range epochs {
		epochs[i] = float64(i + 1)
	}
	flown := make([]float64, len(t.FlownEpoch))
	for i, e := range t.FlownEpoch {
		flown[i] = float64(e)
	}
	cost, errors := newPanel("", "epoch", "mean cost per step"), newPanel("", "epoch", "mean position error, m")
	line(cost, epochs, t.Cost, lineStyle(0))
	line(errors, epochs, t.Error, lineStyle(0))
	entries := []entry{{"episodes", lineMark(lineStyle(0))}}
	if len(flown) > 0 {
		line(errors, flown, t.Flown, lineStyle(1))
		entries = append(entries, entry{"trial flights", lineMark(lineStyle(1))})
	}
	for _, p := range []*plot.Plot{cost, errors} {
		p.Y.Min = 0
	}
	return write(w, title, entries, [][]*plot.Plot{{cost, errors}}, vg.Points(250))
}
