package manipulation

import (
	"context"
	"fmt"
	"io"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

const (
	smoothSeconds = 60   // of a recording
	smoothSpeed   = 0.25 // m/s
)

// Smooth prints, for each payload along each shape, what a policy learns as vnd fit and vnd train have it learn: from
// one recording of computed torque along that shape, without anything random beside it.
func Smooth(ctx context.Context, out io.Writer, w World[float32], seed uint64, masses []float64) error {
	b := SmallBudget()
	b.Seed = seed
	references, err := b.References()
	if err != nil {
		return err
	}
	task := armlearning.Task(armlearning.Spread, references...)
	base, err := b.base(ctx, task)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%9s %7s %6s %6s %6s %8s %9s %13s\n", "mm", "payload", "model", "prior", "base", "improved",
		"base, all", "improved, all")
	for _, mass := range masses {
		for _, shape := range arm.Shapes {
			along, err := arm.NewReference(shape, smoothSpeed, Dt)
			if err != nil {
				return err
			}
			rows, err := recordSmooth(w, along, mass)
			if err != nil {
				return err
			}
			s, err := fromSmooth(ctx, armlearning.Default(), seed, rows, task, base)
			if err != nil {
				return err
			}
			before, after := ByPolicy("base", base, nil), ByPolicy("improved", s.improved, s.model)
			here := []*arm.Reference{along}
			fmt.Fprintf(out, "%9s %4g kg %6.2f %6.2f %6.2f %8.2f %9.2f %13.2f\n", shape, mass, 1000*s.Model,
				1000*s.Prior, before.mean(w, mass, here), after.mean(w, mass, here), before.mean(w, mass, references),
				after.mean(w, mass, references))
		}
	}
	return nil
}

// mean is the mean error over references, mm; not a number where one is lost.
func (m *Method) mean(w World[float32], mass float64, references []*arm.Reference) (mean float64) {
	for _, r := range references {
		off, _ := m.Fly(w, mass, r)
		mean += 1000 * off / float64(len(references))
	}
	return mean
}

// smooth is what is learned from a recording.
type smooth struct {
	stretches.Prediction
	model    *vnd.Model[float32]
	improved *vnd.Actor[float32]
}

// fromSmooth fits a model to a recording, and improves a policy in it.
func fromSmooth(ctx context.Context, c armlearning.Config, seed uint64, rows []arm.Row,
	task *arm.Track[float32], base *vnd.Actor[float32]) (*smooth, error) {
	learned, held := stretches.HoldOut(rows, stretches.Block(&c.Fit.Config), c.Fit.Train.Validation)
	source := fit.KnownRobot(armlearning.Prior, stretches.Recordings(armlearning.Prior, "smooth", learned, held))
	f, err := fit.Run(ctx, c.Fit.Config, source, fit.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	s := &smooth{model: f.Model}
	if s.Prediction, err = armlearning.Predict(f.Model, held); err != nil {
		return nil, err
	}
	s.improved, err = armlearning.Train(ctx, c.Policy, &train.Learned[float32]{Model: f.Model,
		Through: c.Policy.ResidualGradient}, base, train.Options{Seed: seed, Task: task})
	return s, err
}

// recordSmooth records computed torque along a reference under a payload, kg.
func recordSmooth(w World[float32], r *arm.Reference, mass float64) (rows []arm.Row, err error) {
	m := ByLaw("computed torque", func() Law { return armcontrol.NewComputedTorque(armcontrol.Pole, Dt) })
	keep := func(row arm.Row, _ float64) { rows = append(rows, row) }
	crash := m.follow(w, r, int(smoothSeconds/Dt), always(mass), keep)
	if crash != "" {
		return nil, fmt.Errorf("computed torque under %g kg: %s", mass, crash)
	}
	return rows, nil
}
