package sitl_test

import (
	"math"
	"testing"

	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/bridge/betaflight/sitl"
	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// newBoard is a board whose motors hover at an output of a third, with sticks for 10 rad/s.
func newBoard(t *testing.T) *sitl.Board {
	t.Helper()
	folder := sitltest.Folder(t)
	s := betaflight.Sticks{Rates: rates.Linear(10), MinCheck: 1050,
		Thrust: sitltest.Thrust()}
	b, err := sitl.NewBoard(folder, s, sitl.Settings(10))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

var upright = quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}

func TestBoardTurnsMotorsAsTheThrustCurveSays(t *testing.T) {
	b := newBoard(t)
	for _, g := range []float64{0.3, 0.5, 1, 1.5, 2} {
		c := quad.Command{Thrust: g * quad.Gravity}
		if err := b.Reset(upright, c); err != nil {
			t.Fatal(err)
		}
		hover := sitltest.Idle + (1-sitltest.Idle)*sitltest.Hover
		mean := 0.
		const steps = 500
		for range steps {
			m, err := b.Step(c, upright, so3.Vec3{}, so3.Vec3{Z: quad.Gravity}, 0.001)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range m {
				mean += x * x / hover / hover / 4 / steps
			}
		}
		if math.Abs(mean/g-1) > 0.005 {
			t.Errorf("thrust of %g g is %.4f g", g, mean)
		}
	}
}

// No thrust at all is that of a vehicle that is disarmed: the motors stand, where an armed board would turn them. It
// arms again for the next command.
func TestBoardDisarms(t *testing.T) {
	b := newBoard(t)
	hover := quad.Command{Thrust: quad.Gravity}
	if err := b.Reset(upright, hover); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		quad.Command
		turns bool
	}{"no thrust": {quad.Command{}, false}, "least thrust": {quad.Command{Thrust: 1}, true}, "hover": {hover, true}} {
		var m [4]float64
		var err error
		for range 500 {
			if m, err = b.Step(c.Command, upright, so3.Vec3{}, so3.Vec3{Z: quad.Gravity}, 0.001); err != nil {
				t.Fatal(err)
			}
		}
		if (m[0] > 0) != c.turns {
			t.Errorf("%s: motors at %v", name, m)
		}
	}
}

func TestBoardRunsTheSameEachTime(t *testing.T) {
	b := newBoard(t)
	fly := func() (out [][4]float64) {
		if err := b.Reset(upright, quad.Command{Thrust: quad.Gravity}); err != nil {
			t.Fatal(err)
		}
		for k := range 1000 {
			x := math.Sin(float64(k) / 50)
			m, err := b.Step(quad.Command{Thrust: 9 + x, Rates: so3.Vec3{X: x}}, upright, so3.Vec3{Y: x / 2},
				so3.Vec3{Z: quad.Gravity}, 0.001)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, m)
		}
		return out
	}
	first := fly()
	for k, m := range fly() {
		if m != first[k] {
			t.Fatalf("step %d: %v, and %v at first", k, m, first[k])
		}
	}
}
