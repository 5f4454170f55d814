package campaign

import (
	"testing"

	"vnd/pkg/vnd/bundle"
)

// A vehicle that is flown by its motors outlives a frozen pose, lost poses and a lost gyroscope: it comes down upright
// and softly. A gyroscope that comes back costs no landing.
func TestMotorsOutliveLostSensors(t *testing.T) {
	b, err := bundle.Read("../../flight/control/testdata/motors.vnd")
	if err != nil {
		t.Fatal(err)
	}
	lost := func(float64) bool { return false }
	for name, c := range map[string]struct {
		fault Fault
		cells []int // of a strong wind, a blind robot knows too little
		lands bool
	}{
		"frozen pose":      {Fault{Mocap: frozen()}, []int{0, 1}, true},
		"no pose":          {Fault{Mocap: func(float64, *Sample) bool { return false }}, []int{0, 1}, true},
		"no gyro":          {Fault{Gyro: lost}, []int{0, 1, 2, 3, 4, 5}, true},
		"no gyro for .5 s": {Fault{Gyro: func(t float64) bool { return t > 0.5 }}, []int{0, 1, 2, 3, 4, 5}, false},
	} {
		row := Row{ID: name, Plan: func(r *Run) { r.Bundle, r.Helper, r.Fault = b, false, c.fault }}
		for _, cell := range c.cells {
			t.Run(name+", "+Cells()[cell].String(), func(t *testing.T) {
				for number := range 2 {
					outlives(t, &row, cell, number, c.lands)
				}
			})
		}
	}
}

// outlives flies a run.
func outlives(t *testing.T, row *Row, cell, number int, lands bool) {
	t.Helper()
	r, err := newRun(made(t), row, cell, number, 1)
	if err == nil {
		err = r.Fly()
	}
	if err != nil {
		t.Fatal(err)
	}
	tilt := 0.0
	for i := range r.Ticks {
		if x := &r.Ticks[i]; x.T >= r.Onset {
			tilt = max(tilt, x.Truth.Q.Tilt())
		}
	}
	last := &r.Ticks[len(r.Ticks)-1]
	t.Logf("%d: tilt %.2f rad, touch-down %.2f m/s, %s", number, tilt, r.Touchdown, r.Crash)
	if r.Crash != "" || tilt > 1 || r.Touchdown > 1.5 || lands == last.Stage.PolicyFlies() {
		t.Errorf("%d: tilt %.2f rad, touch-down %.2f m/s, %s, in the end %v: %v", number, tilt, r.Touchdown, r.Crash,
			last.Stage, last.Cause)
	}
}
