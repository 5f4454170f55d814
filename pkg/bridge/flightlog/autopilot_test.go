package flightlog

import (
	"slices"
	"strings"
	"testing"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/cdr"
)

// sagging is a battery that loses a volt in a flight.
func sagging(k, n int) float64 { return 15.6 - float64(k)/float64(n) }

// made has a flight commanded as policy_controller does with these throttle parameters, and the battery told twice a
// second.
func made(f quad.Flight, th *bridge.Throttle, px4 bool) []said {
	s, steps := mavros(), f.Segments[0]
	s.poseTopic = "/quad/mocap/odom"
	s.pose = own().pose
	var battery bridge.Battery
	var out []said
	for k := range steps {
		at, volts := nanoseconds(steps[k].T), sagging(k, len(steps))
		if k%25 == 0 {
			battery.Measured(float64(float32(volts)), at+epoch)
			var m cdr.Message = &sensormsgs.BatteryState{Voltage: float32(volts)}
			topic := "/quad/mavros/battery"
			if px4 {
				m, topic = &px4msgs.BatteryStatus{Connected: true, VoltageV: float32(volts)},
					"/quad/fmu/out/battery_status"
			}
			out = append(out, said{topic, at, m})
		}
		now := battery.Measured(0, 0) // as it is
		if px4 {
			m := new(px4msgs.VehicleRatesSetpoint)
			bridge.PutVehicleRatesSetpoint(m, 0, steps[k].Command, th, now)
			out = append(out, said{"/quad/fmu/in/vehicle_rates_setpoint", at, m})
		} else {
			m := new(mavrosmsgs.AttitudeTarget)
			bridge.PutAttitudeTarget(m, epoch+at, "base_link", steps[k].Command, th, now)
			out = append(out, said{"/quad/mavros/setpoint_raw/attitude", at, m})
		}
		out = append(out, said{s.poseTopic, at + 3e6, s.pose(epoch+at, steps[k].State)})
	}
	return out
}

