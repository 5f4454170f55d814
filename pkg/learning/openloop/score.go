package openloop

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/quad"
)

// Options say where predictions start and which of their errors are reported.
type Options struct {
	Dt     float64 // Δt of one step, s; it only labels the steps
	Stride int     // rows between starts, ≥ 1
	Steps  []int   // reported steps, ascending, ≥ 1; the last is the length of a prediction
	// Intervals are those of predictors that have one, by name.
	Intervals map[string]*Interval
}

// DefaultOptions starts ten times a second and reports 0.02, 0.2, 0.5 and 1 s.
func DefaultOptions() Options { return Options{Dt: 0.02, Stride: 5, Steps: []int{1, 10, 25, 50}} }

func (o *Options) check() error {
	if !(o.Dt > 0) || o.Stride < 1 || len(o.Steps) == 0 {
		return fmt.Errorf("dt %g s, stride %d, steps %v: want a positive dt and stride, and steps", o.Dt, o.Stride,
			o.Steps)
	}
	for i, last := 0, 0; i < len(o.Steps); i++ {
		if o.Steps[i] <= last {
			return fmt.Errorf("steps %v, want them ascending from 1", o.Steps)
		}
		last = o.Steps[i]
	}
	return nil
}

// Error is how far a prediction is off, or a root mean square of that. What a robot lacks is 0.
type Error struct {
	Position float64 // |p − p̂|, m
	Velocity float64 // |v − v̂|, m/s, or rad/s of a joint
	Attitude float64 // angle of the rotation between the two, degrees
}

// errorOf compares one prediction with what was measured.
func errorOf[Row, Command, State any](q Robot[Row, Command, State], predicted, measured *State) Error {
	p, v, angle := q.Distances(predicted, measured)
	return Error{Position: p, Velocity: v, Attitude: angle * 180 / math.Pi}
}

// add adds w times another.
func (e *Error) add(o Error, w float64) {
	e.Position, e.Velocity, e.Attitude = e.Position+w*o.Position, e.Velocity+w*o.Velocity, e.Attitude+w*o.Attitude
}

// Curve is the error over the horizon: Curve[h-1] after h steps.
type Curve []Error

// addSquares adds w times the squares of another curve's errors.
func (c Curve) addSquares(o Curve, w float64) {
	for h, e := range o {
		c[h].Position += w * e.Position * e.Position
		c[h].Velocity += w * e.Velocity * e.Velocity
		c[h].Attitude += w * e.Attitude * e.Attitude
	}
}

// root takes the square root of every error.
func (c Curve) root() {
	for h, e := range c {
		c[h] = Error{math.Sqrt(e.Position), math.Sqrt(e.Velocity), math.Sqrt(e.Attitude)}
	}
}

// FlightScore is one flight's part of a report.
type FlightScore struct {
	Flight  string
	Windows int
	Curves  []Curve // root mean square over the flight's windows, in the order of the report's predictors
	Inside  []Curve // shares of the windows inside of the predictor's interval; nil where it has none
}

// Report is what Score found.
type Report struct {
	Options    Options
	Predictors []string
	Flights    []FlightScore
	Total      []Curve  // root mean square over the flights, each weighing the same, by predictor
	Inside     []Curve  // mean over the flights of the shares inside of the intervals; nil where a predictor has none
	Skipped    []string // flights without a single window
}

// Score scores predictors of quadrotors, see ScoreOf.
func Score(flights []quad.Flight, entries []Entry, o Options) (*Report, error) {
	recordings := make([]Recording[quad.Row], len(flights))
	for i, f := range flights {
		recordings[i] = Recording[quad.Row]{f.Name, f.Segments}
	}
	return ScoreOf(quadrotors, recordings, entries, o)
}

// ScoreOf lets every entry predict from the same rows of every recording, which the report calls a flight. A window
// never straddles two segments. The error names the flight and the predictor at fault.
func ScoreOf[Row, Command, State any](q Robot[Row, Command, State], flights []Recording[Row],
	entries []EntryOf[Row, Command, State], o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Report{Options: o}
	for _, e := range entries {
		if slices.Contains(r.Predictors, e.Name) {
			return nil, fmt.Errorf("two predictors named %q", e.Name)
		}
		r.Predictors = append(r.Predictors, e.Name)
	}
	for i := range flights {
		fs, err := scoreFlight(q, &flights[i], entries, o)
		if err != nil {
			return nil, fmt.Errorf("flight %s: %w", flights[i].Name, err)
		}
		if fs.Windows == 0 {
			r.Skipped = append(r.Skipped, fs.Flight)
			continue
		}
		r.Flights = append(r.Flights, fs)
	}
	if len(r.Flights) == 0 {
		return nil, fmt.Errorf("no flight has a segment of more than %d rows", Context+o.steps())
	}
	for p := range r.Predictors {
		r.Total, r.Inside = append(r.Total, r.total(p)), append(r.Inside, r.inside(p))
	}
	return r, nil
}

// steps is the length of a prediction.
func (o *Options) steps() int { return o.Steps[len(o.Steps)-1] }

func scoreFlight[Row, Command, State any](q Robot[Row, Command, State], f *Recording[Row],
	entries []EntryOf[Row, Command, State], o Options) (FlightScore, error) {
	fs := FlightScore{Flight: f.Name}
	for _, seg := range f.Segments {
		fs.Windows += windows(len(seg), o.steps(), o.Stride)
	}
	if fs.Windows == 0 {
		return fs, nil
	}
	for i := range entries {
		curve, one, in := make(Curve, o.steps()), make(Curve, o.steps()), o.Intervals[entries[i].Name]
		var inside Curve
		var along *follower
		if in != nil {
			along = in.follow(o.steps(), o.Stride)
			inside = make(Curve, len(along.grown))
		}
		for _, seg := range f.Segments {
			err := predictSegment(q, &entries[i], seg, o.steps(), o.Stride, func(start int, predicted []State) error {
				for h := range predicted {
					_, measured, _ := q.Read(&seg[start+h+1])
					one[h] = errorOf(q, &predicted[h], &measured)
				}
				curve.addSquares(one, 1/float64(fs.Windows))
				if along == nil {
					return nil
				}
				for h, x := range along.add(one) {
					inside[h].add(x, 1/float64(fs.Windows))
				}
				return nil
			})
			if err != nil {
				return fs, err
			}
		}
		curve.root()
		fs.Curves, fs.Inside = append(fs.Curves, curve), append(fs.Inside, inside)
	}
	return fs, nil
}

// inside is the mean over the flights of the shares inside of a predictor's interval.
func (r *Report) inside(p int) Curve {
	sum := slices.Clone(r.Flights[0].Inside[p])
	clear(sum)
	for _, f := range r.Flights {
		for h := range sum {
			sum[h].add(f.Inside[p][h], 1/float64(len(r.Flights)))
		}
	}
	return sum
}

func (r *Report) total(p int) Curve {
	sum := make(Curve, r.Options.steps())
	for _, f := range r.Flights {
		sum.addSquares(f.Curves[p], 1/float64(len(r.Flights)))
	}
	sum.root()
	return sum
}
