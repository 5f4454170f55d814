package control

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim/closedloop"
)

// watched is a closed loop whose policy flies by a camera's landmarks.
type watched struct {
	*closed
	frames *closedloop.FrameSource
	seen   int64 // stamp of the newest frame that came, ns
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{closed: newClosed(t, defaults(), "features.vnd")}
	w.loop.SetReference(taskReference(t, "features"))
	c := closedloop.Camera{Optics: w.loop.policy.policy.Observation.Camera.Optics, Rate: 50, Latency: 0.02}
	var err error
	if w.frames, err = closedloop.NewFrameSource(&c, quad.Reference{P: so3.Vec3{Z: 1}}, 0.02, 1); err != nil {
		t.Fatal(err)
	}
	return w
}

// AddFrame implements closedloop.FrameReceiver.
func (w *watched) AddFrame(t float64, features []policy.Feature) {
	w.seen = epoch + int64(t*1e9)
	w.loop.AddFrame(w.seen, features)
}

// look flies for some time, s, and returns its ticks.
func (w *watched) look(seconds float64, sees bool) []TickRecord {
	from := len(w.ticks)
	for end := w.sim.Time() + seconds; w.sim.Time() < end-1e-6; {
		if truth := w.sim.Truth(); sees {
			w.frames.Tick(truth.Time, &truth.State, w)
		}
		w.advance(0.02, nil)
	}
	return w.ticks[from:]
}

// TestHoversByLandmarks: without a frame that shows them the guard holds, from max_frame_age on; the policy flies again
// once they are seen, and the second time in a minute the guard lands. Where the landmarks are stays the reference.
func TestHoversByLandmarks(t *testing.T) {
	w := newWatched(t)
	all := w.look(8, true)
	for _, k := range all[len(all)-100:] {
		if k.Stage != guard.Policy || k.LatentStamp != 0 {
			t.Fatalf("%v for %v, under a latent of %d", k.Stage, k.Cause, k.LatentStamp)
		}
	}
	if w.off() > 0.1 {
		t.Fatalf("%.3f m off", w.off())
	}
	blind := w.look(0.6, false)
	for _, k := range blind {
		age := seconds(k.Stamp, w.seen)
		holds := k.Stage == guard.Hold
		if holds != (k.Cause == guard.Unseen) || holds != (age > 0.19) && math.Abs(age-0.19) > 0.03 {
			t.Fatalf("%.3f s after the last frame: %v for %v", age, k.Stage, k.Cause)
		}
	}
	again := w.look(3, true)
	for _, k := range again[len(again)-50:] {
		if k.Stage != guard.Policy {
			t.Fatalf("landmarks are seen again: %v for %v", k.Stage, k.Cause)
		}
	}
	if w.off() > 0.15 || w.sim.Crashed() {
		t.Fatalf("%.3f m off, %s", w.off(), w.sim.Crash())
	}
	for _, k := range w.ticks {
		if k.Target != (so3.Vec3{Z: 1}) {
			t.Fatalf("the reference moved to %v", k.Target)
		}
	}
	w.look(12, false)
	if last := w.ticks[len(w.ticks)-1]; last.Stage != guard.Off || last.Cause != guard.Unseen || w.sim.Crashed() {
		t.Errorf("without landmarks: %v for %v, %s", last.Stage, last.Cause, w.sim.Crash())
	}
}

// TestFramesOfAClockThatWasSetBack are none of the future.
func TestFramesOfAClockThatWasSetBack(t *testing.T) {
	w := newWatched(t)
	w.look(1, true)
	var q Request
	ask := func(shift int64) float64 {
		now := epoch + int64(w.sim.Time()*1e9) + shift
		for k := range 50 { // a robot that hovers
			stamp := now + int64(k)*5e6
			w.loop.AddSample(&Sample{Stamp: stamp, State: quad.State{P: so3.Vec3{X: 1e-5 * float64(k%7), Z: 1},
				Q: so3.Identity()}})
			if k%4 == 3 {
				w.loop.Ask(stamp, &q)
			}
		}
		return q.FrameAge
	}
	if age := ask(0); !(age > 0.2 && age < 0.3) {
		t.Errorf("the newest frame is %g s old", age)
	}
	if age := ask(-100e9); !math.IsInf(age, 1) {
		t.Errorf("after the clock was set back the newest frame is %g s old, want none", age)
	}
}
