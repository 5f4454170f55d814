package pushing

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"vnd/pkg/learning/ppo"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/pusher"
)

// pushes are episodes in which the tool always goes for the box, whatever a policy says.
type pushes struct {
	*pushlearning.Episodes
	real *Real
}

func (p pushes) Step(u, reward []float32, end []ppo.End) error {
	var s pusher.State
	for i := range p.Size() {
		p.real.State(i, &s)
		sin, cos := math.Sincos(math.Atan2(s.Box[1]-s.Tool[1], s.Box[0]-s.Tool[0]) - s.Box[2])
		u[2*i], u[2*i+1] = float32(cos), float32(sin)
	}
	return p.Episodes.Step(u, reward, end)
}

// BenchmarkPPO is an iteration of training in MuJoCo, updates included, as of benchmarks/peers/mujoco_ppo.py.
func BenchmarkPPO(b *testing.B) {
	b.Run("untrained", func(b *testing.B) { benchmarkPPO(b, func(p pushes) ppo.World { return p.Episodes }) })
	b.Run("pushing", func(b *testing.B) { benchmarkPPO(b, func(p pushes) ppo.World { return p }) })
}

func benchmarkPPO(b *testing.B, world func(pushes) ppo.World) {
	newWorlds(b, 1) // or it skips
	t := DefaultBudget().Base
	real, err := NewReal(t.Worlds, kernel.Workers(), drawn)
	if err != nil {
		b.Fatal(err)
	}
	defer real.Close()
	e, err := pushlearning.NewEpisodes(pushlearning.DefaultTask, real, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	c := t.Of(1)
	c.Iterations = b.N + 1 // the first follows one for the normalisers
	var began time.Time
	c.Progress = func(g ppo.Progress) {
		if g.Iteration == 0 {
			began = time.Now()
		}
	}
	if _, err := ppo.Train(b.Context(), c, world(pushes{e, real}), nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N*t.Worlds*t.Steps)/time.Since(began).Seconds(), "steps/s")
}
