package flightlog

import (
	"math"
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
	"vnd/pkg/ros2/cdr"
)

// warningCase is a bag and what ReadBag says of it.
type warningCase struct {
	messages  []said
	configure func(*Options)
	want      []string // parts of the warnings or, for one that starts with !, of the error
}

func (c warningCase) check(t *testing.T) {
	path := spoken(t, c.messages)
	o := options(func(o *Options) { o.HoverThrottle = hover })
	if c.configure != nil {
		c.configure(&o)
	}
	_, warnings, err := ReadBag(path, o)
	got := joined(warnings)
	if len(c.want) > 0 && strings.HasPrefix(c.want[0], "!") {
		if err == nil || !strings.HasPrefix(err.Error(), "bag "+path+": ") || strings.ContainsRune(err.Error(), '\n') {
			t.Fatalf("error %v", err)
		}
		got = err.Error()
	} else if err != nil || len(warnings) != len(c.want) {
		t.Fatalf("%d warnings %q, error %v", len(warnings), got, err)
	}
	for _, part := range c.want {
		if !strings.Contains(got, strings.TrimPrefix(part, "!")) {
			t.Errorf("said\n%s, expected\n%s", got, part)
		}
	}
}

// changed is a flight as a stack records it, each message changed.
func changed(s stack, f quad.Flight, change func(i int, m cdr.Message)) []said {
	messages := messagesOf(s, f)
	for i, m := range messages {
		change(i, m.m)
	}
	return messages
}

// Wrong units are suspected or refused, with the unit that they look like.
func TestBagInWrongUnits(t *testing.T) {
	f := mustRead(t, agile)
	degrees := messagesOf(own(), mustRead(t, zigzag))
	for _, m := range degrees {
		if m, ok := m.m.(*msgs.ThrustRates); ok {
			r := &m.BodyRates
			r.X, r.Y, r.Z = r.X*180/math.Pi, r.Y*180/math.Pi, r.Z*180/math.Pi
		}
	}
	for name, c := range map[string]warningCase{
		"degrees": {degrees, nil, []string{"topic /quad/command: body rates: 99th percentile of the rates 154, more " +
			"than vehicles turn: they look like degrees per second, expected rad/s"}},
		"radians for degrees": {changed(crazyswarm(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.Twist); ok {
				m.Linear.X, m.Linear.Y, m.Angular.Z = m.Linear.X*math.Pi/180, m.Linear.Y*math.Pi/180,
					m.Angular.Z*math.Pi/180
			}
		}), func(o *Options) { o.Body, o.CommandInterface = "cf1", bridge.Crazyswarm },
			[]string{"no stamps", "body rates: the attitude turns 58.37 times as fast as the rates say: they look " +
				"like radians taken for degrees"}},
		"millimetres": {changed(own(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*navmsgs.Odometry); ok {
				p := &m.Pose.Pose.Position
				p.X, p.Y, p.Z = 1000*p.X, 1000*p.Y, 1000*p.Z
			}
		}), func(o *Options) { o.Estimate.MaxSpeed = 1000; o.MaxGap = 1 },
			[]string{"the position jumps", "topic /quad/mocap/odom: velocity: the position moves"}},
		"millimetres, too fast": {changed(mavros(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.PoseStamped); ok {
				p := &m.Pose.Position
				p.X, p.Y, p.Z = 1000*p.X, 1000*p.Y, 1000*p.Z
			}
		}), nil, []string{"!topic /mavros/local_position/pose: the longest stretch without a gap has ",
			"poses are further from the one before than 30 m/s allows: they look like millimetres, expected m"}},
		"degrees, beyond all": {changed(own(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*msgs.ThrustRates); ok {
				m.BodyRates.X *= 180 / math.Pi
			}
		}), nil, []string{"!topic /quad/command: 12 of 263 messages hold what no flight does, the first: wx is " +
			"-597.5949803214486, expected rad/s, at most 200: are they degrees per second?"}},
		"PWM": {changed(own(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*msgs.ThrustRates); ok {
				m.Thrust *= 3600
			}
		}), nil, []string{"!topic /quad/command: 263 of 263 messages hold what no flight does, the first: thrust is " +
			"51002.6", "is it newtons, grams or PWM?"}},
	} {
		t.Run(name, c.check)
	}
}

