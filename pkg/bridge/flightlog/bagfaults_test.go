package flightlog

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// with appends messages that are recorded at the flight's start.
func with(messages []said, more ...said) []said { return append(slices.Clone(messages), more...) }

// at tells the same message under a name.
func at(topic string, m cdr.Message) said { return said{topic, 0, m} }

// TestChoiceOfTopics: one candidate is taken, several are listed, and a bag without says what it has.
func TestChoiceOfTopics(t *testing.T) {
	f := mustRead(t, zigzag)
	lab := tell(mavros(), f)
	second := at("/vrpn/drone/pose", &geometrymsgs.PoseStamped{})
	echo := at("/mavros/setpoint_raw/target_attitude", &mavrosmsgs.AttitudeTarget{})
	cmdVel := at("/cmd_vel", &geometrymsgs.Twist{})
	for name, c := range map[string]struct {
		messages  []said
		configure func(*Options)
		want      string // after the bag's path; "" is success
	}{
		"one":                              {lab, nil, ""},
		"echo and cmd_vel are passed over": {with(lab, echo, cmdVel), nil, ""},
		"two": {with(lab, second), nil, "2 topics with poses: /mavros/local_position/pose (geometry_msgs/msg/PoseStamped), " +
			"/vrpn/drone/pose (geometry_msgs/msg/PoseStamped): parameter pose_topic has to say which"},
		"two, named": {with(lab, second), func(o *Options) { o.PoseTopic = "mavros/local_position/pose" }, ""},
		"two commands": {with(lab, at("/quad/mavros/setpoint_raw/attitude", &mavrosmsgs.AttitudeTarget{})), nil,
			"2 topics with commands: /mavros/setpoint_raw/attitude (mavros_msgs/msg/AttitudeTarget), " +
				"/quad/mavros/setpoint_raw/attitude (mavros_msgs/msg/AttitudeTarget): parameter command_topic has to say which"},
		"two commands, of two stacks": {with(lab,
			at("/fmu/in/vehicle_rates_setpoint", &px4msgs.VehicleRatesSetpoint{})),
			func(o *Options) { o.CommandInterface = bridge.Mavros }, ""},
		"no poses": {[]said{at("/chat", &stdmsgs.String{}), cmdVel}, nil,
			"no topic with poses; it has /chat (std_msgs/msg/String), /cmd_vel (geometry_msgs/msg/Twist)"},
		"only transforms": {tell(transforms(), f), nil,
			"no topic is clearly one with poses; parameter pose_topic may name /tf (tf2_msgs/msg/TFMessage)"},
		"no commands": {slices.DeleteFunc(with(lab, at("/imu", &stdmsgs.String{})),
			func(m said) bool { return strings.HasPrefix(m.topic, "/mavros/setpoint") }), nil,
			"no topic with commands; it has /mavros/local_position/pose (geometry_msgs/msg/PoseStamped), /imu (std_msgs/msg/String)"},
		"a Twist is a velocity": {slices.DeleteFunc(with(lab, cmdVel),
			func(m said) bool { return strings.HasPrefix(m.topic, "/mavros/setpoint") }), nil,
			"no topic is clearly one with commands; parameter command_topic may name /cmd_vel (geometry_msgs/msg/Twist)"},
		"named, not there": {lab, func(o *Options) { o.CommandTopic = "/command" },
			"parameter command_topic: no topic /command; right would be /mavros/setpoint_raw/attitude (mavros_msgs/msg/AttitudeTarget)"},
		"named, of another type": {lab, func(o *Options) { o.PoseTopic = "/mavros/setpoint_raw/attitude" },
			"parameter pose_topic: topic /mavros/setpoint_raw/attitude is of type mavros_msgs/msg/AttitudeTarget, which is not read for poses"},
		"named, another stack": {lab, func(o *Options) {
			o.CommandTopic,
				o.CommandInterface = "/mavros/setpoint_raw/attitude", bridge.PX4
		},
			"parameter command_topic: topic /mavros/setpoint_raw/attitude is of type mavros_msgs/msg/AttitudeTarget, which is not read for commands"},
		"no hover throttle": {lab, func(o *Options) { o.HoverThrottle = 0 },
			"topic /mavros/setpoint_raw/attitude (mavros_msgs/msg/AttitudeTarget): parameter hover_throttle is not set: the throttle, 0 to 1, at which the vehicle hovers (its mean is 0.421 here)"},
		"several bodies": {tell(crazyswarm(), f), func(o *Options) { o.CommandInterface = bridge.Crazyswarm },
			"topic /poses: bodies cf2, cf1: parameter body has to say which"},
		"no such body": {tell(crazyswarm(), f),
			func(o *Options) { o.CommandInterface, o.Body = bridge.Crazyswarm, "cf7" },
			`topic /poses: no pose of body "cf7"`},
	} {
		path := spoken(t, c.messages)
		o := options(func(o *Options) { o.HoverThrottle = hover })
		if c.configure != nil {
			c.configure(&o)
		}
		_, _, err := ReadBag(path, o)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || err.Error() != "bag "+path+": "+c.want):
			t.Errorf("%s: error\n%v, expected\n%s", name, err, c.want)
		}
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

