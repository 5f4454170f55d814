package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd"
)

// draw writes the plots that were asked for.
func (s *scoring) draw(r *openloop.Report, models []*loaded, flights []quad.Flight) error {
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
	if models[0].model.Net.Latent < 2 {
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

// residualSteps is the time over which residual accelerations are averaged: of single steps one sees the noise of the
// measured velocities alone.
const residualSteps = 5

// drawResidual plots, over the longest unbroken stretch of the flights, the acceleration that the rigid body misses and
// what the model says of it.
func drawResidual(path string, m *loaded, flights []quad.Flight) error {
	name, seg := "", []quad.Step(nil)
	for _, f := range flights {
		for _, s := range f.Segments {
			if len(s) > len(seg) {
				name, seg = f.Name, s
			}
		}
	}
	n := len(seg) - openloop.Context - residualSteps // starts with a context before and the steps after
	if n < 2 {
		return fmt.Errorf("write %s: the longest unbroken stretch has %d rows, expected at least %d", path, len(seg),
			openloop.Context+residualSteps+2)
	}
	windows, future := make([][]quad.Step, n), make([][]quad.Command, n)
	rigid, learned := make([][]quad.State, n), make([][]quad.State, n)
	for i := range n {
		k := openloop.Context + i
		windows[i] = seg[k-openloop.Context : k+1]
		for h := range residualSteps {
			future[i] = append(future[i], seg[k+h].Command)
		}
		rigid[i], learned[i] = make([]quad.State, residualSteps), make([]quad.State, residualSteps)
	}
	if err := (openloop.Prior{Dt: m.dt}).Predict(windows, future, rigid); err != nil {
		return err
	}
	if err := m.Predict(windows, future, learned); err != nil {
		return err
	}
	var t []float64
	var measured, predicted [3][]float64
	for i := range n {
		k, end := openloop.Context+i, residualSteps-1
		t = append(t, seg[k].T)
		missed := seg[k+residualSteps].State.V.Sub(rigid[i][end].V).Scale(1 / (residualSteps * m.dt))
		said := learned[i][end].V.Sub(rigid[i][end].V).Scale(1 / (residualSteps * m.dt))
		for axis := range 3 {
			measured[axis] = append(measured[axis], component(missed, axis))
			predicted[axis] = append(predicted[axis], component(said, axis))
		}
	}
	title := fmt.Sprintf("Residual acceleration, mean of %g s, %s", residualSteps*m.dt, name)
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return plot.ResidualAcceleration(w, title, t, measured, predicted)
	})
}

func component(v so3.Vec3, axis int) float64 { return [3]float64{v.X, v.Y, v.Z}[axis] }

// drawLatents plots the latents of all flights in the plane of their first two principal components.
func drawLatents(path string, m *loaded, flights []quad.Flight, stride int) error {
	var groups []plot.LatentGroup
	for _, f := range flights {
		groups = append(groups, plot.LatentGroup{Name: f.Name, Latents: m.latents(&f, stride)})
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return plot.LatentPlane(w, "Latents, first two principal components", groups)
	})
}

// latents encodes the windows that end at every stride-th row of a flight.
func (m *loaded) latents(f *quad.Flight, stride int) [][]float64 {
	var out [][]float64
	all := vnd.Latents(m.model, m.robot, f.Segments, stride)
	for z := range slices.Chunk(all, m.model.Net.Latent) {
		one := make([]float64, len(z))
		for i, v := range z {
			one[i] = float64(v)
		}
		out = append(out, one)
	}
	return out
}
