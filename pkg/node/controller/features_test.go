package controller

import (
	"strings"
	"testing"
	"time"

	apriltagmsgs "vnd/msgs/apriltag_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/ros2/ros"
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

// TestTakesTags: tags of a detector come through the topic, and one that is no landmark is named once.
func TestTakesTags(t *testing.T) {
	h := newHarness(t, "-p", "autostart:=true", "-p", "bundle_file:="+path("features.vnd"), "-p",
		"features.source:=apriltags", "-p", "features.intrinsics:=[400.0, 400.0, 320.0, 240.0]")
	pub := must(ros.NewPublisher[apriltagmsgs.AprilTagDetectionArray](h.n, "detections", node.MocapQoS()))(t)
	m := &apriltagmsgs.AprilTagDetectionArray{}
	for id := range int32(9) { // eight are landmarks
		m.Detections = append(m.Detections, apriltagmsgs.AprilTagDetection{ID: id,
			Centre: apriltagmsgs.Point{X: 320, Y: 240}})
	}
	took := &h.c.gauges.frames
	for begun := time.Now(); took.newest.Load() == 0; time.Sleep(5 * time.Millisecond) {
		m.Header.Stamp = bridge.Time(time.Now().UnixNano())
		if err := pub.Publish(m); err != nil {
			t.Fatal(err)
		}
		if time.Since(begun) > long {
			t.Fatalf("no frame is taken, %d are refused", took.refused.Load())
		}
	}
	h.logs(`a detection of "8" is left out, expected one of 0, 1, 2, 3, 4, 5, 6, 7 (parameter features.ids)`)
}
