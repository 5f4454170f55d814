package openloop

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/vnd/bundle"
)

// Interval says how far predictions are off: the radii around them within which a share of those was right that
// calibrate it, by step (split conformal prediction; Lei et al. 2018). Flights that are alike keep to that share,
// whatever the errors' distribution.
type Interval struct {
	Level    float64   `json:"level"` // the share
	Flights  int       `json:"flights"`
	Windows  int       `json:"windows"`
	Position []float64 `json:"position_m"`
	Velocity []float64 `json:"velocity_m_s"`
	Attitude []float64 `json:"attitude_deg"`
}

// IntervalMetrics names the interval in a bundle's metrics.
const IntervalMetrics = "interval"

// intervalOf reads that of a bundle, nil where it has none.
func intervalOf(b *bundle.Bundle) (*Interval, error) {
	in := &Interval{}
	if found, err := b.Metric(IntervalMetrics, in); !found || err != nil {
		return nil, err
	}
	if n := len(in.Position); len(in.Velocity) != n || len(in.Attitude) != n {
		return nil, fmt.Errorf("metrics, %s: radii of %d, %d and %d steps, expected as many of each", IntervalMetrics,
			n, len(in.Velocity), len(in.Attitude))
	}
	return in, nil
}

// Calibrate finds the interval of a predictor from flights that it was not fitted to. It is nil where they hold no
// prediction of so many steps.
func Calibrate(flights []quad.Flight, e *Entry, level float64, steps, stride int) (*Interval, error) {
	found, in := make([][3][]float64, steps), &Interval{Level: level}
	for _, f := range flights {
		before := in.Windows
		for _, seg := range f.Segments {
			err := predictSegment(quadrotors, e, seg, steps, stride, func(start int, predicted []quad.State) error {
				in.Windows++
				gather(found, predicted, seg[start+1:])
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if in.Windows > before {
			in.Flights++
		}
	}
	if in.Windows == 0 {
		return nil, nil
	}
	for h := range found {
		in.Position = append(in.Position, quantile(found[h][0], level))
		in.Velocity = append(in.Velocity, quantile(found[h][1], level))
		in.Attitude = append(in.Attitude, quantile(found[h][2], level))
	}
	return in, nil
}

// gather appends the errors of a prediction, of each step, to those found before.
func gather(found [][3][]float64, predicted []quad.State, measured []quad.Row) {
	for h := range predicted {
		x := errorOf(quadrotors, &predicted[h], &measured[h].State)
		for i, v := range [3]float64{x.Position, x.Velocity, x.Attitude} {
			found[h][i] = append(found[h][i], v)
		}
	}
}

// quantile is the least of x that no more than the share level of n+1 draws is expected below. It sorts x.
func quantile(x []float64, level float64) float64 {
	slices.Sort(x)
	n := len(x)
	return x[min(n, int(math.Ceil(level*float64(n+1))))-1]
}

// pace is by how much the logarithm of a radius grows for a prediction outside of it, at most.
const pace = 0.1

// follower is an interval along a flight: its radii grow where fewer predictions were inside of late than its level
// says, and shrink where more were (Gibbs and Candès, Adaptive Conformal Inference, 2021). So it holds on flights
// unlike those that calibrated it. What became of a prediction is known when its time has come, not before.
type follower struct {
	*Interval
	stride int     // rows from one prediction to the next
	grown  []Error // logarithms of what the radii of each step are times those of the interval
	past   []Curve // which predictions were inside
}

// follow begins at a flight with predictions of so many steps.
func (in *Interval) follow(steps, stride int) *follower {
	return &follower{Interval: in, stride: stride, grown: make([]Error, min(steps, len(in.Position)))}
}

// add says by 1 which errors of the next prediction are inside.
func (f *follower) add(errors Curve) Curve {
	now := make(Curve, len(f.grown))
	for h := range now {
		g := &f.grown[h]
		if known := len(f.past) - (h+f.stride)/f.stride; known >= 0 {
			g.add(Error{f.Level, f.Level, f.Level}, pace)
			g.add(f.past[known][h], -pace)
		}
		now[h] = Error{within(errors[h].Position, f.Position[h], g.Position),
			within(errors[h].Velocity, f.Velocity[h], g.Velocity),
			within(errors[h].Attitude, f.Attitude[h], g.Attitude)}
	}
	f.past = append(f.past, now)
	return now
}

// within is 1 where an error lies within a radius that has grown.
func within(x, radius, grown float64) float64 {
	if x <= radius*math.Exp(grown) {
		return 1
	}
	return 0
}
