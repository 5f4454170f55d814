package bridge

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/msgs"
	builtininterfaces "vnd/msgs/builtin_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mocap4r2msgs "vnd/msgs/mocap4r2_msgs"
	motioncapturetrackinginterfaces "vnd/msgs/motion_capture_tracking_interfaces"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/cdr"
)

func TestTime(t *testing.T) {
	for _, ns := range []int64{0, 1, 999_999_999, 1_718_000_000_020_000_256, -1, -1_000_000_001,
		math.MaxInt32*1e9 + 5} {
		if got := Nanoseconds(Time(ns)); got != ns {
			t.Errorf("%d ns became %d", ns, got)
		}
	}
	if got := Nanoseconds(builtininterfaces.Time{Sec: 3, Nanosec: 20}); got != 3_000_000_020 {
		t.Errorf("3 s and 20 ns are %d", got)
	}
}

// decode reads a message as it would come from a bag.
func decode(t testing.TB, m cdr.Message, o PoseOptions) (Pose, bool, error) {
	t.Helper()
	data, err := cdr.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewPoseDecoder("/poses", m.TypeName(), o)
	if err != nil {
		t.Fatal(err)
	}
	return d.Decode(data)
}

const stamp = int64(1_718_000_000_020_000_256)

// What is published is read back, in all types that vnd publishes, through the wire.
func TestPublishedIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anyState().Draw(rt, "state")
		odometry := new(navmsgs.Odometry)
		PutOdometry(odometry, stamp, "map", "base_link", s)
		p, found, err := decode(t, odometry, PoseOptions{})
		if err != nil || !found || !p.HasVelocity || p.Stamp != stamp || !same(p.State, s) {
			rt.Fatalf("%+v became %+v, found %v, error %v", s, p, found, err)
		}
		posed := new(geometrymsgs.PoseStamped)
		PutPoseStamped(posed, stamp, "map", s)
		p, found, err = decode(t, posed, PoseOptions{})
		s.V = so3.Vec3{}
		if err != nil || !found || p.HasVelocity || p.Stamp != stamp || !same(p.State, s) {
			rt.Fatalf("%+v became %+v, found %v, error %v", s, p, found, err)
		}
	})
}

// Odometry of a body that looks along world y and flies forward moves along y.
func TestOdometryTwist(t *testing.T) {
	m := new(navmsgs.Odometry)
	m.Header.FrameID, m.ChildFrameID = "odom", "base_link"
	q := so3.FromEuler(0, 0, math.Pi/2)
	m.Pose.Pose.Orientation = geometrymsgs.Quaternion{W: q.W, X: q.X, Y: q.Y, Z: q.Z}
	m.Twist.Twist.Linear.X = 2
	forward, along := so3.Vec3{Y: 2}, so3.Vec3{X: 2}
	for name, c := range map[string]struct {
		child   string
		options PoseOptions
		want    so3.Vec3
	}{
		"body":            {"base_link", PoseOptions{}, forward},
		"no child":        {"", PoseOptions{}, forward},
		"same frame":      {"odom", PoseOptions{}, along},
		"said to be body": {"odom", PoseOptions{Twist: InBody}, forward},
		"said to be world": {"base_link", PoseOptions{Twist: InWorld},
			along},
	} {
		t.Run(name, func(t *testing.T) {
			m.ChildFrameID = c.child
			if p := FromOdometry(m, c.options); p.State.V.Sub(c.want).Norm() > 1e-15 {
				t.Errorf("velocity %v, expected %v", p.State.V, c.want)
			}
		})
	}
	m.Twist.Twist.Linear.Y = math.NaN()
	if p := FromOdometry(m, PoseOptions{}); p.HasVelocity || p.State.V != (so3.Vec3{}) {
		t.Errorf("velocity with NaN became %v", p.State.V)
	}
}

// Odometry in NED with the twist in FRD is that in ENU with the twist in FLU.
func TestOdometryNED(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anyState().Draw(rt, "state")
		n := SwapState(s)
		m := new(navmsgs.Odometry)
		PutOdometry(m, stamp, "odom_ned", "base_link_frd", n)
		if got := FromOdometry(m, PoseOptions{}); !same(got.State, s) {
			rt.Fatalf("%+v became %+v", s, got.State)
		}
		m.Header.FrameID = "odom"
		if got := FromOdometry(m, PoseOptions{World: NED}); !same(got.State, s) {
			rt.Fatalf("said to be NED, %+v became %+v", s, got.State)
		}
		if got := FromOdometry(m, PoseOptions{}); !same(got.State, n) {
			rt.Fatalf("without a word, %+v became %+v", n, got.State)
		}
		m.Header.FrameID = "odom_ned"
		if got := FromOdometry(m, PoseOptions{World: ENU}); !same(got.State, n) {
			rt.Fatalf("said to be ENU, %+v became %+v", n, got.State)
		}
	})
}

