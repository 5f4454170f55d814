package logs

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
)

// Options say how a log becomes a flight.
type Options struct {
	Hover  float64 // share of the greatest thrust that hovers, 0…1; 0 is what the log says
	Motors [4]int  // for each of our motors, its column in the log, from 1; zeros are the log's own order
}

// Apply takes in what the user says of the log.
func (l *Log) Apply(o Options) error {
	if o.Hover > 0 {
		if l.Throttle.Least > 0 {
			believed, _ := l.Throttle.Thrust(o.Hover, 0)
			l.Throttle = l.Throttle.Scaled(quad.Gravity / believed)
		}
		l.Throttle.Hover, l.HoverOf = o.Hover, "--hover-throttle"
	}
	if o.Motors == ([4]int{}) || !l.Has(Motors) {
		return nil
	}
	var places [4]place
	seen := 0
	for i, column := range o.Motors {
		if column < 1 || column > 4 || seen&(1<<column) != 0 {
			return fmt.Errorf("motors %v, expected each of 1, 2, 3, 4 once", o.Motors)
		}
		seen |= 1 << column
		places[column-1] = corners[i]
	}
	reorder(&l.Series[Motors], places)
	return nil
}

// minShift is a lag that is worth a shift, s.
const minShift = 0.002

// Ready checks a log, takes its clocks together and leaves out what was not measured. What is Wrong is an error, what
// is Missing a warning.
func (l *Log) Ready(delta float64) (warnings []string, err error) {
	l.estimateVelocity()
	warnings = append(warnings, l.Notes...)
	for _, f := range l.checkChannels(delta) {
		text := f.Name + ": " + f.Detail
		if f.Cost != "" {
			text += ": " + f.Cost
		}
		switch f.State {
		case Wrong:
			return warnings, fmt.Errorf("%s: %s", l.Path, text)
		case Missing:
			warnings = append(warnings, text)
		}
	}
	if a, ok := l.Align(); ok && a.Correlation >= alignable && math.Abs(a.Lag) > minShift {
		l.Shift(a.Lag)
		warnings = append(warnings, fmt.Sprintf("clock: gyro, motors and commands were moved by %+.0f ms", -1e3*a.Lag))
	}
	if l.Throttle.Hover > 0 && l.Has(Thrust) && l.HoverOf != "--hover-throttle" {
		warnings = append(warnings, fmt.Sprintf("hover throttle is %.3f, from %s", l.Throttle.Hover, l.HoverOf))
	}
	l.Drop(l.Suspects())
	return warnings, nil
}
