package stateestimator

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// rig is the node, fed by hand.
type rig struct {
	*Estimator
	t  *testing.T
	at time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Backend: ros.InProcess(inproc.NewDomain()), Getenv: func(string) string { return "" }, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{e, t, time.Now()}
}

func (r *rig) imu(force so3.Vec3) {
	var m sensormsgs.Imu
	r.at = r.at.Add(5 * time.Millisecond)
	bridge.PutInertial(&m, r.at.UnixNano(), "imu", so3.Vec3{}, force)
	r.addImu(&m, ros.Info{})
}

func (r *rig) pose(s quad.State) {
	r.t.Helper()
	var m geometrymsgs.PoseStamped
	bridge.PutPoseStamped(&m, r.at.UnixNano(), "map", s)
	data, err := cdr.Marshal(&m)
	if err != nil {
		r.t.Fatal(err)
	}
	r.addPose(data, ros.Info{})
}

// TestSilentImu: the filter counts by the IMU's samples; when none come, the node says that there is no state.
func TestSilentImu(t *testing.T) {
	r := newRig(t)
	for range 1000 {
		r.imu(so3.Vec3{Z: quad.Gravity})
		r.pose(quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()})
	}
	if level, text := r.health(); r.filter.Phase() != inertial.Ready || level != diagnostics.OK {
		t.Fatalf("%v: %s", level, text)
	}
	r.Estimator.imu.came = time.Now().Add(-10 * time.Second)
	level, text := r.health()
	if level != diagnostics.Error || !strings.Contains(text, "no sample of the IMU for 10 s") {
		t.Errorf("%v: %s", level, text)
	}
}

// TestNoPoses: what is no pose is said, once, whatever its numbers are; so is a force beyond what a sensor gives.
func TestNoPoses(t *testing.T) {
	r := newRig(t)
	for i := range 30 {
		r.imu(so3.Vec3{Z: quad.Gravity})
		r.pose(quad.State{P: so3.Vec3{X: float64(i)}})
		r.imu(so3.Vec3{Z: 2000 + float64(i)})
	}
	if len(r.said) != 2 {
		t.Errorf("%d lines: %q", len(r.said), r.said)
	}
	r.pose(quad.State{P: so3.Vec3{X: math.NaN()}, Q: so3.Identity()})
	want := fmt.Sprint("poses: position ", so3.Vec3{X: math.NaN()}, " m, attitude of norm 1")
	if !strings.HasPrefix(r.why, want) {
		t.Errorf("%q, expected %q", r.why, want)
	}
}
