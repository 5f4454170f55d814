package doctor

import (
	"math"
	"path/filepath"
	"testing"

	"vnd/msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Of a hover over mavros those commands count that the autopilot followed, once the voltage is known that they were
// made for, and their thrust is what was asked for.
func TestHoverOfBagCountsCommandsThatWereFollowed(t *testing.T) {
	const epoch, step, volts = int64(1_700_000_000_000_000_000), int64(20e6), 14.0
	dir := filepath.Join(t.TempDir(), "hover")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := epoch
	write := func(topic string, m cdr.Message) { record(t, w, topic, at, m) }
	var p controller.Params
	param.Default(&p)
	p.Source, p.CommandInterface = control.FromMavros, bridge.Mavros
	p.Throttle = bridge.Throttle{Hover: 0.37, Voltage: 15.6}
	const from, powered, to, end = 30, 50, 70, 100
	for k := range int64(end) {
		at = epoch + k*step
		switch k {
		case 0, to:
			write("/quad/mavros/state", &mavrosmsgs.State{Connected: true, Armed: true, Mode: "POSCTL"})
		case from:
			write("/quad/mavros/state", &mavrosmsgs.State{Connected: true, Armed: true,
				Mode: mavrosmsgs.StateModePx4Offboard})
		case powered:
			write("/quad/mavros/battery", &sensormsgs.BatteryState{Voltage: volts})
		}
		var pose navmsgs.Odometry
		bridge.PutOdometry(&pose, at, "map", "base_link", quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()})
		write("/quad/mavros/local_position/odom", &pose)
		var command mavrosmsgs.AttitudeTarget
		bridge.PutAttitudeTarget(&command, at, "base_link", quad.Command{Thrust: quad.Gravity}, &p.Throttle, volts)
		write("/quad/mavros/setpoint_raw/attitude", &command)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := HoverOfBag(dir, &p)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Poses) != end || len(h.Commands) != to-powered {
		t.Fatalf("%d poses and %d commands, expected %d and %d", len(h.Poses), len(h.Commands), end, to-powered)
	}
	if first := float64(epoch+powered*step) / 1e9; math.Abs(h.Commands[0].Arrival-first) > 1e-6 {
		t.Errorf("the first came at %.3f, expected %.3f", h.Commands[0].Arrival, first)
	}
	for _, c := range h.Commands {
		if math.Abs(c.Thrust-quad.Gravity) > 1e-5 {
			t.Fatalf("thrust %g, expected %g", c.Thrust, quad.Gravity)
		}
	}
}

// record writes a message into a bag, at a time in ns.
func record(t *testing.T, w *bag.Writer, topic string, at int64, m cdr.Message) {
	t.Helper()
	data, err := cdr.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	known, _ := msgs.Lookup(m.TypeName())
	if err := w.AddTopic(bag.Topic{Name: topic, Type: known.Name, Definition: known.Definition()}); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&bag.Message{Topic: topic, LogTime: at, PublishTime: at, Data: data}); err != nil {
		t.Fatal(err)
	}
}
