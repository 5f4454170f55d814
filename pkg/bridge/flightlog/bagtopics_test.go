package flightlog

import (
	"slices"
	"strings"
	"testing"

	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// with appends messages that are recorded at the flight's start.
func with(messages []said, more ...said) []said { return append(slices.Clone(messages), more...) }

// at is a message on a topic, recorded at the flight's start.
func at(topic string, m cdr.Message) said { return said{topic, 0, m} }

// topicCase is a bag and what ReadBag is to say of its topics.
type topicCase struct {
	messages  []said
	configure func(*Options)
	want      string // after the bag's path; "" is success
}

func (c topicCase) check(t *testing.T) {
	path := spoken(t, c.messages)
	o := options(func(o *Options) { o.HoverThrottle = hover })
	if c.configure != nil {
		c.configure(&o)
	}
	_, _, err := ReadBag(path, o)
	switch {
	case c.want == "" && err != nil:
		t.Error(err)
	case c.want != "" && (err == nil || err.Error() != "bag "+path+": "+c.want):
		t.Errorf("error\n%v, expected\n%s", err, c.want)
	}
}

// One candidate is taken, several are listed, and a bag without one says what it has.
func TestChoiceOfTopics(t *testing.T) {
	f := mustRead(t, zigzag)
	lab := messagesOf(mavros(), f)
	second := at("/vrpn/drone/pose", &geometrymsgs.PoseStamped{})
	echo := at("/mavros/setpoint_raw/target_attitude", &mavrosmsgs.AttitudeTarget{})
	cmdVel := at("/cmd_vel", &geometrymsgs.Twist{})
	for name, c := range map[string]topicCase{
		"one":                              {lab, nil, ""},
		"echo and cmd_vel are passed over": {with(lab, echo, cmdVel), nil, ""},
		"two": {with(lab, second), nil, "2 topics with poses: /mavros/local_position/pose " +
			"(geometry_msgs/msg/PoseStamped), " +
			"/vrpn/drone/pose (geometry_msgs/msg/PoseStamped): parameter pose_topic has to say which"},
		"two, named": {with(lab, second), func(o *Options) { o.PoseTopic = "mavros/local_position/pose" }, ""},
		"two commands": {with(lab, at("/quad/mavros/setpoint_raw/attitude", &mavrosmsgs.AttitudeTarget{})), nil,
			"2 topics with commands: /mavros/setpoint_raw/attitude (mavros_msgs/msg/AttitudeTarget), " +
				"/quad/mavros/setpoint_raw/attitude (mavros_msgs/msg/AttitudeTarget): parameter command_topic has " +
				"to say which"},
		"two commands, of two stacks": {with(lab,
			at("/fmu/in/vehicle_rates_setpoint", &px4msgs.VehicleRatesSetpoint{})),
			func(o *Options) { o.CommandInterface = bridge.Mavros }, ""},
		"no poses": {[]said{at("/chat", &stdmsgs.String{}), cmdVel}, nil,
			"no topic with poses; it has /chat (std_msgs/msg/String), /cmd_vel (geometry_msgs/msg/Twist)"},
		"only transforms": {messagesOf(transforms(), f), nil,
			"no topic is clearly one with poses; parameter pose_topic may name /tf (tf2_msgs/msg/TFMessage)"},
		"no commands": {slices.DeleteFunc(with(lab, at("/imu", &stdmsgs.String{})),
			func(m said) bool { return strings.HasPrefix(m.topic, "/mavros/setpoint") }), nil,
			"no topic with commands; it has /mavros/local_position/pose (geometry_msgs/msg/PoseStamped), /imu " +
				"(std_msgs/msg/String)"},
		"a Twist is a velocity": {slices.DeleteFunc(with(lab, cmdVel),
			func(m said) bool { return strings.HasPrefix(m.topic, "/mavros/setpoint") }), nil,
			"no topic is clearly one with commands; parameter command_topic may name /cmd_vel " +
				"(geometry_msgs/msg/Twist)"},
	} {
		t.Run(name, c.check)
	}
}

// A parameter that names a topic or a body is held to what the bag has.
func TestNamedTopics(t *testing.T) {
	f := mustRead(t, zigzag)
	lab := messagesOf(mavros(), f)
	for name, c := range map[string]topicCase{
		"named, not there": {lab, func(o *Options) { o.CommandTopic = "/command" },
			"parameter command_topic: no topic /command; right would be /mavros/setpoint_raw/attitude " +
				"(mavros_msgs/msg/AttitudeTarget)"},
		"named, of another type": {lab, func(o *Options) { o.PoseTopic = "/mavros/setpoint_raw/attitude" },
			"parameter pose_topic: topic /mavros/setpoint_raw/attitude is of type mavros_msgs/msg/AttitudeTarget, " +
				"which is not read for poses"},
		"named, another stack": {lab, func(o *Options) {
			o.CommandTopic,
				o.CommandInterface = "/mavros/setpoint_raw/attitude", bridge.PX4
		},
			"parameter command_topic: topic /mavros/setpoint_raw/attitude is of type " +
				"mavros_msgs/msg/AttitudeTarget, which is not read for commands"},
		"no hover throttle": {lab, func(o *Options) { o.HoverThrottle = 0 },
			"topic /mavros/setpoint_raw/attitude (mavros_msgs/msg/AttitudeTarget): parameter hover_throttle is not " +
				"set: the throttle, 0 to 1, at which the vehicle hovers (its mean is 0.421 here)"},
		"several bodies": {messagesOf(crazyswarm(), f), func(o *Options) { o.CommandInterface = bridge.Crazyswarm },
			"topic /poses: bodies cf2, cf1: parameter body has to say which"},
		"no such body": {messagesOf(crazyswarm(), f),
			func(o *Options) { o.CommandInterface, o.Body = bridge.Crazyswarm, "cf7" },
			`topic /poses: no pose of body "cf7"`},
	} {
		t.Run(name, c.check)
	}
}

// A recorder knows topics from which nothing ever came.
func TestSilentTopics(t *testing.T) {
	all := []bag.Topic{{Name: "/pose", Type: bridge.TypePoseStamped, Count: 9},
		{Name: "/command", Type: bridge.TypeThrustRates}}
	_, _, err := DefaultOptions().Topics(all)
	if want := "no commands: there is not a message on /command (vnd/msg/ThrustRates)"; err == nil ||
		err.Error() != want {
		t.Errorf("error %v, expected %s", err, want)
	}
	all = append(all, bag.Topic{Name: "/quad/command", Type: bridge.TypeThrustRates, Count: 1})
	if _, command, err := DefaultOptions().Topics(all); err != nil || command.Name != "/quad/command" {
		t.Errorf("topic %s, error %v", command.Name, err)
	}
}
