package flightlog

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	mocap4r2msgs "vnd/msgs/mocap4r2_msgs"
	motioncapturetrackinginterfaces "vnd/msgs/motion_capture_tracking_interfaces"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// said is a message of a made-up bag.
type said struct {
	topic string
	log   int64 // ns since epoch
	m     cdr.Message
}

// spoken writes the messages into a bag.
func spoken(t testing.TB, messages []said) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "lab")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		data, err := cdr.Marshal(m.m)
		if err != nil {
			t.Fatal(err)
		}
		known, _ := msgs.Lookup(m.m.TypeName())
		if err := w.AddTopic(bag.Topic{Name: m.topic, Type: known.Name, Definition: known.Definition()}); err != nil {
			t.Fatal(err)
		}
		at := epoch + m.log
		if err := w.Write(&bag.Message{Topic: m.topic, LogTime: at, PublishTime: at, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// stack is how a lab's topics say a state and a command at a stamp.
type stack struct {
	poseTopic, commandTopic string
	pose                    func(stamp int64, s quad.State) cdr.Message
	command                 func(stamp int64, c quad.Command) cdr.Message
}

func header(stamp int64, frame string) stdmsgs.Header {
	return stdmsgs.Header{Stamp: bridge.Time(stamp), FrameID: frame}
}

func geometryPose(s quad.State) geometrymsgs.Pose {
	var m geometrymsgs.PoseStamped
	bridge.PutPoseStamped(&m, 0, "", s)
	return m.Pose
}

func array(v so3.Vec3) [3]float32 { return [3]float32{float32(v.X), float32(v.Y), float32(v.Z)} }

const hover = 0.4

// own is vnd's own topics.
func own() stack {
	return stack{"/quad/mocap/odom", "/quad/command",
		func(stamp int64, s quad.State) cdr.Message {
			m := new(navmsgs.Odometry)
			bridge.PutOdometry(m, stamp, "map", "base_link", s)
			return m
		},
		func(stamp int64, c quad.Command) cdr.Message {
			m := new(msgs.ThrustRates)
			bridge.PutThrustRates(m, stamp, "base_link", c)
			return m
		}}
}

func mavros() stack {
	return stack{"/mavros/local_position/pose", "/mavros/setpoint_raw/attitude",
		func(stamp int64, s quad.State) cdr.Message {
			m := new(geometrymsgs.PoseStamped)
			bridge.PutPoseStamped(m, stamp, "map", s)
			return m
		},
		func(stamp int64, c quad.Command) cdr.Message {
			m := new(mavrosmsgs.AttitudeTarget)
			bridge.PutAttitudeTarget(m, stamp, "base_link", c, &bridge.Throttle{Hover: hover}, 0)
			return m
		}}
}

func px4() stack {
	return stack{"/fmu/out/vehicle_odometry", "/fmu/in/vehicle_rates_setpoint",
		func(stamp int64, s quad.State) cdr.Message {
			s = bridge.SwapState(s)
			return &px4msgs.VehicleOdometry{TimestampSample: uint64(stamp) / 1000, PoseFrame: 1, VelocityFrame: 1,
				Position: array(s.P),
				Velocity: array(s.V), Q: [4]float32{float32(s.Q.W), float32(s.Q.X), float32(s.Q.Y), float32(s.Q.Z)}}
		},
		func(stamp int64, c quad.Command) cdr.Message {
			m := new(px4msgs.VehicleRatesSetpoint)
			bridge.PutVehicleRatesSetpoint(m, stamp, c, &bridge.Throttle{Hover: hover}, 0)
			return m
		}}
}

// crazyswarm has motion capture of two bodies, and commands without stamps.
func crazyswarm() stack {
	return stack{"/poses", "/cf1/cmd_vel_legacy",
		func(stamp int64, s quad.State) cdr.Message {
			other := quad.State{P: so3.Vec3{X: 9}, Q: so3.Identity()}
			return &motioncapturetrackinginterfaces.NamedPoseArray{Header: header(stamp, "world"),
				Poses: []motioncapturetrackinginterfaces.NamedPose{
					{Name: "cf2", Pose: geometryPose(other)}, {Name: "cf1", Pose: geometryPose(s)}}}
		},
		func(_ int64, c quad.Command) cdr.Message {
			w := c.Rates.Scale(180 / math.Pi)
			return &geometrymsgs.Twist{Linear: geometrymsgs.Vector3{X: w.Y, Y: w.X,
				Z: 65535 * hover * c.Thrust / quad.Gravity}, Angular: geometrymsgs.Vector3{Z: -w.Z}}
		}}
}

func optitrack() stack {
	s := mavros()
	s.poseTopic = "/rigid_bodies"
	s.pose = func(stamp int64, s quad.State) cdr.Message {
		return &mocap4r2msgs.RigidBodies{Header: header(stamp, "map"),
			Rigidbodies: []mocap4r2msgs.RigidBody{{RigidBodyName: "drone", Pose: geometryPose(s)}}}
	}
	return s
}

func transforms() stack {
	s := mavros()
	s.poseTopic = "/tf"
	s.pose = func(stamp int64, s quad.State) cdr.Message {
		p := geometryPose(s)
		camera := geometrymsgs.TransformStamped{Header: header(stamp, "drone"), ChildFrameID: "camera"}
		drone := geometrymsgs.TransformStamped{Header: header(stamp, "map"), ChildFrameID: "drone",
			Transform: geometrymsgs.Transform{
				Translation: geometrymsgs.Vector3{X: p.Position.X, Y: p.Position.Y, Z: p.Position.Z},
				Rotation:    p.Orientation}}
		return &tf2msgs.TFMessage{Transforms: []geometrymsgs.TransformStamped{camera, drone}}
	}
	return s
}

func steps() stack {
	return stack{"/quad/step", "/quad/step",
		func(stamp int64, s quad.State) cdr.Message {
			m := new(msgs.Step)
			m.Header = header(stamp, "map")
			m.Pose = geometryPose(s)
			m.Velocity = geometrymsgs.Vector3{X: s.V.X, Y: s.V.Y, Z: s.V.Z}
			return m
		}, nil}
}

// messagesOf says a flight in a lab's way; poses are recorded 3 ms after their stamps, commands at theirs.
func messagesOf(s stack, f quad.Flight) []said {
	var out []said
	for _, step := range f.Segments[0] {
		at := nanoseconds(step.T)
		m := s.pose(epoch+at, step.State)
		if own, ok := m.(*msgs.Step); ok {
			c := step.Command
			own.CommandSent = [4]float64{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z}
		} else {
			out = append(out, said{s.commandTopic, at, s.command(epoch+at, step.Command)})
		}
		out = append(out, said{s.poseTopic, at + 3e6, m})
	}
	return out
}

// A flight is the same in the words of every stack.
func TestStacks(t *testing.T) {
	moving := mustRead(t, agile)
	still, _, err := parse(withoutVelocity(moving.Segments[0]))
	if err != nil {
		t.Fatal(err)
	}
	throttle := func(o *Options) { o.HoverThrottle = hover }
	for name, c := range map[string]struct {
		stack
		configure func(*Options)
		want      quad.Flight
		slack     float64
		warning   string
	}{
		"vnd":       {own(), nil, moving, 2e-6, ""},
		"steps":     {steps(), nil, moving, 1e-12, ""},
		"mavros":    {mavros(), throttle, still, 1e-5, ""},
		"px4":       {px4(), throttle, moving, 1e-5, ""},
		"optitrack": {optitrack(), throttle, still, 1e-5, ""},
		"transforms": {transforms(), func(o *Options) { o.HoverThrottle, o.Body = hover, "drone" },
			still, 1e-5, ""},
		"crazyswarm": {crazyswarm(), func(o *Options) {
			o.HoverThrottle, o.Body, o.CommandInterface = hover, "cf1",
				bridge.Crazyswarm
		},
			still, 1e-5, "topic /cf1/cmd_vel_legacy: its messages have no stamps: the times of their recording are " +
				"taken"},
	} {
		t.Run(name, func(t *testing.T) {
			path := spoken(t, messagesOf(c.stack, moving))
			f, warnings, err := ReadBag(path, options(c.configure))
			if err != nil {
				t.Error(err)
				return
			}
			if got := joined(warnings); got != prefixed(path, c.warning) {
				t.Errorf("warnings %q, expected %q", got, c.warning)
			}
			near(t, name, f, c.want, c.slack, 1e-3)
		})
	}
}

func prefixed(path, warning string) string {
	if warning == "" {
		return ""
	}
	return path + ": " + warning
}

// joined joins warnings.
func joined(warnings []Warning) string {
	var out []string
	for _, w := range warnings {
		out = append(out, w.String())
	}
	return strings.Join(out, "; ")
}
