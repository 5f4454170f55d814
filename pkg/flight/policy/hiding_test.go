package policy

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// hider is a robot whose position error along a path depends on what is hidden.
type hider struct {
	hiding
	amplitude float64 // m
	hidden    float64 // s, since the last reading
}

// fly goes along a path for some seconds: next gives the change of the amplitude per second, by what is hidden.
func (d *hider) fly(seconds, speed float64, next func(amplitude, share float64) float64) {
	const dt = 0.02
	d.hidden = 0
	for k := range int(seconds / dt) {
		d.amplitude += dt * next(d.amplitude, d.share)
		d.step(so3.Vec3{X: d.amplitude * math.Sin(2*math.Pi*0.7*dt*float64(k))}, speed, dt)
		d.hidden += dt * d.share
	}
}

// A load on a cable: answers swing it up to .1 m, without them it comes to rest.
func cable(amplitude, share float64) float64 {
	return amplitude*0.5*((1-share)*(1-amplitude/0.1)-share) + 0.001
}

// stirred is of a swing that grows by two thirds when it is not answered any more, and dies down then.
func stirred(amplitude, share float64) float64 {
	switch {
	case share > 0 && share < 1:
		return 0.5 * amplitude
	case share == 1:
		return -0.15 * amplitude
	}
	return 2 * (0.06 - amplitude)
}

// toward is of a robot that errs by so much where it answers, and where it does not.
func toward(answers, hides float64) func(float64, float64) float64 {
	return func(amplitude, share float64) float64 { return 2 * (answers + share*(hides-answers) - amplitude) }
}

func TestHiding(t *testing.T) {
	for name, c := range map[string]struct {
		speed       float64
		begin       float64 // amplitude, m
		next        func(amplitude, share float64) float64
		least, most float64 // share of two minutes that is hidden
	}{
		"a load on a cable":         {1, 0.02, cable, 0.7, 1},
		"late commands":             {1, 0.1, toward(0.1, 0.015), 0.7, 1},
		"answers help, and err far": {1, 0.1, toward(0.1, 0.2), 0, 0.15},
		"either is the same":        {1, 0.1, toward(0.1, 0.1), 0, 0.25},
		"it takes little away":      {1, 0.1, toward(0.1, 0.095), 0, 0.3},
		"errors are small":          {1, 0.025, toward(0.025, 0), 0, 0},
		"it is stirred up at first": {1, 0.06, stirred, 0.7, 1},
		"an error that falls":       {1, 1, func(a, _ float64) float64 { return -0.15 * a }, 0, 0},
		"hover":                     {0.2, 0.1, cable, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := hider{amplitude: c.begin}
			d.fly(120, c.speed, c.next)
			if got := d.hidden / 120; got < c.least || got > c.most {
				t.Errorf("hidden for %.2f of the time, expected %.2f to %.2f", got, c.least, c.most)
			}
		})
	}
}

// TestHidingEnds: once the load is dropped, answers are tried again, and stay.
func TestHidingEnds(t *testing.T) {
	d := hider{amplitude: 0.1}
	if d.fly(60, 1, cable); !d.hides {
		t.Fatal("nothing is hidden under the load")
	}
	d.fly(90, 1, toward(0.005, 0.03))
	if d.fly(60, 1, toward(0.005, 0.03)); d.hidden > 0 {
		t.Errorf("hidden for %.1f s after the load is gone", d.hidden)
	}
}

// TestHidingIsBounded: whatever the errors are, a share of 0 to 1 is hidden, and it moves by degrees.
func TestHidingIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var d hiding
		errs := []float64{0, 0.04, 0.06, 1, 1e200, math.NaN(), math.Inf(1)}
		for range rapid.IntRange(1, 30).Draw(rt, "phases") {
			x := rapid.SampledFrom(errs).Draw(rt, "error")
			dt := rapid.SampledFrom([]float64{0.02, 0.005, 0.1, 0, -1, math.NaN()}).Draw(rt, "dt")
			for range 100 {
				before := d.share
				d.step(so3.Vec3{X: x}, 1, dt)
				if !(d.share >= 0 && d.share <= 1 && math.Abs(d.share-before) <= max(0, dt)/easing+1e-12 || dt != dt) {
					rt.Fatalf("a share of %g after %g", d.share, before)
				}
			}
		}
	})
}

// swinging flies a runner for so long along a path about which its robot swings by .1 m.
func swinging(f *Runner, from, seconds float64) {
	for k := range int(seconds / 0.02) {
		at := from + 0.02*float64(k)
		s := quad.State{P: so3.Vec3{X: 0.1 * math.Sin(4*at), Y: at}, Q: so3.Identity()}
		f.Command(at, &s)
	}
}

// onPath makes a runner that follows a straight path at 1 m/s.
func onPath(b *Buffers) *Runner {
	return NewRunnerOf(b, 0.02, func(t float64) quad.Reference {
		return quad.Reference{P: so3.Vec3{Y: t}, V: so3.Vec3{Y: 1}}
	})
}

// TestRunnerHidesAlongAPath: a runner whose robot swings about its path says that it hides what moves. What somebody
// else flies is no reason to, nor is a bundle of before put on trial, nor a policy without answers.
func TestRunnerHidesAlongAPath(t *testing.T) {
	for name, c := range map[string]struct {
		swing         float64 // Push.Swing
		held, answers bool
		want          float64
	}{
		"flown":              {0.5, false, true, 1},
		"held":               {0.5, true, true, 0},
		"a bundle of before": {0, false, true, 0},
		"without answers":    {0.5, false, false, 0},
	} {
		l := hoverer(t)
		if l.Policy.Push.Swing = c.swing; !c.answers {
			l.Model = nil
		}
		f := onPath(l.NewBuffers())
		f.HoldCorrection(c.held)
		swinging(f, 0, 16)
		if got := f.Hidden(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %.2f is hidden, expected %.0f", name, got, c.want)
		}
		if f.Reset(); f.Hidden() != 0 {
			t.Errorf("%s: after a reset %.2f is hidden", name, f.Hidden())
		}
	}
}

// TestSwapAnswers: a policy swapped in answers, however much the one before it hid.
func TestSwapAnswers(t *testing.T) {
	l := hoverer(t)
	f := onPath(l.NewBuffers())
	if swinging(f, 0, 16); f.Hidden() != 1 {
		t.Fatalf("%.2f is hidden before the swap, expected 1", f.Hidden())
	}
	f.Swap(l.NewBuffers(), 0.02)
	if swinging(f, 16, 0.5); !(f.Hidden() > 0.4 && f.Hidden() < 0.6) {
		t.Errorf("%.2f is hidden half a second after the swap, expected about .5: it ends by degrees", f.Hidden())
	}
	if swinging(f, 16.5, 1); f.Hidden() != 0 {
		t.Errorf("%.2f is hidden 1.5 s after the swap, expected 0", f.Hidden())
	}
}

// TestSwapToAPolicyWithoutAnswers: nothing hides of one, whatever the policy before it hid.
func TestSwapToAPolicyWithoutAnswers(t *testing.T) {
	l := hoverer(t)
	f := onPath(l.NewBuffers())
	if swinging(f, 0, 16); f.Hidden() != 1 {
		t.Fatalf("%.2f is hidden before the swap, expected 1", f.Hidden())
	}
	l.Model = nil
	f.Swap(l.NewBuffers(), 0.02)
	if swinging(f, 16, 2); f.Hidden() != 0 {
		t.Errorf("%.2f is hidden 2 s after the swap, expected 0", f.Hidden())
	}
}