// vnd's own steps go before the topics that they were made of.
func TestStepsGoFirst(t *testing.T) {
	f := mustRead(t, agile)
	moved := quad.Flight{Segments: [][]quad.Step{slices.Clone(f.Segments[0])}}
	for k := range moved.Segments[0] {
		moved.Segments[0][k].State.P.Z += 0.001
	}
	got, _, err := ReadBag(spoken(t, append(tell(own(), f), tell(steps(), moved)...)), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "steps", got, moved, 1e-12, 1e-12)
}

// later is messages recorded 6 s later, with stamps some seconds later than that.
func later(messages []said, seconds int32) []said {
	var out []said
	for _, m := range messages {
		m.log += 6e9
		switch m := m.m.(type) {
		case *geometrymsgs.PoseStamped:
			m.Header.Stamp.Sec += 6 + seconds
		case *mavrosmsgs.AttitudeTarget:
			m.Header.Stamp.Sec += 6 + seconds
		}
		out = append(out, m)
	}
	return out
}

// Suspicions, refusals and notes about what is wrong with the messages of a bag.
func TestBagWarnings(t *testing.T) {
	f := mustRead(t, agile)
	changed := func(s stack, change func(i int, m cdr.Message)) []said {
		messages := tell(s, f)
		for i, m := range messages {
			change(i, m.m)
		}
		return messages
	}
	degrees := tell(own(), mustRead(t, zigzag))
	for _, m := range degrees {
		if m, ok := m.m.(*msgs.ThrustRates); ok {
			r := &m.BodyRates
			r.X, r.Y, r.Z = r.X*180/math.Pi, r.Y*180/math.Pi, r.Z*180/math.Pi
		}
	}
	for name, c := range map[string]struct {
		messages  []said
		configure func(*Options)
		want      []string // parts of the warnings or, for one that starts with !, of the error
	}{
		"degrees": {degrees, nil, []string{"topic /quad/command: body rates: 99th percentile of the rates 154, more than vehicles turn: they look like degrees per second, expected rad/s"}},
		"radians for degrees": {changed(crazyswarm(), func(_ int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.Twist); ok {
				m.Linear.X, m.Linear.Y, m.Angular.Z = m.Linear.X*math.Pi/180, m.Linear.Y*math.Pi/180,
					m.Angular.Z*math.Pi/180
			}
		}), func(o *Options) { o.Body, o.CommandInterface = "cf1", bridge.Crazyswarm },
			[]string{"no stamps", "body rates: the attitude turns 58.37 times as fast as the rates say: they look like radians taken for degrees"}},
		"millimetres": {changed(own(), func(_ int, m cdr.Message) {
			if m, ok := m.(*navmsgs.Odometry); ok {
				p := &m.Pose.Pose.Position
				p.X, p.Y, p.Z = 1000*p.X, 1000*p.Y, 1000*p.Z
			}
		}), func(o *Options) { o.Estimate.MaxSpeed = 1000; o.MaxGap = 1 },
			[]string{"the position jumps", "topic /quad/mocap/odom: velocity: the position moves"}},
		"millimetres, too fast": {changed(mavros(), func(_ int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.PoseStamped); ok {
				p := &m.Pose.Position
				p.X, p.Y, p.Z = 1000*p.X, 1000*p.Y, 1000*p.Z
			}
		}), nil, []string{"!topic /mavros/local_position/pose: the longest stretch without a gap has ",
			"poses are further from the one before than 30 m/s allows: they look like millimetres, expected m"}},
		"degrees, beyond all": {changed(own(), func(_ int, m cdr.Message) {
			if m, ok := m.(*msgs.ThrustRates); ok {
				m.BodyRates.X *= 180 / math.Pi
			}
		}), nil, []string{"!topic /quad/command: 12 of 263 messages hold what no flight does, the first: wx is -597.5949803214486, expected rad/s, at most 200: are they degrees per second?"}},
		"PWM": {changed(own(), func(_ int, m cdr.Message) {
			if m, ok := m.(*msgs.ThrustRates); ok {
				m.Thrust *= 3600
			}
		}), nil, []string{"!topic /quad/command: 263 of 263 messages hold what no flight does, the first: thrust is 51002.6", "is it newtons, grams or PWM?"}},
		"one wild number": {changed(own(), func(i int, m cdr.Message) {
			if m, ok := m.(*navmsgs.Odometry); ok && i/2 == 100 {
				m.Pose.Pose.Position.Z = 1e300
			}
		}), nil, []string{"topic /quad/mocap/odom: 1 of 263 messages left out, which hold what no flight does, the first: pz is 1e+300 m, expected at most 100000 m from the origin"}},
		"the airframe's limit": {tell(own(), f), func(o *Options) { o.Limits.Rate = 5 },
			[]string{"!topic /quad/command: body rates of 11.26 rad/s in all at 0.000 s, the airframe's limit is 5 (max_rate)"}},
		"wrong hover throttle": {tell(mavros(), f), func(o *Options) { o.HoverThrottle = 0.05 },
			[]string{"topic /mavros/setpoint_raw/attitude: thrust: mean 84.98 m/s², while hover is 9.81: hover_throttle is 0.05, and 0.433 would make them equal"}},
		"attitude setpoints": {changed(mavros(), func(_ int, m cdr.Message) {
			if m, ok := m.(*mavrosmsgs.AttitudeTarget); ok {
				m.TypeMask = 7
			}
		}), nil, []string{"!topic /mavros/setpoint_raw/attitude: type_mask is 7, which ignores body_rate"}},
		"a few attitude setpoints": {changed(mavros(), func(i int, m cdr.Message) {
			if m, ok := m.(*mavrosmsgs.AttitudeTarget); ok && i < 20 {
				m.TypeMask = 7
			}
		}), nil, []string{"topic /mavros/setpoint_raw/attitude: 10 messages left out, the first: topic /mavros/setpoint_raw/attitude: type_mask is 7"}},
		"NaN": {changed(mavros(), func(i int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.PoseStamped); ok && i > 100 && i < 110 {
				m.Pose.Position.Y = math.NaN()
			}
			if m, ok := m.(*mavrosmsgs.AttitudeTarget); ok && i > 200 && i < 203 {
				m.Thrust = float32(math.NaN())
			}
		}), nil, []string{"poses left out: NaN, infinite or a quaternion off unit norm",
			"1 of 263 commands left out: NaN or infinite"}},
		"unknown pose frame": {changed(px4(), func(_ int, m cdr.Message) {
			if m, ok := m.(*px4msgs.VehicleOdometry); ok {
				m.PoseFrame = 0
			}
		}), nil, []string{"!topic /fmu/out/vehicle_odometry: pose_frame is 0, expected 1 (NED) or 2 (FRD)"}},
		"two clocks": {changed(mavros(), func(_ int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.PoseStamped); ok {
				m.Header.Stamp.Sec -= 1000
			}
		}), nil, []string{"its stamps and those of /mavros/local_position/pose are of two clocks, -1000 s apart: the times of recording are taken"}},
		"no stamps": {changed(mavros(), func(_ int, m cdr.Message) {
			switch m := m.(type) {
			case *geometrymsgs.PoseStamped:
				m.Header = stdmsgs.Header{}
			case *mavrosmsgs.AttitudeTarget:
				m.Header = stdmsgs.Header{}
			}
		}), nil, []string{"no stamps of the clock of the recording"}},
		"stamps in another unit": {changed(own(), func(i int, m cdr.Message) {
			if m, ok := m.(*navmsgs.Odometry); ok {
				m.Header.Stamp = bridge.Time(epoch + (bridge.Nanoseconds(m.Header.Stamp)-epoch)*1000)
			}
		}), nil, []string{"!topic /quad/mocap/odom: the longest stretch without a gap has 1 rows, expected at least 21, 0.02 s apart; 262 of 263 poses come more than 0.03 s after the one before (parameter max_gap)"}},
		"a clock that leaps": {slices.Concat(tell(mavros(), f), later(tell(mavros(), f), 3600)), nil,
			[]string{"topic /mavros/local_position/pose: its clock leaps ahead of the times of recording 1 times, by 3600 s at most",
				"topic /mavros/setpoint_raw/attitude: its clock leaps ahead of the times of recording 1 times, by 3600 s at most"}},
		"rare commands": {slices.DeleteFunc(tell(own(), f),
			func(m said) bool { return m.topic == "/quad/command" && m.log%500e6 != 0 }), nil,
			[]string{"!topic /quad/command: the longest stretch without a gap has 5 rows, expected at least 21, 0.02 s apart; ", "rows had no command in force (parameters command_timeout, stamps)"}},
	} {
		path := spoken(t, c.messages)
		o := options(func(o *Options) { o.HoverThrottle = hover })
		if c.configure != nil {
			c.configure(&o)
		}
		_, warnings, err := ReadBag(path, o)
		got := joined(warnings)
		if len(c.want) > 0 && strings.HasPrefix(c.want[0], "!") {
			if err == nil || !strings.HasPrefix(err.Error(), "bag "+path+": ") ||
				strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("%s: error %v", name, err)
				continue
			}
			got = err.Error()
		} else if err != nil || len(warnings) != len(c.want) {
			t.Errorf("%s: %d warnings %q, error %v", name, len(warnings), got, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(got, strings.TrimPrefix(part, "!")) {
				t.Errorf("%s: said\n%s, expected\n%s", name, got, part)
			}
		}
	}
}

