package quadtrain

import (
	"context"
	"math/rand/v2"
	"testing"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// BenchmarkEpoch is one epoch of the published sizes: 512 environments, 125
// steps, policy 256 × 256, residual of two FiLM blocks of 256, latent of 12.
func BenchmarkEpoch(b *testing.B) {
	for name, through := range map[string]bool{"through": true, "stopped": false} {
		b.Run(name, func(b *testing.B) {
			m, err := vnd.New[float32](quadrotor.NewQuadrotor[float32](0.02, quadrotor.NominalActuator()),
				nets.Config{Context: 20, Latent: 12, Encoder: nets.EncoderGRU, EncoderDense: 128, EncoderHidden: 128,
					Hidden: 256, Blocks: 2, Film: true, Members: 1})
			if err != nil {
				b.Fatal(err)
			}
			m.Net.Init(rand.New(rand.NewPCG(1, 1)))
			for i := range m.Output {
				m.Output[i] = 0.01
			}
			c := small(b)
			c.Hidden, c.Envs, c.Horizon = 256, 512, 125
			c.Epochs, c.Flights = b.N, 0
			if _, err := Run(context.Background(), c, Learned(m, 0.02, through, Pushes{}, Margins{}), 0.02,
				Options{Tasks: tasksAlong(circle), Limits: limits()}); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N*c.Envs*c.Horizon)/b.Elapsed().Seconds(), "transitions/s")
		})
	}
}
