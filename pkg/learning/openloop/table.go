package openloop

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// channel is one of the three errors as a table shows it.
type channel struct {
	title  string
	scale  float64 // from SI, or degrees, to the unit of the title
	digits int
	of     func(Error) float64
}

var channels = []channel{
	{"position, mm", 1e3, 1, func(e Error) float64 { return e.Position }},
	{"velocity, mm/s", 1e3, 1, func(e Error) float64 { return e.Velocity }},
	{"attitude, °", 1, 2, func(e Error) float64 { return e.Attitude }},
}

// WriteTable writes the totals as text: the errors at the reported steps and, for each reference that
// is among the predictors, the same divided by the reference's.
func (r *Report) WriteTable(w io.Writer, references ...string) error {
	n := 0
	for _, f := range r.Flights {
		n += f.Windows
	}
	fmt.Fprintf(w, "%d flights, %d predictions of %g s, one every %g s", len(r.Flights), n,
		r.seconds(r.Options.steps()), r.seconds(r.Options.Stride))
	if len(r.Skipped) > 0 {
		fmt.Fprintf(w, "; too short: %s", strings.Join(r.Skipped, ", "))
	}
	fmt.Fprintln(w)
	err := r.block(w, "error (RMS)", func(p, step int, c channel) string {
		return strconv.FormatFloat(c.scale*c.of(r.Total[p][step-1]), 'f', c.digits, 64)
	})
	for _, to := range references {
		q := slices.Index(r.Predictors, to)
		if q < 0 || err != nil {
			continue
		}
		err = r.block(w, "÷ "+to, func(p, step int, c channel) string {
			return strconv.FormatFloat(c.of(r.Total[p][step-1])/c.of(r.Total[q][step-1]), 'f', 3, 64)
		})
	}
	return err
}

// seconds is the time of a step without the noise of its last binary digits.
func (r *Report) seconds(step int) float64 {
	return math.Round(float64(step)*r.Options.Dt*1e9) / 1e9
}

// cellWidth is the width of a number's column.
const cellWidth = 9

// block writes one line for each predictor: channels side by side, their steps within.
func (r *Report) block(w io.Writer, title string, cell func(p, step int, c channel) string) error {
	name := utf8.RuneCountInString(title)
	for _, p := range r.Predictors {
		name = max(name, utf8.RuneCountInString(p))
	}
	units, head := fmt.Sprintf("%-*s", name, ""), fmt.Sprintf("%-*s", name, title)
	for _, c := range channels {
		units += fmt.Sprintf("   %-*s", cellWidth*len(r.Options.Steps), "  "+c.title)
		head += "  │"
		for _, step := range r.Options.Steps {
			head += fmt.Sprintf("%*s", cellWidth, fmt.Sprintf("%g s", r.seconds(step)))
		}
	}
	lines := []string{"", strings.TrimRight(units, " "), head}
	for p, predictor := range r.Predictors {
		line := fmt.Sprintf("%-*s", name, predictor)
		for _, c := range channels {
			line += "  │"
			for _, step := range r.Options.Steps {
				line += fmt.Sprintf("%*s", cellWidth, cell(p, step, c))
			}
		}
		lines = append(lines, line)
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// WriteIntervals writes, of each predictor that has an interval, how often it holds at the reported steps, and how wide
// it is before it follows a flight.
func (r *Report) WriteIntervals(w io.Writer) error {
	for p, name := range r.Predictors {
		in := r.Options.Intervals[name]
		if in == nil {
			continue
		}
		line := fmt.Sprintf("\n%s: intervals of %.0f %%, flights that the fit held out: %d", name, 100*in.Level,
			in.Flights)
		for _, step := range r.Options.Steps {
			if step > len(in.Position) {
				break
			}
			share := r.Inside[p][step-1]
			line += fmt.Sprintf("\n  %g s: %.0f %% of the positions are within %.0f mm at first, %.0f %% of the "+
				"velocities within %.0f mm/s", r.seconds(step), 100*share.Position, 1e3*in.Position[step-1],
				100*share.Velocity, 1e3*in.Velocity[step-1])
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// WriteFlights writes one line for each flight: position and velocity error of every predictor after
// the given step.
func (r *Report) WriteFlights(w io.Writer, step int) error {
	if step < 1 || step > r.Options.steps() {
		return fmt.Errorf("step %d of a prediction of %d", step, r.Options.steps())
	}
	title := fmt.Sprintf("after %g s: position, mm, and velocity, mm/s", r.seconds(step))
	name := utf8.RuneCountInString(title)
	for _, f := range r.Flights {
		name = max(name, utf8.RuneCountInString(f.Flight))
	}
	head := fmt.Sprintf("%-*s", name, title)
	for _, p := range r.Predictors {
		head += fmt.Sprintf("  │%*s", 2*cellWidth, p)
	}
	lines := []string{"", head}
	for _, f := range r.Flights {
		line := fmt.Sprintf("%-*s", name, f.Flight)
		for _, c := range f.Curves {
			line += fmt.Sprintf("  │%*.1f%*.1f", cellWidth, 1e3*c[step-1].Position, cellWidth, 1e3*c[step-1].Velocity)
		}
		lines = append(lines, line)
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// errorsJSON is a curve at the reported steps.
type errorsJSON struct {
	Position []float64 `json:"position_m"`
	Velocity []float64 `json:"velocity_m_s"`
	Attitude []float64 `json:"attitude_deg"`
}

type flightJSON struct {
	Flight  string                `json:"flight"`
	Windows int                   `json:"windows"`
	Errors  map[string]errorsJSON `json:"errors"` // by predictor
}

// MarshalJSON writes the errors at the reported steps by predictor, in total and for each flight.
func (r *Report) MarshalJSON() ([]byte, error) {
	flights := make([]flightJSON, len(r.Flights))
	for i, f := range r.Flights {
		flights[i] = flightJSON{f.Flight, f.Windows, r.byPredictor(f.Curves)}
	}
	return json.Marshal(struct {
		Dt         float64               `json:"dt"`
		Stride     int                   `json:"stride"`
		Steps      []int                 `json:"steps"`
		Predictors []string              `json:"predictors"`
		Total      map[string]errorsJSON `json:"total"`
		Flights    []flightJSON          `json:"flights"`
		Inside     map[string]errorsJSON `json:"inside"` // shares inside of the intervals
		Skipped    []string              `json:"skipped"`
	}{r.Options.Dt, r.Options.Stride, r.Options.Steps, r.Predictors, r.byPredictor(r.Total), flights,
		r.byPredictor(r.Inside), append([]string{}, r.Skipped...)})
}

func (r *Report) byPredictor(curves []Curve) map[string]errorsJSON {
	out := make(map[string]errorsJSON, len(curves))
	for p, name := range r.Predictors {
		if curves[p] != nil {
			out[name] = r.atSteps(curves[p])
		}
	}
	return out
}

func (r *Report) atSteps(c Curve) errorsJSON {
	var e errorsJSON
	for _, step := range r.Options.Steps {
		if step > len(c) {
			break
		}
		e.Position = append(e.Position, c[step-1].Position)
		e.Velocity = append(e.Velocity, c[step-1].Velocity)
		e.Attitude = append(e.Attitude, c[step-1].Attitude)
	}
	return e
}
