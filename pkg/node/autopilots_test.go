package node_test

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	crazyflieinterfaces "vnd/msgs/crazyflie_interfaces"
	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/node/autopilottest"
	"vnd/pkg/ros2/ros"
)

// played is an autopilot that a test plays, at the other end of the wire.
type played interface {
	Say() error                // reports its state
	fresh() ([]command, error) // what it has got since the last call
	follows() bool             // in the mode that follows it
}

type command = bridge.Command

// hoverThrottle is that of the vehicle, as controller and autopilot have it.
var hoverThrottle = bridge.Throttle{Hover: 0.37}

// ardupilot is mavros with ArduOperator behind it.
type ardupilot struct{ *autopilottest.Mavros }

func newArdupilot(l *lab) played {
	m := must(autopilottest.NewMavros(l.n, "/fcu/"))(l.t)
	m.Firmware.Set(bridge.GuidOptions, autopilottest.Integer(8))
	m.Firmware.Set(bridge.AngleBoost, autopilottest.Integer(0))
	m.Firmware.Spins(bridge.Spin{Max: 1})
	m.Setpoint.Set(bridge.ThrustScaling, autopilottest.Double(1))
	return ardupilot{m}
}

func (a ardupilot) fresh() (all []command, err error) {
	for _, s := range a.Take() {
		c, e := bridge.FromAttitudeTarget(&s, &hoverThrottle, 0)
		all, err = append(all, c), cmp.Or(err, e)
	}
	return all, err
}

func (a ardupilot) follows() bool { return bridge.ArdupilotGuided(a.Mode()) }

// px4Mode is PX4 that takes modes from outside.
type px4Mode struct{ *autopilottest.PX4 }

func newPX4(l *lab) played { // 1.17
	return px4Mode{must(autopilottest.NewPX4(l.n, "/fcu/", bridge.ModeAPI1))(l.t)}
}

func newNewerPX4(l *lab) played { // 1.18
	return px4Mode{must(autopilottest.NewPX4(l.n, "/newer/", bridge.ModeAPI2))(l.t)}
}

func (p px4Mode) fresh() (all []command, err error) {
	for _, s := range p.Take().Setpoints {
		c, e := bridge.FromVehicleRatesSetpoint(&s, &hoverThrottle, 0)
		all, err = append(all, c), cmp.Or(err, e)
	}
	return all, err
}

func (p px4Mode) follows() bool { s := p.State(); return s.Flies() }

// crazyflie is one behind crazyswarm2's server. It follows whatever comes.
type crazyflie struct {
	*autopilottest.Crazyflie
	lab *lab
}

func newCrazyflie(l *lab) played { return newCrazyflieBy(l, bridge.Crazyswarm2, "cf231") }

func newFullState(l *lab) played { return newCrazyflieBy(l, bridge.Crazyswarm2FullState, "cf232") }

func newCrazyflieBy(l *lab, commandInterface, name string) played {
	f := must(autopilottest.NewCrazyflie(l.n, "/fcu/"+name+"/", name))(l.t)
	f.Settle(name, commandInterface)
	return crazyflie{f, l}
}

func (f crazyflie) fresh() (all []command, err error) {
	s := f.Take()
	for _, m := range s.Twists {
		all = append(all, bridge.FromTwist(&m, &hoverThrottle, 0))
	}
	for _, m := range s.States {
		f.lab.mu.Lock()
		all = append(all, command{Command: mellinger(&m, newest(f.lab.truth).State)})
		f.lab.mu.Unlock()
	}
	return all, nil
}

func (f crazyflie) follows() bool { return f.Follows() }

// mellinger is what the firmware's controller of that name makes of a setpoint in a state: the thrust, and the rates at
// which its moment is none. Gains are its defaults, over its mass or its gain of rates.
func mellinger(m *crazyflieinterfaces.FullState, s quad.State) quad.Command {
	const p, d, pz, dz, turn = 0.4 / 0.027, 0.2 / 0.027, 1.25 / 0.027, 0.4 / 0.027, 70000.0 / 20000
	at := so3.Vec3{X: m.Pose.Position.X, Y: m.Pose.Position.Y, Z: m.Pose.Position.Z}.Sub(s.P)
	v := so3.Vec3{X: m.Twist.Linear.X, Y: m.Twist.Linear.Y, Z: m.Twist.Linear.Z}.Sub(s.V)
	force := so3.Vec3{X: m.Acc.X + p*at.X + d*v.X, Y: m.Acc.Y + p*at.Y + d*v.Y,
		Z: m.Acc.Z + pz*at.Z + dz*v.Z + quad.Gravity}
	o := m.Pose.Orientation
	yaw := so3.Quat{W: o.W, X: o.X, Y: o.Y, Z: o.Z}.Yaw()
	z := force.Scale(1 / force.Norm())
	y := z.Cross(so3.Vec3{X: math.Cos(yaw), Y: math.Sin(yaw)})
	y = y.Scale(1 / y.Norm())
	x := y.Cross(z)
	want := so3.FromMat3(so3.Mat3{{x.X, y.X, z.X}, {x.Y, y.Y, z.Y}, {x.Z, y.Z, z.Z}})
	w := m.Twist.Angular
	return quad.Command{Thrust: force.Dot(s.Q.ZAxis()),
		Rates: so3.Vec3{X: w.X, Y: w.Y, Z: w.Z}.Add(so3.Log(s.Q.Conj().Mul(want)).Scale(turn))}
}

