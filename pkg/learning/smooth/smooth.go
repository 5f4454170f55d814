// Package smooth finds, once a flight is over, the states that it went through: those that were measured are noisy, and
// their velocities are of what came before alone. The commands behind the actuator are the motion that poses correct,
// and a push and a turn that no command explains are found with it. Encoder and policy never see such states: in flight
// nobody knows what comes after. The loss of a fit compares with them, and its rollouts begin at them.
package smooth

import (
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
)

// What flights may be like before they are looked at: motion capture of a millimetre, rates that come out to 0.2 rad/s.
var begin = inertial.Noise{Position: 0.001, Attitude: 0.005, Gyro: 0.03, Accel: 0.1, GyroWalk: 0.1, AccelWalk: 1}

const (
	gate      = 30.0 // squared Mahalanobis distance; one pose in 10,000 is beyond 27.9
	pieceRows = 250  // of what noise is found from
	pieces    = 6
	steps     = 12 // of finding the noise of all
	ownSteps  = 2  // of finding that of each segment
	leastRows = 25
)

// Fill smooths those segments, of rows dt seconds apart behind an actuator, that are not smoothed yet. What
// poses err by, and how far commands tell the motion, is found for some of them together, and from there for each.
func Fill(ctx context.Context, dt float64, a quadrotor.Actuator, segments []dataset.Segment) error {
	var todo []*dataset.Segment
	for i := range segments {
		if s := &segments[i]; s.Smoothed == nil && len(s.Rows) >= leastRows {
			todo = append(todo, s)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	flights := make([]inertial.Flight, len(todo))
	for i, s := range todo {
		flights[i] = flight(s, dt, a)
	}
	noise := find(flights)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(kernel.Workers())
	for i, s := range todo {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f := &flights[i]
			smoother := inertial.Smoother{Noise: noise, Gate: gate}
			smoother.FindNoise([]inertial.Flight{head(f)}, ownSteps)
			s.Smoothed = smoother.Run(f.Readings, times(f.Readings, dt), f.Velocity)
			return nil
		})
	}
	return g.Wait()
}

// flight is a segment as the smoother reads it.
func flight(s *dataset.Segment, dt float64, a quadrotor.Actuator) inertial.Flight {
	f := inertial.Flight{Readings: make([]inertial.Reading, len(s.Rows)), Velocity: s.Rows[0].State.V}
	acting := quadrotor.Acting(a, dt, s.QuadRows())
	for k := range s.Rows {
		r, z := &s.Rows[k], &f.Readings[k]
		z.Missed, z.Pose = r.Missed, inertial.Pose{T: r.T, P: r.State.P, Q: r.State.Q.Normalize()}
		if k < len(acting) {
			z.Rates, z.Force = acting[k].Rates, so3.Vec3{Z: acting[k].Thrust}
		}
	}
	return f
}

// head is the beginning of a flight.
func head(f *inertial.Flight) inertial.Flight {
	return inertial.Flight{Readings: f.Readings[:min(pieceRows, len(f.Readings))], Velocity: f.Velocity}
}

// find looks at the beginnings of some flights for the noise of all.
func find(flights []inertial.Flight) inertial.Noise {
	var some []inertial.Flight
	for i := range min(pieces, len(flights)) {
		some = append(some, head(&flights[i*len(flights)/min(pieces, len(flights))]))
	}
	s := inertial.Smoother{Noise: begin, Gate: gate}
	s.FindNoise(some, steps)
	return s.Noise
}

// times are those that learning takes rows to have: dt seconds apart, along the line that fits the stamps best.
func times(readings []inertial.Reading, dt float64) []float64 {
	off := make([]float64, len(readings))
	for k := range off {
		off[k] = readings[k].T - float64(k)*dt
	}
	sorted := slices.Sorted(slices.Values(off))
	first := sorted[len(sorted)/2]
	for k := range off {
		off[k] = first + float64(k)*dt
	}
	return off
}

