package bridge

import (
	"fmt"
	"slices"
	"strings"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	mocap4r2msgs "vnd/msgs/mocap4r2_msgs"
	motioncapturetrackinginterfaces "vnd/msgs/motion_capture_tracking_interfaces"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/cdr"
)

// Types of topics by their ROS names.
const (
	TypeStep                 = "vnd/msg/Step"
	TypeThrustRates          = "vnd/msg/ThrustRates"
	TypePoseStamped          = "geometry_msgs/msg/PoseStamped"
	TypePoseWithCovariance   = "geometry_msgs/msg/PoseWithCovarianceStamped"
	TypeOdometry             = "nav_msgs/msg/Odometry"
	TypeTransformStamped     = "geometry_msgs/msg/TransformStamped"
	TypeTFMessage            = "tf2_msgs/msg/TFMessage"
	TypeVehicleOdometry      = "px4_msgs/msg/VehicleOdometry"
	TypeNamedPoseArray       = "motion_capture_tracking_interfaces/msg/NamedPoseArray"
	TypeRigidBodies          = "mocap4r2_msgs/msg/RigidBodies"
	TypeAttitudeTarget       = "mavros_msgs/msg/AttitudeTarget"
	TypeVehicleRatesSetpoint = "px4_msgs/msg/VehicleRatesSetpoint"
	TypeTwist                = "geometry_msgs/msg/Twist"
	TypeFullState            = "crazyflie_interfaces/msg/FullState"
	TypeThrust               = "as2_msgs/msg/Thrust"
	TypeAttitudeRate         = "mrs_msgs/msg/HwApiAttitudeRateCmd"
	TypeMavrosState          = "mavros_msgs/msg/State"
	TypeVehicleStatus        = "px4_msgs/msg/VehicleStatus"
	TypeBatteryState         = "sensor_msgs/msg/BatteryState"
	TypeBatteryStatus        = "px4_msgs/msg/BatteryStatus"
)

// PoseTypes are those that a PoseDecoder reads.
func PoseTypes() []string {
	return []string{TypePoseStamped, TypeOdometry, TypePoseWithCovariance, TypeTransformStamped, TypeTFMessage,
		TypeVehicleOdometry, TypeNamedPoseArray, TypeRigidBodies, TypeStep}
}

// CommandTypes are those that a CommandDecoder reads, and the stack of each.
func CommandTypes() map[string]string {
	return map[string]string{TypeThrustRates: VND, TypeStep: VND, TypeAttitudeTarget: Mavros,
		TypeVehicleRatesSetpoint: PX4, TypeTwist: Crazyswarm}
}

// PoseDecoder reads poses of one body out of the serialized messages of one topic.
type PoseDecoder struct {
	topic   string
	message cdr.Message
	convert func() (pose Pose, found bool, err error)
}

// NewPoseDecoder refuses types without poses.
func NewPoseDecoder(topic, typeName string, o PoseOptions) (*PoseDecoder, error) {
	d := &PoseDecoder{topic: topic}
	always := func(convert func() Pose) func() (Pose, bool, error) {
		return func() (Pose, bool, error) { return convert(), true, nil }
	}
	switch typeName {
	case TypePoseStamped:
		m := new(geometrymsgs.PoseStamped)
		d.message, d.convert = m, always(func() Pose { return FromPoseStamped(m, o) })
	case TypePoseWithCovariance:
		m := new(geometrymsgs.PoseWithCovarianceStamped)
		d.message, d.convert = m, always(func() Pose { return FromPoseWithCovarianceStamped(m, o) })
	case TypeOdometry:
		m := new(navmsgs.Odometry)
		d.message, d.convert = m, always(func() Pose { return FromOdometry(m, o) })
	case TypeStep:
		m := new(msgs.Step)
		d.message, d.convert = m, always(func() Pose { return FromStep(m) })
	case TypeVehicleOdometry:
		m := new(px4msgs.VehicleOdometry)
		d.message, d.convert = m, func() (Pose, bool, error) {
			p, err := FromVehicleOdometry(m)
			return p, err == nil, err
		}
	default:
		d.message, d.convert = namedBodyReader(typeName, o)
	}
	if d.message == nil {
		return nil, fmt.Errorf("topic %s: no poses in %s, expected one of %s", topic, typeName,
			strings.Join(PoseTypes(), ", "))
	}
	return d, nil
}

// Decode reads one message. found is false when it says nothing of the body. The error names topic and field.
func (d *PoseDecoder) Decode(data []byte) (pose Pose, found bool, err error) {
	if err = cdr.Unmarshal(data, d.message); err == nil {
		pose, found, err = d.convert()
	}
	if err != nil {
		return Pose{}, false, fmt.Errorf("topic %s: %w", d.topic, err)
	}
	return pose, found, nil
}