func floats(v so3.Vec3) [3]float32 { return [3]float32{float32(v.X), float32(v.Y), float32(v.Z)} }

func TestVehicleOdometry(t *testing.T) {
	s := quad.State{P: so3.Vec3{X: 1, Y: 2, Z: 3}, Q: so3.FromEuler(0.1, -0.2, 0.5),
		V: so3.Vec3{X: -1, Y: 0.5, Z: 0.25}}
	n := SwapState(s)
	m := &px4msgs.VehicleOdometry{Timestamp: 7_000_000, TimestampSample: 6_990_000, PoseFrame: 1, Position: floats(n.P),
		Q: [4]float32{float32(n.Q.W), float32(n.Q.X), float32(n.Q.Y), float32(n.Q.Z)}}
	near := func(a, b so3.Vec3) bool { return a.Sub(b).Norm() < 1e-6 }
	for name, c := range map[string]struct {
		frame    uint8
		velocity so3.Vec3
		want     bool // there is one
	}{
		"NED":     {1, n.V, true},
		"body":    {3, n.Q.Conj().Rotate(n.V), true},
		"FRD":     {2, n.V, false}, // the pose is in NED, and the angle between the two is not known
		"unknown": {0, n.V, false},
		"NaN":     {1, so3.Vec3{X: math.NaN()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m.VelocityFrame, m.Velocity = c.frame, floats(c.velocity)
			p, found, err := decode(t, m, PoseOptions{})
			if err != nil || !found || p.Stamp != 6_990_000_000 || !near(p.State.P, s.P) ||
				apart(p.State.Q, s.Q) > 1e-3 {
				t.Fatalf("%+v, found %v, error %v", p, found, err)
			}
			if p.HasVelocity != c.want || c.want && !near(p.State.V, s.V) {
				t.Errorf("velocity %v, %v, expected %v", p.HasVelocity, p.State.V, s.V)
			}
		})
	}
	m.TimestampSample = 0
	if p, _, _ := decode(t, m, PoseOptions{}); p.Stamp != 7_000_000_000 {
		t.Errorf("stamp %d, expected that of the message", p.Stamp)
	}
	m.Timestamp = math.MaxUint64
	if p, _, _ := decode(t, m, PoseOptions{}); p.Stamp != 0 {
		t.Errorf("stamp %d of a clock beyond all years", p.Stamp)
	}
	m.PoseFrame, m.VelocityFrame, m.Velocity = 2, 2, floats(n.V)
	if p, _, err := decode(t, m, PoseOptions{}); err != nil || !p.HasVelocity || !near(p.State.V, s.V) {
		t.Errorf("all of it in FRD: %+v, error %v", p, err)
	}
	m.PoseFrame = 0
	want := "topic /poses: pose_frame is 0, expected 1 (NED) or 2 (FRD)"
	if _, found, err := decode(t, m, PoseOptions{}); found || err == nil || err.Error() != want {
		t.Errorf("found %v, error %v, expected %s", found, err, want)
	}
}

func TestStep(t *testing.T) {
	m := new(msgs.Step)
	m.Header.Stamp = Time(stamp)
	m.Pose.Position.X, m.Pose.Orientation.W = 4, 1
	m.Velocity.Z = -0.5
	m.Command, m.CommandSent = [4]float64{1, 2, 3, 4}, [4]float64{9, 0.1, 0.2, 0.3}
	p, found, err := decode(t, m, PoseOptions{})
	want := Pose{Stamp: stamp, State: quad.State{P: so3.Vec3{X: 4}, Q: so3.Identity(), V: so3.Vec3{Z: -0.5}},
		HasVelocity: true}
	if err != nil || !found || p != want {
		t.Errorf("state %+v, found %v, error %v", p, found, err)
	}
	c, err := decodeCommand(t, m, 0)
	if want := (Command{Stamp: stamp, Command: quad.Command{Thrust: 9,
		Rates: so3.Vec3{X: 0.1, Y: 0.2, Z: 0.3}}}); err != nil || c != want {
		t.Errorf("command %+v, expected what was sent, error %v", c, err)
	}
}

