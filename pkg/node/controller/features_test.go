package controller

import (
	"strings"
	"testing"
	"time"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// TestStampsOfFrames rise, and are not of the future; those of a clock that was set back begin anew.
func TestStampsOfFrames(t *testing.T) {
	h := newHarness(t)
	r := &featuresReceiver{Controller: h.c, topic: "/features"}
	const hour = int64(time.Hour)
	now := int64(h.c.Now())
	for _, c := range []struct {
		name  string
		stamp int64
		want  string // in the error; "" without
	}{
		{"the first", now - 5e6, ""},
		{"the next", now - 1e6, ""},
		{"the same again", now - 1e6, "is not later than that of the frame before"},
		{"one of before", now - 4e6, "is not later than that of the frame before"},
		{"one of another clock", now + hour, "is in the future"},
		{"the next again", now, ""},
	} {
		err := r.checkStamp(c.stamp)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "topic /features: ")) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	r.last = now + hour
	if err := r.checkStamp(now); err != nil {
		t.Errorf("after the clock was set back: %v", err)
	}
}

// TestLowBatteryLeavesLandmarksAlone: a policy that flies by landmarks is not called home: it hovers where they are.
func TestLowBatteryLeavesLandmarksAlone(t *testing.T) {
	h := newHarness(t)
	p := defaults(t)
	b := must(bundle.Read(path("features.vnd")))(t)
	h.c.mu.Lock()
	h.c.policy = must(control.LoadPolicy(b, quadrotor.Name, p.Rate))(t)
	h.c.task = must(control.NewTaskReference("features", nil))(t)
	before := h.c.task
	h.c.mu.Unlock()
	w := &batteryWatch{Controller: h.c, params: p}
	if err := w.flyHome(so3.Vec3{X: 2}, &hovering); err != nil {
		t.Error(err)
	}
	if _, now := h.c.flying(); now != before {
		t.Error("it is to hover elsewhere")
	}
}
