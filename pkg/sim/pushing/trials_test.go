package pushing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/vnd"
)

// untrained is a policy with weights that are drawn.
func untrained(t *testing.T, hidden ...int) *vnd.Actor[float32] {
	t.Helper()
	e, err := pushlearning.NewEpisodes(pushlearning.DefaultTask,
		pushlearning.NewImagined(1, pushlearning.Prior.System(), nil), rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	O, _, A := e.Sizes()
	p, err := vnd.NewActor(O, 0, make([]float32, A), []float32{1, 1}, hidden)
	if err != nil {
		t.Fatal(err)
	}
	p.Net.Init(rand.New(rand.NewPCG(3, 1)), make([]float32, A))
	return p
}

func TestTrialsAreTheSameForEveryPolicy(t *testing.T) {
	newWorlds(t, 1) // or it skips
	task := pushlearning.DefaultTask
	task.Steps = 20
	p := untrained(t, 8, 8)
	trials := func(seed uint64) []Trial {
		all, err := Trials(&Method{Policy: p}, task, 4, seed, Draw)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if one := trials(1); !slices.Equal(one, trials(1)) || one[0] == trials(2)[0] {
		t.Errorf("trials of seed 1 differ, or are those of seed 2: %+v", one)
	}
}

// TestRecordingsAreOfWhatHappened: the prior explains where the tool goes while it touches nothing.
func TestRecordingsAreOfWhatHappened(t *testing.T) {
	newWorlds(t, 1) // or it skips
	b := DefaultBudget()
	b.Recorded, b.Task.Steps = 3, 80
	recordings, err := b.Record(untrained(t, 8, 8), 0)
	if err != nil || len(recordings) == 0 {
		t.Fatalf("%d recordings, error %v", len(recordings), err)
	}
	sys := pushlearning.Prior.System()
	d := sys.Dims()
	next, none := make([]float32, d.State), make([]float32, d.Tangent)
	for i, rows := range recordings {
		measured, actions := pushlearning.Prior.Flatten(rows)
		for k := range len(rows) - 1 {
			s, then := measured[k*d.Measured:][:d.Measured], measured[(k+1)*d.Measured:][:d.Measured]
			sys.Step(1, s, actions[k*d.Action:], none, next)
			if math.Hypot(float64(s[0]-s[2]), float64(s[1]-s[3])) > 0.11 &&
				math.Hypot(float64(next[0]-then[0]), float64(next[1]-then[1])) > 0.0005 {
				t.Fatalf("recording %d, row %d: tool at %v, predicted %v", i, k, then[:2], next[:2])
			}
		}
	}
}
