package manipulation

import (
	"fmt"
	"testing"

	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/fit"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// TestSmoothRecordingsTeach: one smooth recording under a payload, fitted with few updates, makes a policy better.
func TestSmoothRecordingsTeach(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for seconds")
	}
	const mass = 2 // kg
	b := QuickBudget()
	all, err := b.References()
	if err != nil {
		t.Fatal(err)
	}
	task := armlearning.Task(armlearning.Spread, all...)
	base, err := b.base(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := recordSmooth(ours, all[0], mass)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fromSmooth(t.Context(), b.Config, 1, rows, task, base)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Better() {
		t.Error(s)
	}
	before, after := ByPolicy("base", base, nil), ByPolicy("improved", s.improved, s.model)
	if was, is := before.mean(ours, mass, all), after.mean(ours, mass, all); !(is < 0.8*was) {
		t.Errorf("it errs by %.2f mm, the base by %.2f", is, was)
	}
}

// TestPredictionFindsWorseFits: a net that was not trained throws the tool off further than the prior does.
func TestPredictionFindsWorseFits(t *testing.T) {
	m, err := vnd.New[float32](armlearning.Prior.System(), nets.Config{Context: 20,
		Encoder: nets.EncoderGRU, EncoderDense: 4, EncoderHidden: 4, Hidden: 4, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Net.Params {
		m.Net.Params[i] = 1
	}
	rows, err := recordSmooth(ours, circle(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := armlearning.Predict(m, [][]arm.Row{rows[:60]})
	if err != nil || p.Better() || !(p.Prior > 0 && p.Prior < 0.01) {
		t.Errorf("%+v, %v", p, err)
	}
	if text := fmt.Sprint(p); text == "" {
		t.Error("says nothing")
	}
	var least fit.Config
	least.Model.Context, least.Loss.Steps = 2, 1
	if _, err := armlearning.Predict(m, [][]arm.Row{rows[:stretches.Block(&least)]}); err != nil {
		t.Errorf("a block of the shortest contexts: %v", err)
	}
}