// namedBodyReader reads the types that hold several bodies by name.
func namedBodyReader(typeName string, o PoseOptions) (cdr.Message, func() (Pose, bool, error)) {
	body := &chosen{name: o.Body}
	switch typeName {
	case TypeTransformStamped:
		m := new(geometrymsgs.TransformStamped)
		return m, func() (Pose, bool, error) {
			i, err := body.find(1, func(int) string { return m.ChildFrameID })
			if i < 0 {
				return Pose{}, false, err
			}
			return FromTransformStamped(m, o), true, nil
		}
	case TypeTFMessage:
		m := new(tf2msgs.TFMessage)
		return m, func() (Pose, bool, error) {
			i, err := body.find(len(m.Transforms), func(i int) string { return m.Transforms[i].ChildFrameID })
			if i < 0 {
				return Pose{}, false, err
			}
			return FromTransformStamped(&m.Transforms[i], o), true, nil
		}
	case TypeNamedPoseArray:
		m := new(motioncapturetrackinginterfaces.NamedPoseArray)
		return m, func() (Pose, bool, error) {
			i, err := body.find(len(m.Poses), func(i int) string { return m.Poses[i].Name })
			if i < 0 {
				return Pose{}, false, err
			}
			return FromPoseStamped(&geometrymsgs.PoseStamped{Header: m.Header, Pose: m.Poses[i].Pose}, o), true, nil
		}
	case TypeRigidBodies:
		m := new(mocap4r2msgs.RigidBodies)
		return m, func() (Pose, bool, error) {
			i, err := body.find(len(m.Rigidbodies), func(i int) string { return m.Rigidbodies[i].RigidBodyName })
			if i < 0 {
				return Pose{}, false, err
			}
			return FromPoseStamped(&geometrymsgs.PoseStamped{Header: m.Header, Pose: m.Rigidbodies[i].Pose}, o), true,
				nil
		}
	}
	return nil, nil
}

// chosen is the body that is wanted, by name or because it is the only one there.
type chosen struct {
	name string
	only string // the one seen so far, without a name
}

// find returns the place of the body among n, −1 when it is not there. Without a name, a second body is an error.
func (c *chosen) find(n int, name func(int) string) (int, error) {
	found := -1
	for i := range n {
		switch at := strings.TrimPrefix(name(i), "/"); {
		case c.name != "":
			if at == strings.TrimPrefix(c.name, "/") {
				found = i
			}
		case c.only == "" || at == c.only:
			c.only, found = at, i
		default:
			names := []string{c.only}
			for k := range n {
				if !slices.Contains(names, name(k)) {
					names = append(names, name(k))
				}
			}
			return -1, fmt.Errorf("bodies %s: parameter body has to say which",
				strings.Join(names[:min(len(names), 20)], ", "))
		}
	}
	return found, nil
}

// CommandDecoder reads commands out of the serialized messages of one topic.
type CommandDecoder struct {
	topic   string
	message cdr.Message
	volts   float64
	convert func() (Command, error)
}

// NewCommandDecoder refuses types without commands. t is for the types that have throttle.
func NewCommandDecoder(topic, typeName string, t Throttle) (*CommandDecoder, error) {
	d := &CommandDecoder{topic: topic}
	throttle := true
	switch typeName {
	case TypeThrustRates:
		m := new(msgs.ThrustRates)
		d.message, d.convert = m, func() (Command, error) { return FromThrustRates(m), nil }
		throttle = false
	case TypeStep:
		m := new(msgs.Step)
		d.message, d.convert = m, func() (Command, error) {
			if s := guard.Stage(m.GuardState); !s.Flown() {
				return Command{}, fmt.Errorf("guard_state is %d (%v): its command was not flown from a measured state",
					m.GuardState, s)
			}
			return CommandFromStep(m), nil
		}
		throttle = false
	case TypeAttitudeTarget:
		m := new(mavrosmsgs.AttitudeTarget)
		d.message, d.convert = m, func() (Command, error) { return FromAttitudeTarget(m, &t, d.volts) }
	case TypeVehicleRatesSetpoint:
		m := new(px4msgs.VehicleRatesSetpoint)
		d.message, d.convert = m, func() (Command, error) { return FromVehicleRatesSetpoint(m, &t, d.volts) }
	case TypeTwist:
		m := new(geometrymsgs.Twist)
		d.message, d.convert = m, func() (Command, error) { return FromTwist(m, &t, d.volts), nil }
	default:
		return nil, fmt.Errorf("topic %s: no commands of thrust and body rates in %s", topic, typeName)
	}
	if throttle {
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("topic %s (%s): %w", topic, typeName, err)
		}
	}
	return d, nil
}

// SetVoltage has throttle read at a battery's volts from now on; 0, as in the beginning, is not known.
func (d *CommandDecoder) SetVoltage(volts float64) { d.volts = volts }

// Decode reads one message. The error names topic and field.
func (d *CommandDecoder) Decode(data []byte) (Command, error) {
	err := cdr.Unmarshal(data, d.message)
	if err == nil {
		var c Command
		if c, err = d.convert(); err == nil {
			return c, nil
		}
	}
	return Command{}, fmt.Errorf("topic %s: %w", d.topic, err)
}
