package pushing

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"vnd/pkg/learning/ppo"
	"vnd/pkg/nn/kernel"
)

// BenchmarkPPO is an iteration of training in MuJoCo, updates included, as of benchmarks/peers/mujoco_ppo.py.
func BenchmarkPPO(b *testing.B) {
	newWorlds(b, 1) // or it skips
	budget := DefaultBudget()
	real, err := NewReal(budget.Worlds, kernel.Workers(), func(_ int, rng *rand.Rand) Condition { return Draw(rng) })
	if err != nil {
		b.Fatal(err)
	}
	defer real.Close()
	e, err := NewEpisodes(budget.Task, real, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	c := budget.ppo(nil)
	c.Iterations = b.N
	var began time.Time
	c.Progress = func(g ppo.Progress) {
		if g.Iteration == 0 { // the first follows one for the normalisers
			began = time.Now()
		}
	}
	c.Iterations++
	if _, err := ppo.Train(b.Context(), c, e, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N*budget.Worlds*budget.Steps)/time.Since(began).Seconds(), "steps/s")
}