// Values that no flight has are left out, or the bag is refused.
func TestBagWithWrongValues(t *testing.T) {
	f := mustRead(t, agile)
	for name, c := range map[string]warningCase{
		"one wild number": {changed(own(), f, func(i int, m cdr.Message) {
			if m, ok := m.(*navmsgs.Odometry); ok && i/2 == 100 {
				m.Pose.Pose.Position.Z = 1e300
			}
		}), nil, []string{"topic /quad/mocap/odom: 1 of 263 messages left out, which hold what no flight does, the " +
			"first: pz is 1e+300 m, expected at most 100000 m from the origin"}},
		"the airframe's limit": {messagesOf(own(), f), func(o *Options) { o.Limits.Rate = 5 },
			[]string{"!topic /quad/command: body rates of 11.26 rad/s in all at 0.000 s, the airframe's limit is 5 " +
				"(max_rate)"}},
		"wrong hover throttle": {messagesOf(mavros(), f), func(o *Options) { o.HoverThrottle = 0.05 },
			[]string{"topic /mavros/setpoint_raw/attitude: thrust: mean 84.98 m/s², while hover is 9.81: " +
				"hover_throttle is 0.05, and 0.433 would make them equal"}},
		"wrong hover throttle of motors that go on turning": {messagesOf(mavros(), f), func(o *Options) {
			o.HoverThrottle, o.LeastThrust = 0.05, 0.2
		}, []string{"topic /mavros/setpoint_raw/attitude: thrust: mean 69.94 m/s², while hover is 9.81: " +
			"hover_throttle is 0.05, and 0.433 would make them equal"}},
		"attitude setpoints": {changed(mavros(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*mavrosmsgs.AttitudeTarget); ok {
				m.TypeMask = 7
			}
		}), nil, []string{"!topic /mavros/setpoint_raw/attitude: type_mask is 7, which ignores body_rate"}},
		"a few attitude setpoints": {changed(mavros(), f, func(i int, m cdr.Message) {
			if m, ok := m.(*mavrosmsgs.AttitudeTarget); ok && i < 20 {
				m.TypeMask = 7
			}
		}), nil, []string{"topic /mavros/setpoint_raw/attitude: 10 messages left out, the first: topic " +
			"/mavros/setpoint_raw/attitude: type_mask is 7"}},
		"NaN": {changed(mavros(), f, func(i int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.PoseStamped); ok && i > 100 && i < 110 {
				m.Pose.Position.Y = math.NaN()
			}
			if m, ok := m.(*mavrosmsgs.AttitudeTarget); ok && i > 200 && i < 203 {
				m.Thrust = float32(math.NaN())
			}
		}), nil, []string{"poses left out: NaN, infinite or a quaternion off unit norm",
			"1 of 263 commands left out: NaN or infinite"}},
		"unknown pose frame": {changed(px4(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*px4msgs.VehicleOdometry); ok {
				m.PoseFrame = 0
			}
		}), nil, []string{"!topic /fmu/out/vehicle_odometry: pose_frame is 0, expected 1 (NED) or 2 (FRD)"}},
	} {
		t.Run(name, c.check)
	}
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

// Clocks that differ or leap, empty stamps and rare commands are reported.
func TestBagWithWrongTimes(t *testing.T) {
	f := mustRead(t, agile)
	for name, c := range map[string]warningCase{
		"two clocks": {changed(mavros(), f, func(_ int, m cdr.Message) {
			if m, ok := m.(*geometrymsgs.PoseStamped); ok {
				m.Header.Stamp.Sec -= 1000
			}
		}), nil, []string{"its stamps and those of /mavros/local_position/pose are of two clocks, -1000 s apart: " +
			"the times of recording are taken"}},
		"no stamps": {changed(mavros(), f, func(_ int, m cdr.Message) {
			switch m := m.(type) {
			case *geometrymsgs.PoseStamped:
				m.Header = stdmsgs.Header{}
			case *mavrosmsgs.AttitudeTarget:
				m.Header = stdmsgs.Header{}
			}
		}), nil, []string{"no stamps of the clock of the recording"}},
		"stamps in another unit": {changed(own(), f, func(i int, m cdr.Message) {
			if m, ok := m.(*navmsgs.Odometry); ok {
				m.Header.Stamp = bridge.Time(epoch + (bridge.Nanoseconds(m.Header.Stamp)-epoch)*1000)
			}
		}), nil, []string{"!topic /quad/mocap/odom: the longest stretch without a gap has 1 rows, expected at least " +
			"21, 0.02 s apart; 262 of 263 poses come more than 0.03 s after the one before (parameter max_gap)"}},
		"a clock that leaps": {slices.Concat(messagesOf(mavros(), f), later(messagesOf(mavros(), f), 3600)), nil,
			[]string{"topic /mavros/local_position/pose: its clock leaps ahead of the times of recording 1 times, " +
				"by 3600 s at most",
				"topic /mavros/setpoint_raw/attitude: its clock leaps ahead of the times of recording 1 times, by " +
					"3600 s at most"}},
		"rare commands": {slices.DeleteFunc(messagesOf(own(), f),
			func(m said) bool { return m.topic == "/quad/command" && m.log%500e6 != 0 }), nil,
			[]string{"!topic /quad/command: the longest stretch without a gap has 5 rows, expected at least 21, " +
				"0.02 s apart; ", "rows had no command in force (parameters command_timeout, stamps)"}},
	} {
		t.Run(name, c.check)
	}
}

// Slow mocap is accelerations beyond belief, when it is in millimetres and slow enough not to jump.
func TestMillimetresOfSlowFlight(t *testing.T) {
	f := mustRead(t, agile)
	slow := quad.Flight{Segments: [][]quad.Row{slices.Clone(f.Segments[0])}}
	for k := range slow.Segments[0] {
		s := &slow.Segments[0][k].State
		s.P = s.P.Scale(0.01 * 1000)
	}
	_, warnings, err := ReadBag(spoken(t, messagesOf(mavros(), slow)),
		options(func(o *Options) { o.HoverThrottle, o.Estimate.MaxSpeed = hover, 1000 }))
	if err != nil || len(warnings) != 0 { // 10 times too large is not noticed
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
	for k := range slow.Segments[0] {
		s := &slow.Segments[0][k].State
		s.P = s.P.Scale(10)
	}
	_, warnings, err = ReadBag(spoken(t, messagesOf(mavros(), slow)),
		options(func(o *Options) { o.HoverThrottle, o.Estimate.MaxSpeed = hover, 1000 }))
	if err != nil || !strings.Contains(joined(warnings), "position: it accelerates by ") {
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
}
