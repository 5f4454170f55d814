package armlearning

import (
	"fmt"
	"slices"

	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// HoldOut cuts the share of a segment out that is to judge a fit of what remains: blocks of so many rows, evenly. Of a
// segment too short for that it takes the last block, and of one of less than two nothing.
func HoldOut(segment []arm.Row, block int, share float64) (learned, held [][]arm.Row) {
	if share <= 0 {
		return [][]arm.Row{segment}, nil
	}
	period := int(float64(block) / share)
	if len(segment) >= 2*block {
		period = min(period, len(segment))
	}
	for ; len(segment) >= period; segment = segment[period:] {
		learned = append(learned, segment[:period-block])
		held = append(held, segment[period-block:period])
	}
	if len(segment) > 0 {
		learned = append(learned, segment)
	}
	return learned, held
}

// Block is how many rows a fit holds out at a time: two contexts and their rollouts, and what Predict takes.
func Block(c *fit.Config) int {
	return max(2*(c.Model.Context+c.Loss.Steps), openloop.Context+ahead+1)
}

// Recordings are what a fit takes of parts of a flight.
func Recordings(name string, learned, held [][]arm.Row) (all []fit.Recording) {
	for _, rows := range learned {
		all = append(all, recording(name, rows))
	}
	for _, rows := range held {
		r := recording(name+", held out", rows)
		r.HeldOut = true
		all = append(all, r)
	}
	return all
}

func recording(name string, rows []arm.Row) fit.Recording {
	measured, actions := Prior.Flatten(rows)
	return fit.Recording{Name: name, Measured: measured, Actions: actions,
		Weight: slices.Repeat([]float32{1}, len(rows))}
}

// Prediction is by how much the tool is mistaken after 0.1 s, m: root mean squares of a model and of its prior.
type Prediction struct {
	Model float64 `json:"model_m"`
	Prior float64 `json:"prior_m"`
}

// Better reports whether the model is nearer to what happened.
func (p Prediction) Better() bool { return p.Model < p.Prior }

// String says it in words.
func (p Prediction) String() string {
	return fmt.Sprintf("on what was held out the tool is off by %.3g mm after %g s, by the prior alone by %.3g mm",
		1000*p.Model, ahead*Dt, 1000*p.Prior)
}

// ahead is how far predictions are judged, steps.
const ahead = 5

// Predict plays what was held out into a model, which policies are trained in without a bias correction, and into its
// prior.
func Predict(m *vnd.Model[float32], held [][]arm.Row) (p Prediction, err error) {
	model, prior := *m, *m
	model.BiasShare = make([]float32, len(m.BiasShare))
	prior.BiasShare, prior.Output = model.BiasShare, make([]float32, len(m.Output))
	entry := func(name string, m *vnd.Model[float32]) openloop.EntryOf[arm.Row, arm.Torque, arm.State] {
		return openloop.EntryOf[arm.Row, arm.Torque, arm.State]{Name: name, Predictor: vnd.NewPredictor(m, Prior)}
	}
	r, err := openloop.ScoreOf(Prior, []openloop.Recording[arm.Row]{{Name: "held out", Segments: held}},
		[]openloop.EntryOf[arm.Row, arm.Torque, arm.State]{entry("model", &model), entry("prior", &prior)},
		openloop.Options{Dt: Dt, Stride: 1, Steps: []int{ahead}})
	if err != nil {
		return p, err
	}
	return Prediction{r.Total[0][ahead-1].Position, r.Total[1][ahead-1].Position}, nil
}
