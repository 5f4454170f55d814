package train

import (
	"math/rand/v2"
	"testing"

	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
)

// TestPrivilegedWorld: all robots of a tile have the System that was drawn, and are told its numbers.
func TestPrivilegedWorld(t *testing.T) {
	light, heavy := arm.Robot{Dt: 0.02, Steps: 1}.System(), arm.Robot{Dt: 0.02, Steps: 1, Payload: 3}.System()
	w := &Privileged[float32]{Nominal: light, Size: 1, Draw: func(_ *rand.Rand, z []float32) robot.System[float32] {
		z[0] = 3
		return heavy
	}}
	const B = 3
	d := light.Dims()
	tile, z := w.tile(B, 1), latents[float32]{first: make([]float32, B), second: make([]float32, B)}
	steps := tile.begin(B, 1, z, rand.New(rand.NewPCG(1, 1)))
	s, a, next := make([]float32, B*d.State), make([]float32, B*d.Action), make([]float32, B*d.State)
	want, none := make([]float32, B*d.State), make([]float32, B*d.Tangent)
	for b := range B {
		light.Rest(s[b*d.State:][:d.Measured], a[b*d.Action:][:d.Action])
	}
	steps.Step(0, s, a, next)
	heavy.Step(B, s, a, none, want)
	for b := range B {
		if z.first[b] != 3 || z.second[b] != 3 {
			t.Errorf("robot %d is told %g, then %g", b, z.first[b], z.second[b])
		}
	}
	for i, x := range want {
		if next[i] != x {
			t.Fatalf("state %d is %g, of the System that was drawn %g", i, next[i], x)
		}
	}
}
