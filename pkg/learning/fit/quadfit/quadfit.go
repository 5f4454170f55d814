// Package quadfit fits models of quadrotors to their flights, by package fit: it identifies the actuator and makes
// recordings of rows.
package quadfit

import (
	"context"
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/smooth"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
)

// Run fits a model to segments with rows dt seconds apart, see fit.Run.
func Run(ctx context.Context, cfg fit.Config, dt float64, segments []dataset.Segment, opt fit.Options) (*fit.Fit,
	error) {
	return fit.Run(ctx, cfg, Source(dt, segments), opt)
}

// Source reads segments with rows dt seconds apart. Those that are not smoothed yet are smoothed in place, where the
// configuration asks for that.
func Source(dt float64, segments []dataset.Segment) fit.Source { return flights{dt, segments}.read }

// Check reports the first setting that no fit of a quadrotor can run with.
func Check(cfg *fit.Config) error {
	return cfg.Check(quadrotor.NewQuadrotor[float32](1, quadrotor.NominalActuator()))
}

// Robot returns the quadrotor of a fit of this package.
func Robot(f *fit.Fit) quadrotor.Robot { return f.Robot.(quadrotor.Robot) }

// flights are segments with rows dt seconds apart.
type flights struct {
	dt       float64
	segments []dataset.Segment
}

// read implements fit.Source.
func (f flights) read(ctx context.Context, cfg *fit.Config, from robot.Robot) (*fit.Recorded, error) {
	if err := Check(cfg); err != nil {
		return nil, err
	}
	rows := dataset.QuadRows(f.segments)
	q := quadrotor.Robot{Dt: f.dt, Actuator: quadrotor.NominalActuator(), Prior: cfg.Prior.Enabled,
		World: cfg.Prior.Frame == "world"}
	if len(rows) > 0 && len(rows[0]) > 0 {
		q.Origin = rows[0][0].State.P
	}
	err := identify(ctx, &q, cfg, from, rows)
	if err == nil && cfg.Smoothing != "off" {
		err = f.smooth(ctx, &q, cfg, from)
	}
	if err != nil {
		return nil, err
	}
	out := &fit.Recorded{Robot: q, Digest: dataset.Digest(f.segments)}
	for i, s := range f.segments {
		r := fit.Recording{Name: s.Flight, Weight: make([]float32, len(rows[i]))}
		r.Measured, r.Actions = q.Flatten(rows[i])
		for k := range s.Rows {
			if x := &s.Rows[k]; !x.Missed {
				r.Weight[k] = x.Confidence
			}
		}
		if cfg.Smoothing != "off" {
			know(&r, &q, &f.segments[i])
		}
		if cfg.Smoothing == "states" {
			r.Variance = nil
		}
		out.Recordings = append(out.Recordings, r)
	}
	return out, nil
}

// smooth finds the states of the segments, and where those measured were poor the actuator anew with them: noise makes
// thrust seem to do less than it does.
func (f flights) smooth(ctx context.Context, q *quadrotor.Robot, cfg *fit.Config, from robot.Robot) error {
	if err := smooth.Fill(ctx, f.dt, q.Actuator, f.segments); err != nil || from != nil || !cfg.Prior.Identify ||
		!smooth.Poor(f.segments) {
		return err
	}
	rows := smooth.Known(f.segments)
	for i := range f.segments {
		f.segments[i].Smoothed = nil
	}
	if err := identify(ctx, q, cfg, from, rows); err != nil {
		return err
	}
	return smooth.Fill(ctx, f.dt, q.Actuator, f.segments)
}

// know takes over what was found afterwards about those rows of a recording that were measured poorly, or not at all.
// No transition leads over a jump of the poses.
func know(r *fit.Recording, q *quadrotor.Robot, s *dataset.Segment) {
	poor, some := smooth.Poor([]dataset.Segment{*s}), false
	variance := make([]float32, 0, 9*len(s.Rows))
	for k := range s.Smoothed {
		found, x := &s.Smoothed[k], inertial.Smoothed{} // what was measured well is true
		if poor || s.Rows[k].Missed {
			x, some, r.Weight[k] = *found, true, s.Rows[k].Confidence
		}
		for _, v := range [...]float64{x.Position, x.Velocity, x.Turn} {
			variance = append(variance, float32(v), float32(v), float32(v))
		}
		if poor && found.Cut {
			r.Weight[k-1] = 0
		}
	}
	if some {
		r.True, _ = q.Flatten(smooth.Best(s))
		r.Variance = variance
	}
}

// identify sets the actuator: that of from, or else, where the configuration asks for it, that of the flights.
func identify(ctx context.Context, q *quadrotor.Robot, cfg *fit.Config, from robot.Robot,
	rows [][]quad.Row) (err error) {
	switch before, ok := from.(quadrotor.Robot); {
	case from != nil && !ok:
		return fmt.Errorf("the model to go on from is of a %s, expected a %s", from.Kind(), q.Kind())
	case ok && (before.Prior != q.Prior || before.World != q.World):
		return fmt.Errorf("the model to go on from has prior.enabled %v and its residual in the world %v, "+
			"the configuration asks for %v and %v", before.Prior, before.World, q.Prior, q.World)
	case ok:
		q.Actuator = before.Actuator
	case cfg.Prior.Identify:
		q.Actuator, err = quadrotor.Identify(ctx, q.Dt, rows)
	}
	return err
}
