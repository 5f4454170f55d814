package stretches

import (
	"fmt"
	"slices"

	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// HoldOut cuts the share of a segment out that is to judge a fit of what remains: blocks of so many rows, evenly. Of a
// segment too short for that it takes the last block, and of one of less than two nothing.
func HoldOut[Row any](segment []Row, block int, share float64) (learned, held [][]Row) {
	if share <= 0 {
		return [][]Row{segment}, nil
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

// Recordings are what a fit takes of parts of a recording of a robot.
func Recordings[Row any](r vnd.Flattener[Row], name string, learned, held [][]Row) (all []fit.Recording) {
	for i, rows := range slices.Concat(learned, held) {
		measured, actions := r.Flatten(rows)
		one := fit.Recording{Name: name, Measured: measured, Actions: actions,
			Weight: slices.Repeat([]float32{1}, len(rows))}
		if i >= len(learned) {
			one.Name, one.HeldOut = name+", held out", true
		}
		all = append(all, one)
	}
	return all
}

// Prediction is by how much a robot's place is mistaken after 0.1 s, m: root mean squares of a model and of its prior.
type Prediction struct {
	Model float64 `json:"model_m"`
	Prior float64 `json:"prior_m"`
}

// known is how well a place is known at best, m. A robot that was at rest is predicted better than that by any prior.
const known = 5e-5

// Better reports whether the model is nearer to what happened, or as near as can be told.
func (p Prediction) Better() bool { return p.Model < max(p.Prior, known) }

// String says it in words.
func (p Prediction) String() string {
	return fmt.Sprintf("on what was held out predictions are off by %.3g mm after 0.1 s, by the prior alone by %.3g mm",
		1000*p.Model, 1000*p.Prior)
}

// ahead is how far predictions are judged, steps of 20 ms.
const ahead = 5

// Recorded is a robot that reads its recordings.
type Recorded[Row, Command, State any] interface {
	robot.Robot
	vnd.Recorded[Row, Command, State]
	openloop.Robot[Row, Command, State]
}

// Predict plays what was held out into a model, which policies are trained in without a bias correction, and into its
// prior.
func Predict[Row, Command, State any](q Recorded[Row, Command, State], m *vnd.Model[float32], held [][]Row) (
	p Prediction, err error) {
	model, prior := *m, *m
	model.BiasShare = make([]float32, len(m.BiasShare))
	prior.BiasShare, prior.Output = model.BiasShare, make([]float32, len(m.Output))
	entry := func(name string, m *vnd.Model[float32]) openloop.EntryOf[Row, Command, State] {
		return openloop.EntryOf[Row, Command, State]{Name: name, Predictor: vnd.NewPredictor(m, q)}
	}
	r, err := openloop.ScoreOf(q, []openloop.Recording[Row]{{Name: "held out", Segments: held}},
		[]openloop.EntryOf[Row, Command, State]{entry("model", &model), entry("prior", &prior)},
		openloop.Options{Dt: q.Period(), Stride: 1, Steps: []int{ahead}})
	if err != nil {
		return p, err
	}
	return Prediction{r.Total[0][ahead-1].Position, r.Total[1][ahead-1].Position}, nil
}