// Slow mocap is accelerations beyond belief, when it is in millimetres and slow enough not to jump.
func TestMillimetresOfSlowFlight(t *testing.T) {
	f := mustRead(t, agile)
	slow := quad.Flight{Segments: [][]quad.Step{slices.Clone(f.Segments[0])}}
	for k := range slow.Segments[0] {
		s := &slow.Segments[0][k].State
		s.P = s.P.Scale(0.01 * 1000)
	}
	_, warnings, err := ReadBag(spoken(t, tell(mavros(), slow)),
		options(func(o *Options) { o.HoverThrottle, o.Estimate.MaxSpeed = hover, 1000 }))
	if err != nil || len(warnings) != 0 { // 10 times too large is not noticed
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
	for k := range slow.Segments[0] {
		s := &slow.Segments[0][k].State
		s.P = s.P.Scale(10)
	}
	_, warnings, err = ReadBag(spoken(t, tell(mavros(), slow)),
		options(func(o *Options) { o.HoverThrottle, o.Estimate.MaxSpeed = hover, 1000 }))
	if err != nil || !strings.Contains(joined(warnings), "position: it accelerates by ") {
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
}

// A bag whose definition of a type is another one is refused with the field; comments and constants do not matter.
func TestDefinitions(t *testing.T) {
	f := mustRead(t, agile)
	messages := tell(px4(), f)
	definition := func(change func(string) string) string {
		dir := filepath.Join(t.TempDir(), "lab")
		w, err := bag.Create(dir, bag.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		added := map[string]bool{}
		for _, m := range messages {
			data, err := cdr.Marshal(m.m)
			if err != nil {
				t.Fatal(err)
			}
			if !added[m.topic] {
				added[m.topic] = true
				known, _ := msgs.Lookup(m.m.TypeName())
				if err := w.AddTopic(bag.Topic{Name: m.topic, Type: known.Name,
					Definition: change(known.Definition())}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Write(&bag.Message{Topic: m.topic, LogTime: epoch + m.log, PublishTime: epoch,
				Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for name, c := range map[string]struct {
		change func(string) string
		want   string
	}{
		"same":     {func(s string) string { return s }, ""},
		"comments": {func(s string) string { return "# by somebody else\nuint8 A_NEW_CONSTANT=7\n" + s }, ""},
		"name": {func(s string) string { return strings.Replace(s, "uint8 pose_frame", "uint8 local_frame", 1) },
			"field 3 of px4_msgs/msg/VehicleOdometry is local_frame, expected pose_frame"},
		"type": {func(s string) string { return strings.Replace(s, "float32[3] position", "float64[3] position", 1) },
			"field position of px4_msgs/msg/VehicleOdometry is float64[3], expected float32[3]"},
		"missing": {func(s string) string { return strings.Replace(s, "int8 quality", "#", 1) },
			"px4_msgs/msg/VehicleOdometry has no field quality"},
		"more": {func(s string) string {
			if strings.Contains(s, "quality") {
				return s + "\nfloat32 more\n"
			}
			return s
		}, "px4_msgs/msg/VehicleOdometry has a field more too many"},
	} {
		path := definition(c.change)
		_, _, err := ReadBag(path, options(func(o *Options) { o.HoverThrottle = hover }))
		want := "bag " + path + ": topic /fmu/out/vehicle_odometry: the bag's definition of px4_msgs/msg/VehicleOdometry is another one: " + c.want
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: error %v, expected %s", name, err, c.want)
		}
	}
}

func TestBagThatIsNone(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := ReadBag(dir, DefaultOptions()); err == nil ||
		!strings.HasPrefix(err.Error(), "bag "+dir+": no .mcap or .db3 file") {
		t.Errorf("error %v", err)
	}
	path := filepath.Join(dir, "f.mcap")
	if err := os.WriteFile(path, []byte("not a bag at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadBag(path, DefaultOptions()); err == nil || !strings.HasPrefix(err.Error(), "bag "+path+": ") {
		t.Errorf("error %v", err)
	}
}

func TestBagNames(t *testing.T) {
	for path, want := range map[string]string{"a/b": "b", "a/zz.2d_x0.75/": "zz.2d_x0.75", "a/b_0.mcap": "b_0",
		"b_0.db3.zstd": "b_0"} {
		if got := bagName(filepath.FromSlash(path)); got != want {
			t.Errorf("%s is %q, expected %q", path, got, want)
		}
	}
}

// A bag that was cut off gives what it has.
func TestCutOffBag(t *testing.T) {
	path := recorded(t, "flight_mcap")
	file := filepath.Join(path, "flight_mcap_0.mcap")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	f, warnings, err := ReadBag(path, options(func(o *Options) { o.HoverThrottle = 0.5 }))
	if err != nil || len(f.Segments) < 2 || len(f.Segments[0]) != 1539 ||
		!strings.Contains(joined(warnings), "cut off before its end") {
		t.Fatalf("%d segments, warnings %v, error %v", len(f.Segments), warnings, err)
	}
}

// The pose of a delayed camera: same poses, stamped 40 ms late.
func TestPoseDelayOfABag(t *testing.T) {
	f := mustRead(t, agile)
	messages := tell(own(), f)
	for _, m := range messages {
		if m, ok := m.m.(*navmsgs.Odometry); ok {
			m.Header.Stamp = bridge.Time(bridge.Nanoseconds(m.Header.Stamp) + 40e6)
		}
	}
	got, _, err := ReadBag(spoken(t, messages), options(func(o *Options) { o.PoseDelay = 0.04 }))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "delayed", got, f, 2e-6, 1e-9)
}
