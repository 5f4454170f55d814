package manipulation

import (
	"fmt"
	"testing"

	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/train"
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
	task := Task(Spread, all...)
	base, err := b.improve(t.Context(), &train.Prior[float32]{Nominal: Prior.System()}, task, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := recordSmooth(all[0], mass)
	if err != nil {
		t.Fatal(err)
	}
	c := FitConfig()
	b.set(&c)
	s, err := fromSmooth(t.Context(), c, b.training(true), 1, rows, task, base)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Better() {
		t.Error(s)
	}
	before, after := ByPolicy("base", base, nil), ByPolicy("improved", s.improved, s.model)
	if was, is := before.mean(mass, all), after.mean(mass, all); !(is < 0.8*was) {
		t.Errorf("it errs by %.2f mm, the base by %.2f", is, was)
	}
}

// TestHoldOut: blocks are evenly spread, no row is lost, and what is short is learned from.
func TestHoldOut(t *testing.T) {
	const block = 10
	for _, x := range []struct {
		rows          int
		share         float64
		learned, held int // parts
	}{{205, 0.1, 3, 2}, {200, 0.1, 2, 2}, {50, 0.1, 1, 1}, {19, 0.1, 1, 0}, {100, 0, 1, 0}} {
		rows := make([]arm.Row, x.rows)
		for i := range rows {
			rows[i].T = float64(i)
		}
		learned, held := HoldOut(rows, block, x.share)
		if len(learned) != x.learned || len(held) != x.held {
			t.Errorf("%d rows: %d parts, %d held out, expected %d and %d", x.rows, len(learned), len(held), x.learned,
				x.held)
		}
		seen := map[float64]bool{}
		for _, part := range append(learned, held...) {
			for _, row := range part {
				seen[row.T] = true
			}
		}
		for _, part := range held {
			if len(part) != block {
				t.Errorf("%d rows: a block of %d", x.rows, len(part))
			}
		}
		if len(seen) != x.rows {
			t.Errorf("%d rows: %d in the parts", x.rows, len(seen))
		}
	}
}

// TestPredictionFindsWorseFits: a net that was not trained throws the tool off further than the prior does.
func TestPredictionFindsWorseFits(t *testing.T) {
	m, err := vnd.New[float32](Prior.System(), nets.Config{Context: 20, Encoder: nets.EncoderGRU, EncoderDense: 4,
		EncoderHidden: 4, Hidden: 4, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Net.Params {
		m.Net.Params[i] = 1
	}
	rows, err := recordSmooth(circle(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Predict(m, [][]arm.Row{rows[:60]})
	if err != nil || p.Better() || !(p.Prior > 0 && p.Prior < 0.01) {
		t.Errorf("%+v, %v", p, err)
	}
	if text := fmt.Sprint(p); text == "" {
		t.Error("says nothing")
	}
	var least fit.Config
	least.Model.Context, least.Loss.Steps = 2, 1
	if _, err := Predict(m, [][]arm.Row{rows[:Block(&least)]}); err != nil {
		t.Errorf("a block of the shortest contexts: %v", err)
	}
}
