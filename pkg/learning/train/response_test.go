package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/robot"
)

// A step of the command is answered as the textbook's second-order lag answers it, whatever Δt is.
func TestStepResponseIsOfSecondOrder(t *testing.T) {
	for _, r := range []Response{{1, 0, 12, 0.4}, {1, 0, 40, 0.7}, {1, 0, 20, 1}, {1.2, 0, 15, 1.6}} {
		t.Run(fmt.Sprintf("damping %g", r.Damping), func(t *testing.T) {
			const dt = 0.02
			f, m := newFilter[float64](&r, dt), memory[float64]{}
			for k := range 30 {
				y, at := f.step(&m, 1), float64(k+1)*dt
				if want := r.Gain * stepResponse(r.Frequency, r.Damping, at); math.Abs(y-want) > 1e-9 {
					t.Fatalf("%g s after the step %.9f, expected %.9f", at, y, want)
				}
			}
		})
	}
}

// stepResponse integrates ÿ = ω²(1 − y) − 2ζω·ẏ in small steps.
func stepResponse(w, z, t float64) float64 {
	const n = 2000
	h, y, v := t/n, 0., 0.
	f := func(y, v float64) float64 { return w*w*(1-y) - 2*z*w*v }
	for range n {
		k1, l1 := v, f(y, v)
		k2, l2 := v+h/2*l1, f(y+h/2*k1, v+h/2*l1)
		k3, l3 := v+h/2*l2, f(y+h/2*k2, v+h/2*l2)
		k4, l4 := v+h*l3, f(y+h*k3, v+h*l3)
		y, v = y+h/6*(k1+2*k2+2*k3+k4), v+h/6*(l1+2*l2+2*l3+l4)
	}
	return y
}

func TestDampingGivesTheOvershoot(t *testing.T) {
	for _, share := range []float64{0.02, 0.25, 0.35, 0.8} {
		f, m, most := newFilter[float64](&Response{1, 0, 10, Damping(share)}, 1e-4), memory[float64]{}, 0.
		for range 20000 {
			most = max(most, f.step(&m, 1))
		}
		if math.Abs(most-1-share) > 1e-4 {
			t.Errorf("overshoots by %.5f, expected %.5f", most-1, share)
		}
	}
}

// A delay of n steps and a share answers as that many inputs ago, weighted.
func TestDelayAnswersWithInputsOfBefore(t *testing.T) {
	for _, delay := range []float64{0, 0.25, 1, 1.5, 2.75, MaxDelay} {
		t.Run(fmt.Sprintf("%g steps", delay), func(t *testing.T) {
			f, m := newFilter[float64](&Response{Gain: 1, Delay: delay}, 0.02), memory[float64]{}
			for k := range 10 { // of a ramp
				want := max(0, float64(k)-delay)
				if y := f.step(&m, float64(k)); k >= MaxDelay && math.Abs(y-want) > 1e-12 {
					t.Errorf("step %d: %g, expected %g", k, y, want)
				}
			}
		})
	}
}

func TestResponseGradientMatchesFiniteDifferences(t *testing.T) {
	for _, r := range []Response{{1, 0, 0, 0}, {1.1, 0.4, 15, 0.5}, {0.9, 2.3, 12, 0.4}, {1, MaxDelay, 0, 0}} {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			const n = 8
			f := newFilter[float64](&r, 0.02)
			sum := func(u *[n]float64) (s float64) { // of the outputs, each with a weight of its own
				m := memory[float64]{}
				for k, x := range u {
					s += float64(k*k+1) * f.step(&m, x)
				}
				return s
			}
			var u, du [n]float64
			back := memory[float64]{}
			for k := n - 1; k >= 0; k-- {
				u[k] = math.Sin(float64(k))
				du[k] = f.stepVJP(&back, float64(k*k+1))
			}
			for k := range u {
				const h = 1e-3
				more, less := u, u
				more[k] += h
				less[k] -= h
				if want := (sum(&more) - sum(&less)) / (2 * h); math.Abs(du[k]-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("input %d: %.12g, finite differences %.12g", k, du[k], want)
				}
			}
		})
	}
}

// TestRobotsRespondEachForItself: each robot of a tile has drawn a response of its own, follows by it, and is shown it
// after what is measured of a disturbance.
func TestRobotsRespondEachForItself(t *testing.T) {
	const B, H = 6, 2
	inside := learned[float64](t, rand.New(rand.NewPCG(1, 1)))
	inside.Measured = MeasuredDisturbance[float64]{Size: 1, Share: 0.2, Draw: func(_ *rand.Rand, x, _ []float64) {
		x[0] = 7
	}}
	var drawn []float64
	w := &Responding[float64]{World: inside, Dt: nominal.Dt, Draw: func(rng *rand.Rand, each []Response) {
		each[0].Gain = rng.Float64()
		drawn = append(drawn, each[0].Gain)
	}, Shown: func(each []Response) float64 { return each[0].Gain }}
	k, d := w.tile(B, H).(*respondingTile[float64]), w.System().Dims()
	z := make([]float64, B*w.Latent())
	k.begin(B, H, latents[float64]{z, z, 0}, rand.New(rand.NewPCG(2, 2)))
	a, rest := make([]float64, B*d.Action), hold(w.System())
	for i := range a {
		a[i] = rest[i%d.Action] + 1
	}
	s, next := make([]float64, B*d.State), make([]float64, B*d.State)
	for b := range B {
		copy(s[b*d.State:], robot.Settled(w.System()))
	}
	k.Step(0, s, a, next)
	seen := k.measured(0)
	for b, gain := range drawn {
		if got := k.acts[b*d.Action] - rest[0]; math.Abs(got-gain) > 1e-12 || len(drawn) != B {
			t.Errorf("robot %d of %d follows by %.3f, expected %.3f", b, len(drawn), got, gain)
		}
		if got := seen[2*b:][:2]; got[0] != 7 || got[1] != gain {
			t.Errorf("robot %d is shown %v, expected 7 and %.3f", b, got, gain)
		}
	}
}
