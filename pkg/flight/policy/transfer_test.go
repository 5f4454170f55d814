package policy

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A swap is bumpless: the command goes on from where it was, and is the new policy's own soon after.
func TestSwapIsBumpless(t *testing.T) {
	const dt = 0.02
	first := somePolicy(t, 0)
	second, err := first.WithMeasured(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	tensors := second.Net.Tensors()
	second.Net.Params[tensors[len(tensors)-1].Offset] += 0.5 // more thrust
	second.Net.Refresh()
	at := func(k int) *quad.State {
		return &quad.State{P: so3.Vec3{X: 0.1 * math.Sin(float64(k)*dt)}, Q: so3.Identity()}
	}
	f, own := NewRunner(first, dt, ground), NewRunner(second, dt, ground)
	before := f.Command(0, at(0))
	own.Command(0, at(0))
	f.SetPolicy(second)
	for k := 1; k < 100; k++ {
		c, want := f.Command(float64(k)*dt, at(k)), own.Command(float64(k)*dt, at(k))
		apart := func(a, b quad.Command) float64 { return math.Abs(a.Thrust-b.Thrust) + a.Rates.Sub(b.Rates).Norm() }
		switch whole := apart(before, want); {
		case k == 1 && (whole < 1 || apart(c, before) > 0.3*whole):
			t.Fatalf("the first command after a swap is %v, before it was %v, the new policy's own is %v", c, before,
				want)
		case k > 60 && apart(c, want) > 0.02:
			t.Fatalf("%d ticks after a swap: %v, expected %v", k, c, want)
		}
	}
	f.SetPolicy(first)
	f.ResetActions() // somebody else flew
	own = NewRunner(first, dt, ground)
	if c, want := f.Command(9, at(0)), own.Command(9, at(0)); c != want {
		t.Errorf("after another has flown: %v, expected %v", c, want)
	}
}

// Where latents end the command goes on from where it was: what the prior mean asks for may be far from it.
func TestLatentsEndWithoutABump(t *testing.T) {
	const dt, Z = 0.02, 3
	p := somePolicy(t, Z)
	f, own := NewRunner(p, dt, ground), NewRunner(p, dt, ground)
	s := quad.State{Q: so3.Identity()}
	var before quad.Command
	k := 0
	for ; k < 50; k++ {
		f.SetLatent([]float32{400, -400, 400})
		before = f.Command(float64(k)*dt, &s)
		own.Command(float64(k)*dt, &s)
	}
	apart := func(a, b quad.Command) float64 { return math.Abs(a.Thrust-b.Thrust) + a.Rates.Sub(b.Rates).Norm() }
	for end := k + 100; k < end; k++ {
		f.SetLatent(nil)
		c, want := f.Command(float64(k)*dt, &s), own.Command(float64(k)*dt, &s)
		switch whole := apart(before, want); {
		case k == end-100 && (whole < 1 || apart(c, before) > 0.3*whole):
			t.Fatalf("the first command without a latent is %v, before it was %v, of the prior mean %v", c, before,
				want)
		case k == end-1 && apart(c, want) > 0.1:
			t.Errorf("2 s later it is %v, of the prior mean %v", c, want)
		}
	}
}

// Swaps at each tick are a flight of both policies: none keeps the command as it was.
func TestSwapsWithoutEndKeepNoCommand(t *testing.T) {
	l := hoverer(t)
	policies := [2]*Buffers{l.NewBuffers(), hoverer(t).NewBuffers()}
	f, w := NewRunnerOf(policies[0], l.Dt, ground), newPushed(l)
	w.s[0] = 0.5 // m beside the reference
	for k := range 250 {
		if k > 0 {
			f.Swap(policies[k%2], l.Dt)
		}
		s := w.state()
		c := f.Command(float64(k)*l.Dt, &s)
		w.step(&c, so3.Vec3{})
	}
	if off := w.state().P.Norm(); off > 0.05 {
		t.Errorf("swaps at each tick leave the robot %.2f m off", off)
	}
}