// aerostack2 is a platform of Aerostack2.
type aerostack2 struct{ *autopilottest.Aerostack2 }

const as2Mass = 1.5 // kg

func newAerostack2(l *lab) played {
	return aerostack2{must(autopilottest.NewAerostack2(l.n, "/drone0/", as2Mass))(l.t)}
}

func (a aerostack2) fresh() ([]command, error) { return a.Take(), nil }
func (a aerostack2) follows() bool             { return a.Follows() }

// mrs is the hardware API of MRS.
type mrs struct{ *autopilottest.MRS }

func newMRS(l *lab) played { return mrs{must(autopilottest.NewMRS(l.n, "/uav1/"))(l.t)} }

func (m mrs) fresh() (all []command, err error) {
	for _, c := range m.Take() {
		all = append(all, bridge.FromAttitudeRate(&c, &hoverThrottle, 0))
	}
	return all, nil
}

func (m mrs) follows() bool { return m.Follows() }

// betaflight is betaflight_bridge with a board, which an operator has armed.
type betaflight struct{ *autopilottest.Betaflight }

func newBetaflight(l *lab) played {
	b := must(autopilottest.NewBetaflight(l.n, "/fcu/", "/quad/command"))(l.t)
	b.Operator(true)
	return betaflight{b}
}

func (b betaflight) fresh() (all []command, err error) {
	for _, m := range b.Take() {
		all = append(all, bridge.FromThrustRates(&m))
	}
	return all, nil
}

func (b betaflight) follows() bool { return b.State().Guided }

// play has an autopilot fly quad_sim, which has PX4's topics for that: in the mode that follows, what it gets; else it
// holds.
func (l *lab) play(a played) (end func()) {
	setpoints := must(ros.NewPublisher[px4msgs.VehicleRatesSetpoint](l.n, "/quad/fmu/in/vehicle_rates_setpoint",
		node.CommandQoS()))(l.t)
	alive := must(ros.NewPublisher[px4msgs.OffboardControlMode](l.n, "/quad/fmu/in/offboard_control_mode",
		node.CommandQoS()))(l.t)
	orders := must(ros.NewPublisher[px4msgs.VehicleCommand](l.n, "/quad/fmu/in/vehicle_command",
		node.CommandQoS()))(l.t)
	fly := func(c quad.Command) {
		var m px4msgs.VehicleRatesSetpoint
		bridge.PutVehicleRatesSetpoint(&m, 0, c, &hoverThrottle, 0)
		_ = setpoints.Publish(&m)
	}
	order := func(follow bool) {
		m := bridge.ToOffboard()
		if !follow { // main mode AUTO, LOITER
			m.Param2, m.Param3 = 4, 3
		}
		_ = orders.Publish(&m)
	}
	turn, followed := 0, false
	step := func() {
		got, err := a.fresh()
		if err != nil {
			l.t.Error(err)
		}
		follows := a.follows()
		if turn++; turn%25 == 0 || follows != followed {
			order(follows)
		}
		if followed = follows; follows && len(got) > 0 {
			fly(got[len(got)-1].Command)
		}
		if turn%5 == 0 {
			_ = alive.Publish(&px4msgs.OffboardControlMode{BodyRate: true})
			_ = a.Say()
		}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				step()
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// flown waits until holds, with the autopilot asked again where it does not follow: a machine that is busy may keep
// commands from it, and it then holds as it has to.
func (l *lab) flown(a played, what string, holds func() bool) {
	l.t.Helper()
	refused := ""
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		l.mu.Lock()
		there := holds()
		l.mu.Unlock()
		if there && a.follows() {
			return
		}
		if time.Now().After(end) {
			l.t.Fatalf("not in %v: %s; follows: %v, refused: %q; %d steps, truth %+v", patience, what, a.follows(),
				refused, len(l.steps), newest(l.truth))
		}
		if !a.follows() {
			refused = l.arm(true).Message
		}
	}
}

// flownAutopilot is an autopilot of TestAutopilotsOverTheWire.
type flownAutopilot struct {
	name      string // of the command interface
	play      func(*lab) played
	namespace string
	killed    bool // the node is killed in flight, in place of a landing
}

// TestAutopilotsOverTheWire flies quad_sim through autopilots that the test plays: the controller is a process,
// and all topics and services go over the loopback. Signs and scales are those of the flight: a wrong one falls.
func TestAutopilotsOverTheWire(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes each")
	}
	l := newLab(t)
	for _, c := range []flownAutopilot{
		{bridge.Ardupilot, newArdupilot, "/fcu", false},
		{bridge.Betaflight, newBetaflight, "/fcu", false},
		{bridge.Crazyswarm2, newCrazyflie, "/fcu/cf231/cf231", false},
		{bridge.Crazyswarm2FullState, newFullState, "/fcu/cf232/cf232", false},
		{bridge.Aerostack2, newAerostack2, "/drone0", false},
		{bridge.MRS, newMRS, "/uav1", false},
		{bridge.PX4Mode, newNewerPX4, "/newer", false},
		{bridge.PX4Mode, newPX4, "/fcu", true}, // last: services of a node that was killed are known for 10 s
	} {
		t.Run(c.name+c.namespace, func(t *testing.T) { l.throughAutopilot(t, &c) })
	}
}

