package node_test

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros"
)

// relay hands the simulated camera's frames on, as long as it is told to.
type relay struct {
	*lab
	out    *ros.RawPublisher
	passes atomic.Bool
	spoil  atomic.Pointer[func(m *msgs.Features)] // of one frame, which goes out besides
	last   atomic.Int64                           // stamp of the newest frame that went out, ns
}

func (l *lab) newRelay() *relay {
	l.t.Helper()
	r := &relay{lab: l}
	r.out = must(ros.NewRawPublisher(l.n, "/quad/features", bridge.TypeFeatures, node.MocapQoS()))(l.t)
	r.passes.Store(true)
	must(ros.NewSubscription(l.n, "/quad/seen", node.MocapQoS(), func(m *msgs.Features, _ ros.Info) {
		if !r.passes.Load() {
			return
		}
		r.last.Store(bridge.Nanoseconds(m.Header.Stamp))
		r.publish(m)
		if spoil := r.spoil.Swap(nil); spoil != nil {
			(*spoil)(m)
			r.publish(m)
		}
	}))(l.t)
	return r
}

func (r *relay) publish(m *msgs.Features) {
	data, err := cdr.Marshal(m)
	if err == nil {
		err = r.out.PublishBytes(data)
	}
	if err != nil {
		r.t.Error(err)
	}
}

// policyFlew reports whether the policy flew the last n steps.
func (l *lab) policyFlew(n int) bool {
	return len(l.steps) >= n && !slices.ContainsFunc(l.steps[len(l.steps)-n:], func(s msgs.Step) bool {
		return !guard.Stage(s.GuardState).PolicyFlies()
	})
}

// TestHoverByLandmarks: the simulated quadrotor hovers by its camera's landmarks over the wire, and no latent is made
// of its states. Frames that are none are refused, with a line each. Where frames end, the guard holds after
// max_frame_age, and lands. Time passes no faster than on the wall, for frames that the test is late with are none.
func TestHoverByLandmarks(t *testing.T) {
	l := newLab(t)
	r := l.newRelay()
	l.start("quad_sim", "-r", "features:=seen", "-p", "lockstep:=true", "-p", "lockstep_patience:=10.0", "-p",
		"lockstep_paced:=true")
	l.start("latent_encoder", "-p", "use_sim_time:=true")
	l.start("policy_controller", "-p", "use_sim_time:=true", "-p", "autostart:=true", "-p", "guard.max_frame_age:=0.5")
	bundles := must(ros.NewPublisher[msgs.Bundle](l.n, "/quad/bundle", node.LatchedQoS()))(t)
	b := readBundle(t, "features.vnd")
	if err := bundles.Publish(b); err != nil {
		t.Fatal(err)
	}
	above := so3.Vec3{Z: 1}
	l.until("the robot hovers by its landmarks", func() bool {
		return l.policyFlew(300) && newest(l.steps).Task == "features" && l.hovers(above)
	})
	r.refuses()
	r.lands()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range l.steps {
		if s.LatentStamp.Sec != 0 || s.BundleID != b.ID {
			t.Fatalf("step %d: %+v", i, s)
		}
	}
	if len(l.latents) > 0 {
		t.Errorf("%d latents of a policy that is given no state", len(l.latents))
	}
}