// Rows are those of a segment with their smoothed states, where there are any.
func Rows(s *dataset.Segment) []quad.Row {
	rows := s.QuadRows()
	for k := range s.Smoothed {
		rows[k].State = s.Smoothed[k].State
	}
	return rows
}

// Best are those of a segment as they are known best: with the states found where those measured are poor or missing.
func Best(s *dataset.Segment) []quad.Row {
	rows, poor := s.QuadRows(), Poor([]dataset.Segment{*s})
	for k := range s.Smoothed {
		if poor || s.Rows[k].Missed {
			rows[k].State = s.Smoothed[k].State
		}
	}
	return rows
}

// Flights are those of some names, in segments one after another, with rows as they are known best.
func Flights(segments []dataset.Segment, names []string) (out []quad.Flight) {
	for i := range segments {
		s := &segments[i]
		if !slices.Contains(names, s.Flight) {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Name != s.Flight {
			out = append(out, quad.Flight{Name: s.Flight})
		}
		f := &out[len(out)-1]
		f.Segments = append(f.Segments, Best(s))
	}
	return out
}

// halved is the standard deviation of a velocity by which a row counts half, m/s.
const halved = 0.1

// Good is how many rows segments have to learn from: each counts by its confidence and, where it was smoothed, by what
// its velocity errs by. Where the measured state is poor, segments too short to be smoothed do not count, elsewhere
// rows that fill a gap. It is beside what there would be if states were known exactly.
func Good(segments []dataset.Segment) (rows, exactly float64) {
	poor := Poor(segments)
	for i := range segments {
		s := &segments[i]
		for k := range s.Rows {
			c := float64(s.Rows[k].Confidence)
			exactly += c
			switch {
			case s.Rows[k].Missed && !poor:
			case s.Smoothed != nil:
				rows += c / (1 + s.Smoothed[k].Velocity/(halved*halved))
			case !poor:
				rows += c
			}
		}
	}
	return rows, exactly
}

// Known are the rows of segments as they are known best: as measured, or smoothed where that is poor.
func Known(segments []dataset.Segment) [][]quad.Row {
	if !Poor(segments) {
		return dataset.QuadRows(segments)
	}
	out := make([][]quad.Row, len(segments))
	for i := range segments {
		out[i] = Rows(&segments[i])
	}
	return out
}

// RMS errors from which on what is measured is not taken for true. Good motion capture has 0.02 m/s and 0.004 rad.
const (
	poorVelocity = 0.05  // m/s
	poorAttitude = 0.015 // rad
)

// Poor reports whether the measured states of segments, one or all of them together, are too poor to be taken for true:
// by what velocities or attitudes err by beyond what those found do, or since their poses have jumped. It is false of
// segments that are not smoothed.
func Poor(segments []dataset.Segment) bool {
	velocity, attitude, n := 0., 0., 0.
	for i := range segments {
		s := &segments[i]
		for k := range s.Smoothed {
			x, r := &s.Smoothed[k], &s.Rows[k].State
			if x.Cut {
				return true
			}
			off, turn := r.V.Sub(x.V), so3.Log(x.Q.Conj().Mul(r.Q))
			velocity, attitude, n = velocity+off.Dot(off)-3*x.Velocity, attitude+turn.Dot(turn)-3*x.Turn, n+1
		}
	}
	return velocity > poorVelocity*poorVelocity*n || attitude > poorAttitude*poorAttitude*n
}

// Noise is the standard deviation of poses of segments that were smoothed, along and about an axis: m, rad.
func Noise(segments []dataset.Segment) (position, attitude float64) {
	n := 0.
	for i := range segments {
		s := &segments[i]
		for k := range s.Smoothed {
			x, r := &s.Smoothed[k], &s.Rows[k].State
			if !x.Believed {
				continue
			}
			off, turn := r.P.Sub(x.P), so3.Log(x.Q.Conj().Mul(r.Q))
			position, attitude, n = position+off.Dot(off), attitude+turn.Dot(turn), n+3
		}
	}
	return math.Sqrt(position / max(n, 1)), math.Sqrt(attitude / max(n, 1))
}