// Throttle as policy_controller makes it, with a thrust curve and for a battery that sags, comes back as the thrust
// that it was made of; and what is needed for that and missing is said.
func TestThrottleComesBack(t *testing.T) {
	f := mustRead(t, agile)
	th := &bridge.Throttle{Hover: 0.37, Curve: 0.6, Voltage: 15.6}
	set := func(o *Options) { o.HoverThrottle, o.ThrustCurve, o.BatteryVoltage = th.Hover, th.Curve, th.Voltage }
	for name, px4 := range map[string]bool{"mavros": false, "px4": true} {
		path := spoken(t, made(f, th, px4))
		got, _, err := ReadBag(path, options(set))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		near(t, name, got, f, 1e-5, 1e-3)
		for what, forget := range map[string]func(*Options){
			"the curve":   func(o *Options) { o.ThrustCurve = 0 },
			"the battery": func(o *Options) { o.BatteryVoltage = 0 }} {
			other, _, err := ReadBag(path, options(func(o *Options) { set(o); forget(o) }))
			if err != nil {
				t.Fatalf("%s without %s: %v", name, what, err)
			}
			off, n := 0.0, len(got.Segments[0])
			for k := n / 2; k < n; k++ {
				off = max(off, other.Segments[0][k].Command.Thrust-got.Segments[0][k].Command.Thrust)
			}
			if off < 0.2 {
				t.Errorf("%s without %s: the same thrust within %.3f m/s²", name, what, off)
			}
		}
	}
	mute := slices.DeleteFunc(made(f, th, false), func(m said) bool { return strings.HasSuffix(m.topic, "battery") })
	for want, c := range map[string]struct {
		messages []said
		change   func(*Options)
	}{
		"no topic with a battery's voltage, for parameter battery_voltage; it has ": {mute,
			func(*Options) {}},
		"parameter battery_topic: no topic /power; right would be /quad/mavros/battery (sensor": {made(f, th, false),
			func(o *Options) { o.BatteryTopic = "power" }},
		"(mavros_msgs/msg/AttitudeTarget): parameter hover_throttle is not set": {mute,
			func(o *Options) { o.HoverThrottle = 0 }},
	} {
		if _, _, err := ReadBag(spoken(t, c.messages), options(func(o *Options) { set(o); c.change(o) })); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
}

// Of a flight that a person began and ended only what the autopilot followed makes rows.
func TestFollowed(t *testing.T) {
	f := mustRead(t, agile)
	n := len(f.Segments[0])
	from, to := n/3, 2*n/3
	for name, px4 := range map[string]bool{"mavros": false, "px4": true} {
		says := func(k int, armed, offboard bool) said {
			at := nanoseconds(f.Segments[0][k].T) - 1e6
			if px4 {
				m := &px4msgs.VehicleStatus{ArmingState: px4msgs.VehicleStatusArmingStateDisarmed,
					NavState: px4msgs.VehicleStatusNavigationStatePosctl}
				if armed {
					m.ArmingState = px4msgs.VehicleStatusArmingStateArmed
				}
				if offboard {
					m.NavState = px4msgs.VehicleStatusNavigationStateOffboard
				}
				return said{"/quad/fmu/out/vehicle_status_v1", at, m}
			}
			m := &mavrosmsgs.State{Connected: true, Armed: armed, Mode: "POSCTL"}
			if offboard {
				m.Mode = "OFFBOARD"
			}
			return said{"/quad/mavros/state", at, m}
		}
		all := append(made(f, &bridge.Throttle{Hover: hover}, px4), says(2, false, true), says(9, true, false),
			says(from, true, true), says(to, true, false))
		slices.SortStableFunc(all, func(a, b said) int { return int(a.log - b.log) })
		path := spoken(t, all)
		throttle := func(o *Options) { o.HoverThrottle = hover }
		got, warnings, err := ReadBag(path, options(throttle))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		first, last := got.Segments[0][0].T, got.Segments[0][len(got.Segments[0])-1].T
		begin, end := f.Segments[0][from].T-f.Segments[0][0].T, f.Segments[0][to].T-f.Segments[0][0].T
		const slack = 0.15 // a command is in force for a while
		if len(got.Segments) != 1 || first < begin-1e-6 || first > begin+0.05 || last < end-0.05 || last > end+slack {
			t.Errorf("%s: %d segments from %.2f to %.2f s, expected %.2f to %.2f", name, len(got.Segments), first, last,
				begin, end)
		}
		if w := joined(warnings); !strings.Contains(w, "commands left out, which nobody followed: /quad/") {
			t.Errorf("%s: warnings %q", name, w)
		}
		every, _, err := ReadBag(path, options(func(o *Options) { throttle(o); o.AutopilotTopic = "none" }))
		if err != nil || len(every.Segments[0]) < n-2 {
			t.Errorf("%s: every command makes %d rows, %v", name, len(every.Segments[0]), err)
		}
		never := append([]said{says(0, true, false)}, made(f, &bridge.Throttle{Hover: hover}, px4)...)
		if _, _, err := ReadBag(spoken(t, never), options(throttle)); err == nil ||
			!strings.Contains(err.Error(), "commands was followed: /quad/") {
			t.Errorf("%s: never followed: %v", name, err)
		}
	}
}

// Over a connection that mavros has lost, and says so, nothing arrives: these commands make no rows.
func TestLostConnection(t *testing.T) {
	f := mustRead(t, agile)
	n := len(f.Segments[0])
	from, to := n/3, 2*n/3
	says := func(k int, m mavrosmsgs.State) said {
		return said{"/quad/mavros/state", nanoseconds(f.Segments[0][k].T) - 1e6, &m}
	}
	follows := mavrosmsgs.State{Connected: true, Armed: true, Mode: mavrosmsgs.StateModePx4Offboard}
	all := append(made(f, &bridge.Throttle{Hover: hover}, false), says(0, follows), says(from, mavrosmsgs.State{}),
		says(to, follows))
	slices.SortStableFunc(all, func(a, b said) int { return int(a.log - b.log) })
	got, _, err := ReadBag(spoken(t, all), options(func(o *Options) { o.HoverThrottle = hover }))
	if err != nil {
		t.Fatal(err)
	}
	begin, end := f.Segments[0][from].T-f.Segments[0][0].T, f.Segments[0][to].T-f.Segments[0][0].T
	const slack = 0.15 // a command is in force for a while
	rows := 0
	for _, s := range got.Segments {
		for _, r := range s {
			if rows++; r.T > begin+slack && r.T < end-0.05 {
				t.Fatalf("a row at %.2f s, while the connection was lost from %.2f to %.2f s", r.T, begin, end)
			}
		}
	}
	if len(got.Segments) != 2 || rows < n/2 {
		t.Errorf("%d rows in %d segments", rows, len(got.Segments))
	}
}

// What a throttle means is known from the first voltage on: commands before it are left out, and counted.
func TestFirstVoltage(t *testing.T) {
	f := mustRead(t, agile)
	th := &bridge.Throttle{Hover: 0.37, Voltage: 15.6}
	const late = 50
	first := nanoseconds(f.Segments[0][late].T)
	o := options(func(o *Options) { o.HoverThrottle, o.BatteryVoltage = th.Hover, th.Voltage })
	later := slices.DeleteFunc(made(f, th, false),
		func(m said) bool { return strings.HasSuffix(m.topic, "battery") && m.log < first })
	got, warnings, err := ReadBag(spoken(t, later), o)
	if err != nil {
		t.Fatal(err)
	}
	if w := joined(warnings); !strings.Contains(w,
		"50 commands left out, which came before the first voltage on /quad/mavros/battery") {
		t.Errorf("warnings %q", w)
	}
	if at, want := got.Segments[0][0].T, f.Segments[0][late].T-f.Segments[0][0].T; at < want-1e-6 || at > want+0.05 {
		t.Errorf("rows from %.3f s on, expected %.3f", at, want)
	}
	never := made(f, th, false)
	for _, m := range never {
		if b, ok := m.m.(*sensormsgs.BatteryState); ok {
			b.Voltage = 0
		}
	}
	if _, _, err := ReadBag(spoken(t, never), o); err == nil ||
		!strings.Contains(err.Error(), "commands came after a voltage on /quad/mavros/battery (parameter "+
			"battery_topic") {
		t.Errorf("no voltage: %v", err)
	}
}