// refuses sends frames that are none, beside good ones: the policy flies on.
func (r *relay) refuses() {
	r.t.Helper()
	first := func() uint64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return newest(r.steps).Seq
	}()
	for _, c := range []struct {
		line  string
		spoil func(m *msgs.Features)
	}{
		{"7 features, expected the policy's 8 landmarks, seen or not", func(m *msgs.Features) {
			m.Features = m.Features[1:]
		}},
		{"landmark 2 is seen at NaN, ", func(m *msgs.Features) {
			m.Features[2] = msgs.Feature{ID: 2, Visible: true, X: math.NaN()}
		}},
		{"features[3].id is 99, expected 0 to 7", func(m *msgs.Features) { m.Features[3].ID = 99 }},
		{"a frame's stamp is not later than that of the frame before", func(m *msgs.Features) {
			m.Header.Stamp = bridge.Time(bridge.Nanoseconds(m.Header.Stamp) - 1e6)
		}},
		{"a frame's stamp is in the future", func(m *msgs.Features) {
			m.Header.Stamp = bridge.Time(bridge.Nanoseconds(m.Header.Stamp) + 1e9)
		}},
	} {
		r.spoil.Store(&c.spoil)
		r.until("the line: "+c.line, func() bool {
			return slices.ContainsFunc(r.log, func(line string) bool {
				return strings.HasPrefix(line, "topic /quad/features: ") && strings.Contains(line, c.line)
			})
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.steps {
		if s.Seq > first && !guard.Stage(s.GuardState).PolicyFlies() {
			r.t.Fatalf("a refused frame moved the guard: %+v", s)
		}
	}
}

// lands has the frames end: the guard holds where the robot is, and lands.
func (r *relay) lands() {
	r.t.Helper()
	r.mu.Lock()
	from := len(r.steps)
	r.mu.Unlock()
	r.passes.Store(false)
	held := func() int {
		return from + slices.IndexFunc(r.steps[from:], func(s msgs.Step) bool {
			return s.GuardState == msgs.StepGuardHold
		})
	}
	r.until("the guard holds", func() bool { return held() >= from })
	r.mu.Lock()
	s := r.steps[held()]
	r.mu.Unlock()
	if age := float64(bridge.Nanoseconds(s.Header.Stamp)-r.last.Load()) / 1e9; age > 0.56 || age < 0.3 {
		r.t.Errorf("the guard holds %.3f s after the last frame, expected max_frame_age, 0.5 s", age)
	}
	r.until("the log says why", func() bool {
		return slices.Contains(r.log, "the guard flies: the policy sees no landmarks (hold)")
	})
	r.until("the guard lands", func() bool {
		return newest(r.steps).GuardState == msgs.StepGuardOff && newest(r.truth).State.P.Z < 0.1
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.truth {
		if off := math.Hypot(p.State.P.X, p.State.P.Y); off > 0.3 || p.State.P.Z > 1.3 {
			r.t.Fatalf("%.2f m beside the place at a height of %.2f m", off, p.State.P.Z)
		}
	}
}

// TestLandsOverTheWire: a policy lands the simulated quadrotor on a point of the floor: within 10 cm, at 0.5 m/s
// downwards at most, without a bounce of more than 1 cm, and it stands within 10° of level.
func TestLandsOverTheWire(t *testing.T) {
	l := newLab(t)
	l.start("quad_sim", "-p", "lockstep:=true", "-p", "lockstep_patience:=10.0", "-p", "speed:=5.0", "-p",
		"truth_rate:=500.0", "-p", "start:=[0.4, -0.3, 1.0]")
	l.start("policy_controller", "-p", "use_sim_time:=true", "-p", "autostart:=true", "-p", "task:=hover", "-p",
		`reference_json:='{"kind": "hover", "point": [0.4, -0.3, 1.0]}'`)
	bundles := must(ros.NewPublisher[msgs.Bundle](l.n, "/quad/bundle", node.LatchedQoS()))(t)
	if err := bundles.Publish(readBundle(t, "land.vnd")); err != nil {
		t.Fatal(err)
	}
	l.until("the robot hovers", func() bool { return l.policyFlew(150) })
	if r := l.task("land", `{"kind": "landing", "to": [0, 0, -0.1]}`); !r.Success { // against the ground effect
		t.Fatal(r.Message)
	}
	l.until("it stands", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardOff && newest(l.truth).State.P.Z < 0.1
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	flew := 0
	for _, s := range l.steps {
		if s.Task == "land" && s.GuardState == msgs.StepGuardPolicy {
			flew++
		}
	}
	end := newest(l.truth).State
	lowest := slices.IndexFunc(l.truth, func(p bridge.Pose) bool { return p.State.P.Z < end.P.Z+0.002 })
	down, highest := 0., end.P.Z
	for _, p := range l.truth[max(lowest-5, 0) : lowest+1] { // 10 ms
		down = max(down, -p.State.V.Z)
	}
	for _, p := range l.truth[lowest:] {
		highest = max(highest, p.State.P.Z)
	}
	off, tilt := math.Hypot(end.P.X, end.P.Y), math.Acos(min(end.Q.ZAxis().Z, 1))*180/math.Pi
	t.Logf("the policy flew %d ticks of the landing; %.3f m off, %.2f m/s down, %.4f m of a bounce, %.1f° of tilt",
		flew, off, down, highest-end.P.Z, tilt)
	if flew < 50 || off > 0.1 || down > 0.5 || highest-end.P.Z > 0.01 || tilt > 10 {
		t.Error("expected the policy to land within 0.1 m, at 0.5 m/s, without a bounce of 1 cm, within 10°")
	}
}
