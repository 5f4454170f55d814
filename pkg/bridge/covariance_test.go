package bridge

import (
	"math"
	"strings"
	"testing"

	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// variances is a covariance with these on its diagonal.
func variances(x ...float64) (c [36]float64) {
	for i, v := range x {
		c[i*7] = v
	}
	return c
}

func near(a, b so3.Vec3) bool { return a.Sub(b).Norm() < 1e-6 }

// TestSpread: deviations along our axes come of each message's variances, of the twist's in the body, too.
func TestSpread(t *testing.T) {
	pose := variances(0.01, 0.04, 0.09, 1e-4, 4e-4, 9e-4)
	want := Spread{Position: so3.Vec3{X: 0.1, Y: 0.2, Z: 0.3}, Attitude: so3.Vec3{X: 0.01, Y: 0.02, Z: 0.03}}
	m := geometrymsgs.NewPoseWithCovarianceStamped()
	m.Pose.Covariance = pose
	if s := FromPoseWithCovarianceStamped(m, PoseOptions{}).Spread; !near(s.Position, want.Position) ||
		!near(s.Attitude, want.Attitude) || s.Fault.Known() {
		t.Errorf("pose: %+v", s)
	}
	if s := FromPoseWithCovarianceStamped(m, PoseOptions{World: NED}).Spread; !near(s.Position,
		so3.Vec3{X: 0.2, Y: 0.1, Z: 0.3}) || !near(s.Attitude, so3.Vec3{X: 0.02, Y: 0.01, Z: 0.03}) {
		t.Errorf("NED: %+v", s)
	}
	o := navmsgs.NewOdometry()
	PutOdometry(o, stamp, "odom", "base_link", quad.State{Q: so3.FromEuler(0, 0, math.Pi/2)})
	o.Pose.Covariance, o.Twist.Covariance = pose, variances(0.04, 0.01, 0.09, 0, 0, 0)
	if s := FromOdometry(o, PoseOptions{}).Spread; !near(s.Velocity, so3.Vec3{X: 0.1, Y: 0.2, Z: 0.3}) {
		t.Errorf("twist in the body: %+v", s)
	}
	v := px4msgs.VehicleOdometry{PoseFrame: px4msgs.VehicleOdometryPoseFrameNed, Q: [4]float32{1, 0, 0, 0},
		VelocityFrame:    px4msgs.VehicleOdometryVelocityFrameNed,
		PositionVariance: [3]float32{0.01, 0.04, 0.09}, OrientationVariance: [3]float32{1e-4, 4e-4, 9e-4},
		VelocityVariance: [3]float32{0.16, 0.25, 0.36}}
	p, err := FromVehicleOdometry(&v)
	if s := p.Spread; err != nil || !near(s.Position, so3.Vec3{X: 0.2, Y: 0.1, Z: 0.3}) ||
		!near(s.Velocity, so3.Vec3{X: 0.5, Y: 0.4, Z: 0.6}) {
		t.Errorf("PX4: %+v, %v", s, err)
	}
}

// TestNoSpread: what is no variance is named, and counts as not known; what is one beside it counts.
func TestNoSpread(t *testing.T) {
	for name, c := range map[string]struct {
		bad  float64
		want string
	}{
		"zero": {0, "pose.covariance[7] is 0"}, "negative": {-1, "pose.covariance[7] is -1"},
		"NaN": {math.NaN(), "is NaN"}, "infinite": {math.Inf(1), "is +Inf"}, "absurd": {99999, "is 1e+05"},
	} {
		t.Run(name, func(t *testing.T) {
			m := geometrymsgs.NewPoseWithCovarianceStamped()
			m.Pose.Covariance = variances(0.01, c.bad, 0.09, 1e-4, 4e-4, 9e-4)
			s := FromPoseWithCovarianceStamped(m, PoseOptions{}).Spread
			if got := s.Fault.String(); !strings.Contains(got, c.want) || !strings.Contains(got, "not known") {
				t.Errorf("%q, expected %q", got, c.want)
			}
			if s.Position != (so3.Vec3{}) || s.Attitude == (so3.Vec3{}) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestImu: a sample is read as it was published; one without an acceleration, or in another unit, is refused.
func TestImu(t *testing.T) {
	rates, force := so3.Vec3{X: 1, Y: -2, Z: 3}, so3.Vec3{X: 0.1, Y: 0.2, Z: 9.8}
	var m sensormsgs.Imu
	PutInertial(&m, stamp, "base_link", rates, force)
	s, err := FromImu(&m)
	if err != nil || s != (Inertial{stamp, rates, force, "base_link"}) || m.OrientationCovariance[0] != -1 {
		t.Errorf("%+v, %v", s, err)
	}
	for want, spoil := range map[string]func(m *sensormsgs.Imu){
		"no acceleration":     func(m *sensormsgs.Imu) { m.LinearAccelerationCovariance[0] = -1 },
		"expected at most":    func(m *sensormsgs.Imu) { m.LinearAcceleration.Z = 9810 },
		"linear_acceleration": func(m *sensormsgs.Imu) { m.LinearAcceleration.X = math.NaN() },
		"degrees":             func(m *sensormsgs.Imu) { m.AngularVelocity.X = 200 },
		"no body rates":       func(m *sensormsgs.Imu) { m.AngularVelocityCovariance[0] = -1 },
	} {
		PutInertial(&m, stamp, "base_link", rates, force)
		m.AngularVelocityCovariance[0], m.LinearAccelerationCovariance[0] = 0, 0
		spoil(&m)
		if _, err := FromImu(&m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
