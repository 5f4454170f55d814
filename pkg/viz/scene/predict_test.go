package scene

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// windy is a bundle whose model has no residual of its own but keeps what its window leaves over: it knows a steady
// wind as soon as it has flown in it.
func windy(t *testing.T) *bundle.Bundle {
	t.Helper()
	q := quadrotor.Robot{Dt: .02, Prior: true, Actuator: quadrotor.NominalActuator()}
	m, err := vnd.New(q.System(), nets.Config{Context: 20, Latent: 2, Encoder: nets.EncoderGRU, EncoderDense: 4,
		EncoderHidden: 4, Hidden: 8, Blocks: 1, Film: true, DecoderHidden: 4, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rand.New(rand.NewPCG(1, 2)))
	clear(m.Output)
	for i := range m.BiasShare {
		m.BiasShare[i], m.ResidualScale[i] = 1, 1
	}
	m.Known = 1
	b, err := vnd.Bundle(m, q, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil { // which names it
		t.Fatal(err)
	}
	return b
}

// In a steady wind physics alone ends ½at² from what was flown, and a model that knows the wind at it; with ticks at
// the rate of the rows and at four times that.
func TestImagine(t *testing.T) {
	b, wind := windy(t), so3.Vec3{X: .8, Y: -.6} // 1 m/s²
	for _, rate := range []float64{50, 200} {
		s, f := New(Config{History: 10, Rate: rate, Horizon: 1}), newStepSource(rate, wind)
		f.tick.Bundle = b.ID
		if err := s.AddModel(b); err != nil {
			t.Fatal(err)
		}
		for k := 0; k < int(1.38*rate); k++ {
			s.Step(f.next(), 0)
			if ok, err := s.Predict(); ok || err != nil {
				t.Fatalf("%g Hz: imagined after %d ticks (%v)", rate, k+1, err)
			}
		}
		for range int(rate) {
			s.Step(f.next(), 0)
		}
		if ok, err := s.Predict(); !ok || err != nil {
			t.Fatalf("%g Hz: nothing imagined: %v", rate, err)
		}
		if ok, _ := s.Predict(); ok {
			t.Error("the same twice")
		}
		n := s.Snapshot(time.Now())
		if n.Imagines != 1 || len(n.Imagined) != 1 {
			t.Fatalf("%d imagined", n.Imagines)
		}
		i := n.Imagined[0]
		if e := i.PhysicsError(); math.Abs(e-.5) > .02 {
			t.Errorf("%g Hz: physics alone ends %g m off, expected 0.5", rate, e)
		}
		if e := i.ModelError(); e > .02 {
			t.Errorf("%g Hz: the model ends %g m off", rate, e)
		}
		r, _, _, _ := s.Newest()
		if i.End-i.Start != 1e9 || r.Stamp-i.End > 2e7 || len(i.Flown) != 51 || len(i.Model) != 51 ||
			len(i.Physics) != 51 || i.Model[0] != i.Flown[0] || i.Bundle != b.ID {
			t.Errorf("%g Hz: from %d to %d, the newest row is at %d", rate, i.Start, i.End, r.Stamp)
		}
	}
}

// Steps that another bundle flies are not held against a model, and gaps are not imagined across.
func TestImaginesOnlyWhatItFlew(t *testing.T) {
	b := windy(t)
	s, f := scene(), newStepSource(50, so3.Vec3{})
	if err := s.AddModel(b); err != nil {
		t.Fatal(err)
	}
	fly := func(n int) bool {
		for range n {
			s.Step(f.next(), 0)
		}
		ok, err := s.Predict()
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if f.tick.Bundle = "another"; fly(200) {
		t.Error("imagined what another bundle flew")
	}
	if f.tick.Bundle = b.ID; fly(60) || !fly(20) {
		t.Error("imagined before its window was whole, or not after it")
	}
	f.tick.Stamp += 1e9
	if fly(60) || !fly(20) {
		t.Error("imagined across a gap, or not after it")
	}
	if f.tick.Stage = guard.NotOffboard; fly(100) {
		t.Error("imagined under commands that nobody followed")
	}
	if f.tick.Stage = guard.Policy; fly(60) || !fly(20) {
		t.Error("imagined across a hand-over, or not after it")
	}
	for range mostModels + 1 {
		other := windy(t)
		other.ID = "x"
		if err := s.AddModel(other); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.models) != mostModels {
		t.Errorf("%d models are kept", len(s.models))
	}
}

// A bundle of a policy alone, and a fitted one.
func TestLearn(t *testing.T) {
	b, err := bundle.Read(filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	if err != nil {
		t.Fatal(err)
	}
	s := scene()
	if err := s.AddModel(b); err != nil || len(s.models) != 1 {
		t.Errorf("%v", err)
	}
}
