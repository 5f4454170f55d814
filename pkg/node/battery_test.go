package node_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// smallPack is a world whose battery hovers for about 25 s.
func smallPack(t testing.TB) string {
	t.Helper()
	world := filepath.Join(t.TempDir(), "world.yaml")
	text := "world:\n  ros__parameters:\n    battery: {enabled: true, capacity: 0.02}\n"
	if err := os.WriteFile(world, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return world
}

// logged reports whether the log has a line with these words.
func (l *lab) logged(words string) bool {
	for _, line := range l.log {
		if strings.Contains(line, words) {
			return true
		}
	}
	return false
}

// A battery that empties over the wire: the controller warns, brings the robot back to where it began, takes no other
// task, lands it, and takes off no more. Voltages of a second publisher are refused meanwhile.
func TestBatteryEmpties(t *testing.T) {
	l := newLab(t)
	l.hoveringIn(smallPack(t), nil, "-p", "battery.cells:=4", "-p", "battery.hover_sag:=0.14", "-p",
		"battery.flight_time:=25.0", "-p", "battery.return:=0.5", "-p", "battery.warn:=0.6")
	const away = `{"kind":"hover","point":[0.8,0,1]}`
	r := l.task("hover", away)
	for end := time.Now().Add(patience); strings.Contains(r.Message, "no voltage has come") &&
		time.Now().Before(end); r = l.task("hover", away) {
		time.Sleep(50 * time.Millisecond)
	}
	if !r.Success {
		t.Fatal(r.Message)
	}
	spoofed := must(ros.NewPublisher[sensormsgs.BatteryState](l.n, "/quad/battery", node.MocapQoS()))(t)
	l.until("the robot is away", func() bool { return newest(l.truth).State.P.X > 0.5 })
	for range 20 {
		if err := spoofed.Publish(&sensormsgs.BatteryState{Voltage: 12}); err != nil {
			t.Fatal(err)
		}
	}
	l.until("a second publisher is refused", func() bool {
		return l.logged("topic battery has two publishers: voltages of the second are refused")
	})
	l.until("it warns", func() bool { return l.logged("the battery is low: ") })
	l.until("it returns", func() bool { return l.logged("the battery is so low that the robot returns: ") })
	r = l.task("hover", away)
	if r.Success || !strings.Contains(r.Message, "returns") {
		t.Errorf("another task: %+v", r)
	}
	l.until("it is back", func() bool { return math.Abs(newest(l.truth).State.P.X) < 0.15 })
	l.until("it lands, without a fault before", func() bool {
		for _, s := range l.steps {
			if s.GuardState == uint8(guard.Hold) || s.GuardState == uint8(guard.Blind) {
				t.Fatal("the guard tripped before the battery had it land")
			}
		}
		return newest(l.steps).GuardState == uint8(guard.Land)
	})
	l.until("it stands", func() bool { return newest(l.steps).GuardState == uint8(guard.Off) })
	if p := newest(l.truth).State.P; p.Z > 0.1 || math.Hypot(p.X, p.Y) > 0.3 {
		t.Errorf("it stands at %v", p)
	}
	if r := l.trigger("policy_controller/takeoff"); r.Success || !strings.Contains(r.Message, "the battery is") {
		t.Errorf("a take-off: %+v", r)
	}
}

// Voltages that no battery has, and none at all, are said; none of them lands the robot, and it flies on.
func TestSpoofedVoltages(t *testing.T) {
	l := newLab(t)
	world := must(filepath.Abs("../../params/worlds/calm.yaml"))(t)
	l.hoveringIn(world, []string{"-r", "battery:=another"}, "-p", "battery.cells:=4", "-p",
		"battery.flight_time:=600.0")
	pub := must(ros.NewPublisher[sensormsgs.BatteryState](l.n, "/quad/battery", node.MocapQoS()))(t)
	send := func(volts float64, seconds float64) {
		t.Helper()
		for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
			if err := pub.Publish(&sensormsgs.BatteryState{Voltage: float32(volts)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	l.until("silence is said", func() bool { return l.logged("topic battery: no voltage has come") })
	for _, x := range []struct {
		volts float64
		says  string
	}{
		{13, "the voltage fell faster than any battery's does"},
		{16.8, "the voltage rose, which no battery's does in flight"},
		{math.NaN(), "no voltage of such a battery"}, {-15, "no voltage of such a battery"},
	} {
		send(15.4, 0.5)
		l.mu.Lock()
		l.log = nil
		l.mu.Unlock()
		send(x.volts, 0.5)
		l.until(x.says, func() bool { return l.logged(x.says) })
	}
	l.until("the silence after it is said", func() bool { return l.logged("no voltage comes any more") })
	l.until("it hovers still", func() bool {
		return l.hovers(so3.Vec3{Z: 1}) && newest(l.steps).GuardState == uint8(guard.Policy)
	})
}
