package doctor

import (
	"io"
	"math"
	"testing"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/node"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// publish is a publisher of a node's that is made on the spot.
func publish[T any, P ros.Message[T]](t *testing.T, n *ros.Node, topic string) func(*T) {
	t.Helper()
	p, err := ros.NewPublisher[T, P](n, topic, node.CommandQoS())
	if err != nil {
		t.Fatal(err)
	}
	return func(m *T) {
		if err := p.Publish(m); err != nil {
			t.Error(err)
		}
	}
}

// desk is an autopilot, which says whether it follows commands and what its battery has, and who commands it.
type desk struct {
	says           func(follows bool)
	power, command func()
}

const volts = 14.0

func mavros(t *testing.T, n *ros.Node, p *controller.Params) desk {
	state, battery := publish[mavrosmsgs.State](t, n, "mavros/state"),
		publish[sensormsgs.BatteryState](t, n, "mavros/battery")
	setpoint := publish[mavrosmsgs.AttitudeTarget](t, n, "mavros/setpoint_raw/attitude")
	return desk{
		says: func(follows bool) {
			state(&mavrosmsgs.State{Connected: true, Armed: true,
				Mode: map[bool]string{true: "OFFBOARD", false: "POSCTL"}[follows]})
		},
		power: func() { battery(&sensormsgs.BatteryState{Voltage: volts}) },
		command: func() {
			var m mavrosmsgs.AttitudeTarget
			bridge.PutAttitudeTarget(&m, 1, "base_link", quad.Command{Thrust: quad.Gravity}, &p.Throttle, volts)
			setpoint(&m)
		},
	}
}

func px4(t *testing.T, n *ros.Node, p *controller.Params) desk {
	state, battery := publish[px4msgs.VehicleStatus](t, n, "fmu/out/vehicle_status_v1"),
		publish[px4msgs.BatteryStatus](t, n, "fmu/out/battery_status")
	setpoint := publish[px4msgs.VehicleRatesSetpoint](t, n, "fmu/in/vehicle_rates_setpoint")
	return desk{
		says: func(follows bool) {
			m := px4msgs.VehicleStatus{ArmingState: px4msgs.VehicleStatusArmingStateArmed,
				NavState: px4msgs.VehicleStatusNavigationStatePosctl}
			if follows {
				m.NavState = px4msgs.VehicleStatusNavigationStateOffboard
			}
			state(&m)
		},
		power: func() { battery(&px4msgs.BatteryStatus{Connected: true, VoltageV: volts}) },
		command: func() {
			var m px4msgs.VehicleRatesSetpoint
			bridge.PutVehicleRatesSetpoint(&m, 0, quad.Command{Thrust: quad.Gravity}, &p.Throttle, volts)
			setpoint(&m)
		},
	}
}

// Commands count once the autopilot says that it follows them, and the voltage is known that they were made for; their
// thrust is then what was asked for. Over mavros, and over PX4's topics of another version.
func TestFollowed(t *testing.T) {
	for _, stack := range []string{bridge.Mavros, bridge.PX4} {
		t.Run(stack, func(t *testing.T) { followed(t, stack) })
	}
}

// join makes a context on a domain, spun until the test ends.
func join(t *testing.T, d *inproc.Domain) *ros.Context {
	t.Helper()
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Backend: ros.InProcess(d),
		Getenv:  func(string) string { return "" }, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 1)
	return c
}

func followed(t *testing.T, stack string) {
	d := inproc.NewDomain()
	n, err := join(t, d).NewNode("bench")
	if err != nil {
		t.Fatal(err)
	}
	var p controller.Params
	param.Default(&p)
	p.CommandInterface, p.Throttle = stack, bridge.Throttle{Hover: 0.37, Voltage: 15.6}
	a := map[string]func(*testing.T, *ros.Node, *controller.Params) desk{bridge.Mavros: mavros,
		bridge.PX4: px4}[stack](t, n, &p)
	e, err := newExaminer(join(t, d), &p)
	if err != nil {
		t.Fatal(err)
	}
	// until says and commands, again and again, until something holds.
	until := func(what string, say func(), holds func() bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s did not come about", what)
			}
			e.Look()
			say()
			a.command()
		}
	}
	until("that commands come, of whom nobody says anything", func() { a.power() },
		func() bool { v, _ := e.takes(); return v > 0 })
	until("not following", func() { a.says(false) }, func() bool { _, ok := e.takes(); return !ok })
	until("following", func() { a.says(true) }, func() bool { _, ok := e.takes(); return ok })
	e.Commands()
	var all []float64
	until("commands", func() {}, func() bool {
		for _, c := range e.Commands() {
			all = append(all, c.Thrust)
		}
		return len(all) > 5
	})
	for _, x := range all {
		if math.Abs(x-quad.Gravity) > 1e-5 {
			t.Fatalf("thrust %g, expected %g", x, quad.Gravity)
		}
	}
	until("that it is taken back", func() { a.says(false) }, func() bool { _, ok := e.takes(); return !ok })
	e.Commands()
	sent := 0
	until("a while", func() { sent++ }, func() bool { return sent > 100 })
	if got := e.Commands(); len(got) > 0 {
		t.Errorf("%d commands count that nobody followed", len(got))
	}
}
