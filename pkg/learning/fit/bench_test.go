package fit

import (
	"testing"

	"vnd/pkg/core/param"
)

// BenchmarkUpdate is one Adam update of the default configuration at full horizon; contexts/s is what a fit does.
func BenchmarkUpdate(b *testing.B) {
	var cfg Config
	param.Default(&cfg)
	benchmarkUpdate(b, cfg)
}

// BenchmarkOneStepUpdate is the paper's: one transition for each of 2048 contexts, without a bias correction.
func BenchmarkOneStepUpdate(b *testing.B) {
	var cfg Config
	param.Default(&cfg)
	cfg.Loss.Steps, cfg.Train.Horizon, cfg.Train.Batch, cfg.BiasCorrection.Share = 1, []float64{1}, 2048, 0
	cfg.Model.DecoderHidden = 256
	benchmarkUpdate(b, cfg)
}

func benchmarkUpdate(b *testing.B, cfg Config) {
	tr, err := newTrainer(&cfg, vehicleWith(8, 400), Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := tr.update(.9); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*cfg.Train.Batch)/b.Elapsed().Seconds(), "contexts/s")
}
