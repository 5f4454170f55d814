package control

import (
	"math"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/latent"
	"vnd/pkg/flight/reference"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd"
)

// handed is a vehicle with an autopilot of its own, and a loop that is to take it over.
type handed struct {
	t       *testing.T
	v       *closedloop.Vehicle
	loop    *Loop
	encoder *latent.Encoder
	pace    Scheduler
	ticks   []TickRecord
	follows bool
	most    float64 // distance from the hover while it is followed, m
	tilt    float64 // the same, rad
}

func newHanded(t *testing.T, place so3.Vec3) *handed {
	t.Helper()
	var a closedloop.Autopilot
	param.Default(&a)
	v, err := closedloop.NewVehicle("", 1, place, a)
	if err != nil {
		t.Fatal(err)
	}
	c := defaults()
	h := &handed{t: t, v: v, loop: newLoop(t, c), pace: NewScheduler(c.Period())}
	h.loop.SetPolicy(loadedPolicy(t, "a.vnd", c.Rate))
	h.loop.SetReference(taskReference(t, "hover"))
	m, q, err := vnd.FromBundle(readBundle(t, "a.vnd"), quadrotor.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r, err := latent.LoadModel(m, q, 1)
	if err != nil {
		t.Fatal(err)
	}
	if h.encoder, err = latent.New(c.LatentAge); err != nil {
		t.Fatal(err)
	}
	h.encoder.Swap(r)
	return h
}

// fly lets seconds pass. The vehicle follows where follows is set, whatever the loop was told of it.
func (h *handed) fly(seconds float64) {
	const step = 0.0025
	for end := h.v.Time() + seconds; h.v.Time() < end-step/2; {
		h.v.Advance(step)
		now, due := epoch+int64(h.v.Time()*1e9), false
		for _, s := range h.v.Mocap() {
			m := Sample{Stamp: epoch + int64(s.Stamp*1e9), State: quad.State{P: s.P, Q: s.Q}}
			h.loop.AddSample(&m)
			due = h.pace.DueAtSample(m.Stamp, now) || due
		}
		if due || h.pace.DueByClock(now) {
			h.tick(now)
		}
		if s := h.v.Truth().State; h.follows {
			h.most = max(h.most, s.P.Sub(so3.Vec3{Z: 1}).Norm())
			h.tilt = max(h.tilt, s.Q.Tilt())
		}
	}
}

// tick is one of the loop, and of an encoder as the node has it.
func (h *handed) tick(now int64) {
	c, ok := h.loop.Tick(now)
	if !ok {
		return
	}
	if h.follows {
		h.v.Command(c)
	}
	k := NewTickRecord()
	h.loop.FinishTick(&k)
	h.ticks = append(h.ticks, k)
	if k.Stage == guard.NotOffboard {
		h.encoder.Reset()
		return
	}
	h.encoder.Push(&quad.Row{T: seconds(k.Stamp, epoch), State: k.State, Command: k.Sent})
	if h.encoder.Known() {
		h.loop.SetLatent(&Latent{Stamp: k.Stamp, Bundle: k.Bundle, Mean: h.encoder.Mean(), Novelty: h.encoder.Novelty()})
	}
}

// A robot that its autopilot took off and holds is handed over to the policy without a jolt, from within a metre; also
// where the autopilot says so a second late, as mavros may. What was commanded before went nowhere: nothing of it is
// believed, told to an encoder, or trips the guard.
func TestTakesOverFromTheAutopilot(t *testing.T) {
	for _, c := range []struct {
		place so3.Vec3
		late  float64 // s
	}{{so3.Vec3{}, 0}, {so3.Vec3{X: 0.5, Y: -0.4}, 0}, {so3.Vec3{X: 0.5, Y: -0.4}, 1}} {
		h, settings := newHanded(t, c.place), defaults()
		h.loop.SetOffboard(false)
		if err := h.v.TakeOff(); err != nil {
			t.Fatal(err)
		}
		h.fly(5)
		begun := len(h.ticks)
		for i := range h.ticks {
			k := &h.ticks[i]
			if ready := settings.ReadyForHandover(&k.State, k.Reference[0].P); k.Stage != guard.NotOffboard ||
				ready != (k.Cause == guard.None) || k.LatentStamp != 0 ||
				k.Actuator != (quad.Command{Thrust: quad.Gravity}) {
				t.Fatalf("from %v: tick %d before it: %v, %v, latent of %d, actuator %v", c.place, i, k.Stage, k.Cause,
					k.LatentStamp, k.Actuator)
			}
		}
		if s := h.v.Truth().State; h.v.Mode() != closedloop.Waiting ||
			s.P.Sub(c.place).Sub(so3.Vec3{Z: 1}).Norm() > 0.1 {
			t.Fatalf("from %v: the autopilot brought it to %v, %s", c.place, s.P, h.v.Status())
		}
		h.follows = true
		h.loop.SetOffboard(c.late <= 0)
		h.fly(c.late)
		h.loop.SetOffboard(true)
		h.fly(4)
		off := h.v.Truth().State.P.Sub(so3.Vec3{Z: 1}).Norm()
		t.Logf("from %v, %g s late: at most %.3f m off and %.2f rad tilted, in the end %.3f m", c.place, c.late, h.most,
			h.tilt, off)
		if from := math.Hypot(c.place.X, c.place.Y); h.most > from+0.1 || off > 0.05 || h.tilt > 0.1+1.4*from {
			t.Errorf("from %v, %g s late: at most %.3f m off and %.2f rad tilted, in the end %.3f m", c.place, c.late,
				h.most, h.tilt, off)
		}
		begun += int(c.late * 50)
		for i := begun + 3; i < len(h.ticks); i++ {
			const window = 21
			if k := &h.ticks[i]; k.Stage != guard.Policy || (k.LatentStamp != 0) != (i > begun+window) &&
				i != begun+window && i != begun+window+1 {
				t.Fatalf("from %v: tick %d after it: %v, %v, latent of %d", c.place, i-begun, k.Stage, k.Cause,
					k.LatentStamp)
			}
		}
	}
}

// A task reference waits at its beginning until commands are followed.
func TestTaskReferenceWaits(t *testing.T) {
	h := newHanded(t, so3.Vec3{Z: 1})
	h.loop.SetReference(taskReference(t, "track"))
	h.loop.SetOffboard(false)
	h.fly(1)
	begin := h.ticks[0].Reference[0]
	if last := h.ticks[len(h.ticks)-1].Reference[0]; last != begin {
		t.Errorf("the reference went on from %v to %v", begin, last)
	}
	h.follows = true
	h.loop.SetOffboard(true)
	h.fly(1)
	if last := h.ticks[len(h.ticks)-1].Reference[0]; last.P.Sub(begin.P).Norm() < 0.05 {
		t.Errorf("the reference stays at %v", last)
	}
}

// Followed from the ground on, or far from its task reference, a robot is not flung: it stays where it is under the
// guard, also where that is said a second late; and taken back, and brought near, it is handed over as ever.
func TestKeepsFarRobots(t *testing.T) {
	for _, c := range []struct {
		place so3.Vec3
		stage guard.Stage
		late  float64 // s
	}{
		{so3.Vec3{X: 1.5, Z: 1}, guard.Hold, 0}, {so3.Vec3{X: 1.5, Z: 1}, guard.Hold, 1}, {so3.Vec3{}, guard.Off, 0},
		{so3.Vec3{}, guard.Off, 1},
	} {
		h := newHanded(t, c.place)
		h.loop.SetOffboard(false)
		h.fly(2)
		at, moved := h.v.Truth().State.P, 0.0
		h.follows = true
		h.fly(c.late)
		h.loop.SetOffboard(true)
		for range 20 {
			h.fly(0.05)
			moved = max(moved, h.v.Truth().State.P.Sub(at).Norm())
		}
		if k := h.ticks[len(h.ticks)-1]; k.Stage != c.stage || k.Cause != guard.NotReady || moved > 0.15 {
			t.Errorf("from %v, %g s late: %v for %v, moved by %.3f m", c.place, c.late, k.Stage, k.Cause, moved)
		}
		h.follows = false
		h.loop.SetOffboard(false)
		h.v.Hold()
		if c.stage == guard.Off {
			if err := h.v.TakeOff(); err != nil {
				t.Fatal(err)
			}
		} else {
			path, err := reference.Parse("point", []byte(`{"kind": "hover", "point": [1.5, 0, 1]}`))
			if err != nil {
				t.Fatal(err)
			}
			near, err := NewTaskReference("hover", path)
			if err != nil {
				t.Fatal(err)
			}
			h.loop.SetReference(near)
		}
		h.fly(5)
		h.follows = true
		h.loop.SetOffboard(true)
		h.fly(1)
		if k := h.ticks[len(h.ticks)-1]; k.Stage != guard.Policy || k.Cause != guard.None {
			t.Errorf("from %v, %g s late: handed over anew: %v for %v", c.place, c.late, k.Stage, k.Cause)
		}
	}
}
