package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/learning/train"
	"vnd/pkg/viz/plot"
)

// draw writes the plots that were asked for.
func (s *scoring) draw(r *openloop.Report, models []*openloop.Model, flights []quad.Flight) error {
	if s.plot != "" {
		if err := drawHorizon(s.plot, r); err != nil {
			return err
		}
	}
	if s.plots == "" {
		return nil
	}
	if err := os.MkdirAll(s.plots, 0o777); err != nil {
		return err
	}
	if err := drawHorizon(filepath.Join(s.plots, "score.png"), r); err != nil {
		return err
	}
	if len(models) == 0 {
		return nil
	}
	if err := drawResidual(filepath.Join(s.plots, "residual.png"), models[0], flights); err != nil {
		return err
	}
	if models[0].Net.Latent < 2 {
		return nil
	}
	return drawLatents(filepath.Join(s.plots, "latent.png"), models[0], flights, s.stride)
}

// drawHorizon plots the total error of every predictor over the horizon.
func drawHorizon(path string, r *openloop.Report) error {
	curves := make([]plot.ErrorCurves, len(r.Predictors))
	for i, name := range r.Predictors {
		curves[i].Name = name
		for _, e := range r.Total[i] {
			curves[i].Position = append(curves[i].Position, e.Position)
			curves[i].Velocity = append(curves[i].Velocity, e.Velocity)
			curves[i].Attitude = append(curves[i].Attitude, e.Attitude)
		}
	}
	title := fmt.Sprintf("Open-loop error (RMS) on %d flights", len(r.Flights))
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return plot.ErrorOverHorizon(w, title, r.Options.Dt, curves)
	})
}

// drawResidual plots, over the longest unbroken stretch of the flights, the acceleration that the rigid body misses and
// what the model says of it.
func drawResidual(path string, m *openloop.Model, flights []quad.Flight) error {
	r, err := m.Residuals(flights)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	title := fmt.Sprintf("Residual acceleration, mean of %g s, %s", r.Seconds, r.Flight)
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return plot.ResidualAcceleration(w, title, r.T, r.Measured, r.Predicted)
	})
}

// drawLatents plots the latents of all flights in the plane of their first two principal components.
func drawLatents(path string, m *openloop.Model, flights []quad.Flight, stride int) error {
	var groups []plot.LatentGroup
	for _, f := range flights {
		groups = append(groups, plot.LatentGroup{Name: f.Name, Latents: m.Latents(&f, stride)})
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return plot.LatentPlane(w, "Latents, first two principal components", groups)
	})
}

// curve turns a training's record into a picture's.
func curve(c *train.Curve) plot.Training {
	var t plot.Training
	for _, f := range c.Figures {
		t.Cost, t.Error = append(t.Cost, f.Cost), append(t.Error, f.Error)
	}
	for _, f := range c.Flown {
		t.FlownEpoch, t.Flown = append(t.FlownEpoch, f.Epoch), append(t.Flown, f.Score)
	}
	return t
}