// throughAutopilot hovers, flies elsewhere and lands.
func (l *lab) throughAutopilot(t *testing.T, c *flownAutopilot) {
	outer := l.t
	l.t = t
	defer func() { l.t = outer }()
	l.mu.Lock()
	l.steps, l.truth, l.commands = nil, nil, nil
	l.mu.Unlock()
	defer l.spawn("quad_sim", "-p", "command_interface:=px4", "-p", "hover_throttle:=0.37", "-p",
		"lockstep:=true", "-p", "lockstep_patience:=3.0", "-p", "start:=[0.3, 0.0, 1.0]")()
	a := c.play(l)
	defer l.play(a)()
	file := must(filepath.Abs("../flight/control/testdata/a.vnd"))(t)
	defer l.spawn("policy_controller", "-p", "use_sim_time:=true", "-p", "command_interface:="+c.name, "-p",
		"autopilot_namespace:="+c.namespace, "-p", "hover_throttle:=0.37", "-p", fmt.Sprint("mass:=", as2Mass), "-p",
		"bundle_file:="+file, "-p", "autostart:=true")()
	b, operated := a.(betaflight)
	if operated {
		l.until("commands flow, and nobody follows them", func() bool { return len(l.steps) > 25 })
		if r := l.arm(true); r.Success || !strings.Contains(r.Message, autopilottest.ArmingRefused) {
			t.Errorf("armed beside a pilot: %+v", r)
		}
		b.Operator(false)
	}
	l.flown(a, "the robot hovers", func() bool { return l.hovers(so3.Vec3{Z: 1}) })
	if operated {
		l.operatorTakesOver(b)
	}
	if r := l.task("hover", `{"kind": "hover", "point": [-0.3, 0.5, 1.2]}`); !r.Success {
		t.Fatal(r.Message)
	}
	elsewhere := so3.Vec3{X: -.3, Y: .5, Z: 1.2}
	l.flown(a, "the robot hovers elsewhere", func() bool { return l.hovers(elsewhere) })
	if c.killed {
		l.killedInTheMode(a.(px4Mode), elsewhere)
		return
	}
	if r := l.trigger("policy_controller/land"); !r.Success {
		t.Fatal(r.Message)
	}
	l.until("the robot has landed", func() bool { return newest(l.truth).State.P.Z < 0.1 })
	if operated {
		l.until("the board is disarmed", func() bool { return !b.State().Armed })
	}
}

// operatorTakesOver has the operator fly for a while, and then the bridge's state end.
func (l *lab) operatorTakesOver(b betaflight) {
	l.t.Helper()
	b.Operator(true)
	l.until("the policy waits", func() bool { return newest(l.steps).GuardState == msgs.StepGuardNotOffboard })
	b.Operator(false)
	l.until("the policy flies again", func() bool { return newest(l.steps).GuardState == msgs.StepGuardPolicy })
	b.Mute(true)
}

// killedInTheMode kills the controller: PX4 misses its answers and holds, and the vehicle stays at its place.
func (l *lab) killedInTheMode(p px4Mode, place so3.Vec3) {
	l.t.Helper()
	l.kill(l.pid)
	l.until("PX4 holds", func() bool {
		s := p.State()
		return s.NavState == px4msgs.VehicleStatusNavigationStateAutoLoiter && !s.Registered
	})
	l.mu.Lock()
	from := len(l.truth)
	l.mu.Unlock()
	const seconds = 3
	l.until("the vehicle holds", func() bool { return len(l.truth) > from+100*seconds })
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.truth[from:] {
		if off := x.State.P.Sub(place).Norm(); off > 0.3 {
			l.t.Fatalf("%.2f m from where it hovered", off)
		}
	}
}

// kill kills a program, which has no time to end anything.
func (l *lab) kill(pid int) {
	l.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		l.t.Fatal(err)
	}
	l.cut = pid
}