// all are the types that hold bodies by name, each with these at x = 1, 2, ….
func all(names ...string) []cdr.Message {
	tf, array, bodies := new(tf2msgs.TFMessage), new(motioncapturetrackinginterfaces.NamedPoseArray),
		new(mocap4r2msgs.RigidBodies)
	array.Header.Stamp, bodies.Header.Stamp = Time(stamp), Time(stamp)
	for i, name := range names {
		var p geometrymsgs.Pose
		putPose(&p, quad.State{P: so3.Vec3{X: float64(i + 1)}, Q: so3.Identity()})
		array.Poses = append(array.Poses, motioncapturetrackinginterfaces.NamedPose{Name: name, Pose: p})
		bodies.Rigidbodies = append(bodies.Rigidbodies, mocap4r2msgs.RigidBody{RigidBodyName: name, Pose: p})
		tr := geometrymsgs.TransformStamped{ChildFrameID: name}
		tr.Header.Stamp, tr.Transform.Rotation.W, tr.Transform.Translation.X = Time(stamp), 1, float64(i+1)
		tf.Transforms = append(tf.Transforms, tr)
	}
	return []cdr.Message{tf, array, bodies}
}

func TestBodiesByName(t *testing.T) {
	for _, m := range all("cf1", "/cf2", "cf3") {
		p, found, err := decode(t, m, PoseOptions{Body: "cf2"})
		want := Pose{Stamp: stamp, State: quad.State{P: so3.Vec3{X: 2}, Q: so3.Identity()}}
		if err != nil || !found || p != want {
			t.Errorf("%s: %+v, found %v, error %v", m.TypeName(), p, found, err)
		}
		if _, found, err = decode(t, m, PoseOptions{Body: "cf9"}); found || err != nil {
			t.Errorf("%s: found %v what is not there, error %v", m.TypeName(), found, err)
		}
		_, found, err = decode(t, m, PoseOptions{})
		if found || err == nil || !strings.HasSuffix(err.Error(),
			"topic /poses: bodies cf1, /cf2, cf3: parameter body has to say which") {
			t.Errorf("%s: without a name found %v, error %v", m.TypeName(), found, err)
		}
	}
	for _, m := range all("cf1") {
		if p, found, err := decode(t, m, PoseOptions{}); err != nil || !found || p.State.P.X != 1 {
			t.Errorf("%s: the only one: %+v, found %v, error %v", m.TypeName(), p, found, err)
		}
	}
	for _, m := range all() {
		if _, found, err := decode(t, m, PoseOptions{}); err != nil || found {
			t.Errorf("%s: none: found %v, error %v", m.TypeName(), found, err)
		}
	}
}

// A second body that comes only in a later message is noticed too.
func TestSecondBodyLater(t *testing.T) {
	d, err := NewPoseDecoder("/tf", TypeTransformStamped, PoseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name string
		ok   bool
	}{{"cf1", true}, {"cf1", true}, {"cf2", false}, {"cf1", true}} {
		m := &geometrymsgs.TransformStamped{ChildFrameID: c.name}
		data, err := cdr.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, found, err := d.Decode(data); found != c.ok || (err == nil) != c.ok {
			t.Errorf("message %d: found %v, error %v", i, found, err)
		}
	}
}

func TestPoseErrors(t *testing.T) {
	if _, err := NewPoseDecoder("/imu", "sensor_msgs/msg/Imu", PoseOptions{}); err == nil ||
		!strings.HasPrefix(err.Error(), "topic /imu: no poses in sensor_msgs/msg/Imu, expected one of "+
			"geometry_msgs/msg/PoseStamped, ") {
		t.Errorf("error %v", err)
	}
	d, err := NewPoseDecoder("/poses", TypePoseStamped, PoseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = d.Decode([]byte{0, 1, 0, 0, 1, 2})
	if want := "topic /poses: geometry_msgs/msg/PoseStamped: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, expected %s…", err, want)
	}
}

// No bytes make a decoder panic, and what it finds it finds again.
func FuzzDecoders(f *testing.F) {
	for i, name := range PoseTypes() {
		t, _ := msgs.Lookup(name)
		if data, err := cdr.Marshal(t.New()); err == nil {
			f.Add(uint8(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		names := append(PoseTypes(), TypeAttitudeTarget, TypeVehicleRatesSetpoint, TypeTwist, TypeThrustRates)
		name := names[int(kind)%len(names)]
		if d, err := NewPoseDecoder("/t", name, PoseOptions{Body: "cf1"}); err == nil {
			p, found, err := d.Decode(data)
			if again, foundAgain, errAgain := d.Decode(data); found != foundAgain ||
				(err == nil) != (errAgain == nil) || again.Stamp != p.Stamp {
				t.Fatalf("%v %v %v, then %v %v %v", p, found, err, again, foundAgain, errAgain)
			}
			if p.HasVelocity && !finite(p.State.V) {
				t.Fatalf("velocity %v", p.State.V)
			}
		}
		if d, err := NewCommandDecoder("/t", name, Throttle{Hover: 0.5}); err == nil {
			if c, err := d.Decode(data); err == nil && c.Command.Thrust < 0 {
				t.Fatalf("thrust %v", c.Command.Thrust)
			}
		}
	})
}
