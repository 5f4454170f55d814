package vnd

import (
	"testing"

	"vnd/pkg/core/quad"
)

// BenchmarkPredict is a second of open-loop prediction for 64 windows.
func BenchmarkPredict(b *testing.B) {
	c := netConfig(1)
	c.Latent, c.EncoderDense, c.EncoderHidden, c.Hidden = 12, 128, 128, 256
	m, err := New(vehicle.System(), c)
	if err != nil {
		b.Fatal(err)
	}
	rows := flight(vehicle, 140, 1)
	var windows [][]quad.Row
	var future [][]quad.Command
	var out [][]quad.State
	for k := range 64 {
		f := make([]quad.Command, 50)
		for h := range f {
			f[h] = rows[20+k+h].Command
		}
		windows, future, out = append(windows, rows[k:k+21]), append(future, f), append(out, make([]quad.State, 50))
	}
	p := NewPredictor(m, vehicle)
	for b.Loop() {
		if err := p.Predict(windows, future, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*64*50)/b.Elapsed().Seconds(), "steps/s")
}
