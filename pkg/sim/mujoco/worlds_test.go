//go:build cgo

package mujoco

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// block slides on a floor; a motor pushes it along x.
const block = `<mujoco>
  <option timestep="0.001" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" contype="0" conaffinity="0"/>
    <body name="block" pos="0 0 0.1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint type="slide" axis="0 0 1"/>
      <geom name="block" type="box" size="0.1 0.1 0.1" mass="2" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <contact><pair name="floor" geom1="floor" geom2="block" condim="3"/></contact>
  <actuator><motor joint="x"/></actuator>
</mujoco>`

// newWorlds makes worlds of the block, or skips the test where MuJoCo is not there.
func newWorlds(t *testing.T, n, threads int) *Worlds {
	t.Helper()
	w, err := New(block, n, threads)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// setFriction gives each world's floor its own friction, and begins them anew.
func setFriction(t *testing.T, w *Worlds, friction []float64) {
	t.Helper()
	pair, err := w.Pair("floor")
	if err != nil {
		t.Fatal(err)
	}
	all, err := w.Parameter("pair_friction")
	if err != nil {
		t.Fatal(err)
	}
	var ids []int32
	for i, f := range friction {
		row := all.Of(i)[5*pair:]
		row[0], row[1] = f, f
		ids = append(ids, int32(i))
	}
	if err := w.Reset(ids); err != nil {
		t.Fatal(err)
	}
}

// TestBlockSlidesAsFrictionHasIt: v²/(2µg), in each world by its own friction.
func TestBlockSlidesAsFrictionHasIt(t *testing.T) {
	friction := []float64{0.2, 0.5, 0.9}
	w := newWorlds(t, len(friction), 2)
	setFriction(t, w, friction)
	for i := range friction {
		w.Velocities.Of(i)[0] = 1
	}
	if err := w.Step(800); err != nil {
		t.Fatal(err)
	}
	for i, f := range friction {
		if got, want := w.Positions.Of(i)[0], 1/(2*f*9.81); math.Abs(got-want) > 0.01*want {
			t.Errorf("friction %g: slid %.4f m, want %.4f m", f, got, want)
		}
	}
}

func TestThreadsDoNotChangeWorlds(t *testing.T) {
	slide := func(threads int) (at []float64) {
		w := newWorlds(t, 5, threads)
		setFriction(t, w, []float64{0.2, 0.3, 0.4, 0.5, 0.6})
		for range 10 {
			for i := range w.Size() {
				w.Controls.Of(i)[0] = 8 + float64(i)
			}
			if err := w.Step(20); err != nil {
				t.Fatal(err)
			}
		}
		for i := range w.Size() {
			at = append(at, w.Positions.Of(i)...)
		}
		return at
	}
	one := slide(1)
	if other := slide(3); !slices.Equal(one, other) {
		t.Errorf("positions on one thread %v, on three %v", one, other)
	}
	if !(one[0] > 0.01) || one[0] == one[2] {
		t.Errorf("positions %v: worlds with other forces must part", one)
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	w := newWorlds(t, 4, 2)
	if n := testing.AllocsPerRun(20, func() {
		if err := w.Step(5); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
}

func TestWhatIsWrongIsSaidInOneLine(t *testing.T) {
	w := newWorlds(t, 2, 1)
	_, noField := w.Parameter("body_mas")
	_, noReal := w.Parameter("geom_type")
	_, noBody := w.Body("ball")
	_, noPair := w.Pair("wall")
	_, noModel := New("<mujoco><worldbody><geom/></worldbody>", 1, 1)
	_, noShape := New(`<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>`, 1, 1)
	_, noWorlds := New(block, 0, 1)
	mass, err := w.Parameter("body_mass")
	if err != nil {
		t.Fatal(err)
	}
	mass.Of(1)[1] = 0
	massless := w.Reset([]int32{1})
	w.Velocities.Of(0)[0] = math.NaN()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"field":    {noField, `no field "body_mas"`},
		"integers": {noReal, `no field "geom_type" of real numbers`},
		"body":     {noBody, `no body "ball"`},
		"pair":     {noPair, `no pair "wall"`},
		"XML":      {noModel, "model: XML"},
		"massless": {noShape, "model: mass and inertia"},
		"number":   {noWorlds, "0 worlds on 1 threads: expected 1 or more"},
		"diverged": {w.Step(1), "world 0: MuJoCo: positions, velocities"},
		"no mass":  {massless, "world 1: MuJoCo: "},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") {
			t.Errorf("%s: error %q, want one line with %q", name, c.err, c.want)
		}
	}
}

func TestMissingMuJoCoIsOneLine(t *testing.T) {
	t.Setenv("VND_SIMULATORS", t.TempDir())
	_, err := New(block, 1, 1)
	const want = "MuJoCo is not here: make simulators installs it"
	if !errors.Is(err, ErrMissing) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want %q", err, want)
	}
}

// TestCloseTwice: the second time there is nothing to end.
func TestCloseTwice(t *testing.T) {
	w := newWorlds(t, 2, 1) // which closes it, too
	w.Close()
	w.Close()
}
