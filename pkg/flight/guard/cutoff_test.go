package guard

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// flyCutOff flies the figure-eight, and cuts states and commands off for a while from a time on, s; spoil changes the
// states after that. It returns for how many ticks states are not believed then, and the greatest tilt, rad.
func flyCutOff(t *testing.T, from, length float64, spoil func(s *quad.State)) (rejected int, tilt float64) {
	t.Helper()
	g, path := newGuard(t), eight{}
	start := path.At(0)
	w := &world{body: newBody(start.P, start.V, so3.Identity())}
	flyGuarded(g, w, PathFollower{newLaw(t), path}, from+length+2, func(at float64, in *Input) {
		switch w.cutOff = at >= from && at < from+length; {
		case w.cutOff:
			in.Stamp = from - 0.02
		case at >= from+length:
			spoil(&in.State)
		}
	}, func(at float64, s *quad.State) {
		if at >= from+length && g.belief.rejected {
			rejected++
		}
		if at >= from {
			tilt = max(tilt, s.Q.Tilt())
		}
	})
	return rejected, tilt
}

// Where a network was cut the robot went on by the last command that had reached it. The first states after that are
// believed, and the law brakes at once.
func TestCommandsThatDidNotArrive(t *testing.T) {
	for from := 4.; from < 7; from += 0.26 {
		for _, length := range []float64{0.16, 0.24, 0.34} {
			if n, tilt := flyCutOff(t, from, length, func(*quad.State) {}); n > 3 || tilt > 0.9 {
				t.Errorf("cut for %.2f s from %.2f s on: not believed for %d ticks, tilt %.2f rad", length, from, n,
					tilt)
			}
		}
	}
}

// States of another body after that are none of the robot's: they have to settle.
func TestAnotherBodyAfterACut(t *testing.T) {
	for from := 4.; from < 7; from += 0.26 {
		n, _ := flyCutOff(t, from, 0.24, func(s *quad.State) { s.P.X += 0.4 })
		if n < 20 {
			t.Errorf("cut from %.2f s on: another body is believed after %d ticks", from, n)
		}
	}
}
