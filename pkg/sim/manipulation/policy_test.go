package manipulation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// TestPolicyCommandsAsTheGateFliesIt: what arm_controller flies of a bundle has, tick for tick, the torques of the
// gate's episodes, with past actions and the latent of the last window.
func TestPolicyCommandsAsTheGateFliesIt(t *testing.T) {
	const T, Z = 5, 2
	rng := rand.New(rand.NewPCG(1, 2))
	r := circle(t)
	task := armlearning.Task(0.05, r)
	a, err := vnd.NewActor(task.Size(), Z, make([]float32, arm.Joints), armlearning.Torques, []int{8, 8})
	if err != nil {
		t.Fatal(err)
	}
	a.Net.Init(rng, make([]float32, arm.Joints))
	for i := range a.Net.Params {
		a.Net.Params[i] += float32(0.1 * rng.NormFloat64())
	}
	m, err := vnd.New[float32](armlearning.Prior.System(), nets.Config{Context: T, Latent: Z, Encoder: nets.EncoderGRU,
		EncoderDense: 4, EncoderHidden: 4, Hidden: 4, Blocks: 1, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rng)
	b, err := armlearning.Pack(m, a)
	if err != nil {
		t.Fatal(err)
	}
	p, err := armcontrol.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	s, tau, first := newState(), make([]float32, arm.Joints), rand.New(rand.NewPCG(3, 3))
	f := armlearning.Vehicle(task).Begin(a, m, armlearning.Prior, rand.New(rand.NewPCG(3, 3)), 40, s)
	first.IntN(len(task.References)) // which reference
	row, chain, none := first.IntN(len(r.Rows)), arm.Panda(), newState()
	pose, sys := chain.NewPose(), Truth(1).System()
	for k := range 4 * T {
		if tick := f.Tick(float64(k)*Dt, s, tau); tick.Crash != "" {
			t.Fatal(tick.Crash)
		}
		state := armlearning.Prior.State(s)
		chain.Place(state.Q[:], &pose)
		var got [arm.Joints]float64
		p.See(s)
		if known := k >= T; p.Known() != known {
			t.Fatalf("tick %d: a latent is known: %t", k, p.Known())
		}
		p.Torque(s, pose.Tool, &r.Rows[(row+k)%len(r.Rows)], &got)
		for j, want := range tau {
			if math.Abs(got[j]-float64(want)) > 1e-4 {
				t.Fatalf("tick %d, joint %d: %g N·m, the gate's episode has %g", k, j+1, got[j], want)
			}
		}
		p.Push(&got)
		sys.Step(1, s, tau, none, s)
	}
}

// TestPolicyKeepsItsRanges: a copy of a policy commands what that commands, whatever its ranges.
func TestPolicyKeepsItsRanges(t *testing.T) {
	task, half := armlearning.Task(0, circle(t)), slices.Repeat([]float32{5}, arm.Joints)
	from, err := vnd.NewActor(task.Size(), 2, slices.Repeat([]float32{1}, arm.Joints), half, []int{8})
	if err != nil {
		t.Fatal(err)
	}
	c := armlearning.Default().Policy
	p, err := armlearning.NewPolicy(&c, task, from)
	if err != nil || !slices.Equal(p.Half, from.Half) || !slices.Equal(p.Middle, from.Middle) {
		t.Errorf("%v, %v, expected ranges of 1 ± 5 N·m, %v", p.Middle, p.Half, err)
	}
}
