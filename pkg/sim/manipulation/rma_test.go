package manipulation

import (
	"math/rand/v2"
	"testing"

	"vnd/pkg/learning/armlearning"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// TestAdapterReadsThePayload: the encoder of RMA learns to tell a heavy payload from none in the last window.
func TestAdapterReadsThePayload(t *testing.T) {
	m, err := vnd.New[float32](armlearning.Prior.System(), nets.Config{Context: 20, Latent: 2, Encoder: nets.EncoderGRU,
		EncoderDense: 8, EncoderHidden: 8, Hidden: 4, Blocks: 1, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := adapter{model: m, rng: rand.New(rand.NewPCG(1, 2))}
	m.Net.Init(a.rng)
	for _, mass := range []float64{0, 3} {
		var rows []arm.Row
		keep := func(row arm.Row, _ float64) { rows = append(rows, row) }
		computedTorque.follow(ours, circle(t), 200, always(mass), keep)
		a.add(rows[50:], mass)
	}
	first, last := a.learn(1), a.learn(60)
	if !(last < 0.8 && last < first/2) {
		t.Errorf("it errs by %.2f kg, untrained by %.2f", last, first)
	}
}
