package pushing

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"vnd/pkg/learning/ppo"
	"vnd/pkg/nn/kernel"
)

// pushes are episodes in which the tool always goes for the box, whatever a policy says.
type pushes struct{ *Episodes }

func (p pushes) Step(u, reward []float32, end []ppo.End) error {
	for i := range p.all {
		x, y := p.all[i].rows[0], p.all[i].rows[1]
		far := float32(math.Hypot(float64(x), float64(y)))
		u[2*i], u[2*i+1] = -x/far, -y/far
	}
	return p.Episodes.Step(u, reward, end)
}

// BenchmarkPPO is an iteration of training in MuJoCo, updates included, as of benchmarks/peers/mujoco_ppo.py.
func BenchmarkPPO(b *testing.B) {
	b.Run("untrained", func(b *testing.B) { benchmarkPPO(b, func(e *Episodes) ppo.World { return e }) })
	b.Run("pushing", func(b *testing.B) { benchmarkPPO(b, func(e *Episodes) ppo.World { return pushes{e} }) })
}

func benchmarkPPO(b *testing.B, world func(*Episodes) ppo.World) {
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
	if _, err := ppo.Train(b.Context(), c, world(e), nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N*budget.Worlds*budget.Steps)/time.Since(began).Seconds(), "steps/s")
}
