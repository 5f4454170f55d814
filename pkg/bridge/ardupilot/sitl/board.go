package sitl

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/ardupilot/mavlink"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Board is a firmware with parameters, armed in GUIDED_NOGPS and flown by what policy_controller sends to mavros. It
// implements the simulator's Firmware: each Reset starts the firmware anew.
type Board struct {
	// Period is the time between two setpoints, s. At 0 none is sent and it stays disarmed: who is at Address flies it.
	Period float64
	Link   *Link

	throttle bridge.Throttle
	params   []Parameter
	binary   string
	folder   string
	second   int // port of the second serial line; 0: it has none
	process  *Process
	due      float64  // s, the next setpoint
	start    so3.Vec3 // where the firmware believes itself at home: it makes up for thin air of a height
	last     quad.State
	target   mavrosmsgs.AttitudeTarget
}

// Parameter is one of the firmware.
type Parameter struct {
	Name  string
	Value float64
}

// ParseParameter reads NAME=VALUE.
func ParseParameter(text string) (Parameter, error) {
	name, value, ok := strings.Cut(text, "=")
	x, err := strconv.ParseFloat(value, 64)
	if !ok || name == "" || err != nil {
		return Parameter{}, fmt.Errorf("parameter %q, expected NAME=VALUE with a number", text)
	}
	return Parameter{name, x}, nil
}

// Simulated are parameters that a board has because it is simulated: a frame of four rotors in an X, no transmitter, no
// log, and no failsafes.
var Simulated = []Parameter{
	{"FRAME_CLASS", 1}, {"FRAME_TYPE", 1}, {"LOG_BACKEND_TYPE", 0},
	{"FS_THR_ENABLE", 0}, {"FS_GCS_ENABLE", 0}, {"FS_CRASH_CHECK", 0}, {"FS_EKF_ACTION", 0}, {"FS_VIBE_ENABLE", 0},
	{"TERRAIN_ENABLE", 0}, {"MOT_PWM_MIN", 1000}, {"MOT_PWM_MAX", 2000},
}

// NewBoard has parameters in place of the firmware's defaults; of two of one name the later counts.
func NewBoard(binary string, t bridge.Throttle, params []Parameter) (*Board, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ardupilot")
	if err != nil {
		return nil, err
	}
	const rate = 50 // Hz
	b := &Board{Period: 1. / rate, binary: binary, folder: dir, throttle: t}
	var text strings.Builder
	for i, p := range params {
		if !slices.ContainsFunc(params[i+1:], func(q Parameter) bool { return q.Name == p.Name }) {
			b.params = append(b.params, p)
			fmt.Fprintf(&text, "%s %g\n", p.Name, p.Value)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "defaults.parm"), []byte(text.String()), 0o666); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return b, nil
}

// begin starts the firmware in place of one that ran.
func (b *Board) begin() (err error) {
	if err := b.end(); err != nil {
		return err
	}
	if b.Period == 0 && b.second == 0 {
		l, err := listen()
		if err != nil {
			return err
		}
		b.second = l.Addr().(*net.TCPAddr).Port // which nobody has
		if err := l.Close(); err != nil {
			return err
		}
	}
	serial, err := listen() // anew: nothing of a firmware before waits there
	if err != nil {
		return err
	}
	defer serial.Close()
	if b.process, err = start(b.binary, b.folder, serial, b.second); err != nil {
		return err
	}
	b.Link, err = accept(serial)
	return err
}

// listen listens at a port of the loopback that nobody has.
func listen() (*net.TCPListener, error) {
	return net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
}

func (b *Board) end() error {
	if b.process == nil {
		return nil
	}
	err := b.process.Close()
	if b.Link != nil {
		err = errors.Join(err, b.Link.Close())
	}
	b.process, b.Link = nil, nil
	return err
}

// rest lets time pass for a vehicle that rests, until something is so, or for at most that many seconds.
func (b *Board) rest(what string, seconds float64, until func() bool) error {
	const step = 0.001 // s
	for end := b.process.time + seconds; b.process.time < end; {
		if until() {
			return nil
		}
		if _, err := b.step(b.last, so3.Vec3{}, b.last.Q.Conj().Rotate(so3.Vec3{Z: quad.Gravity}),
			step); err != nil {
			return err
		}
	}
	return fmt.Errorf("the firmware does not %s within %g s; it said: %s", what, seconds,
		strings.Join(b.Link.Texts(), "; "))
}

const (
	setInterval = 511 // MAV_CMD_SET_MESSAGE_INTERVAL
	armDisarm   = 400 // MAV_CMD_COMPONENT_ARM_DISARM
	armForce    = 2989
)

// Reset implements sim.Firmware: it boots and arms, and has the motors follow the command.
func (b *Board) Reset(s quad.State, c quad.Command) error {
	b.last, b.due, b.start = s, 0, s.P
	if err := b.begin(); err != nil {
		return err
	}
	const boots, settles = 60, 3 // s
	beats := func() bool { _, there, _ := b.Link.State(); return there }
	if err := b.rest("boot", boots, beats); err != nil {
		return err
	}
	const often = 20000 // µs between two heartbeats
	if err := b.Link.Order(setInterval, 0, often); err != nil {
		return err
	}
	if err := b.check(); err != nil || b.Period == 0 {
		return err
	}
	tries := 0
	if err := b.rest("arm in GUIDED_NOGPS", boots, func() bool {
		mode, _, armed := b.Link.State()
		if tries++; tries%1000 == 1 {
			_ = b.Link.Enter(GuidedNoGPS)
			_ = b.Link.Order(armDisarm, 1, armForce)
		}
		return armed && mode == GuidedNoGPS
	}); err != nil {
		return err
	}
	var failed error
	end := b.process.time + settles
	err := b.rest("follow", settles+1, func() bool {
		failed = b.follow(c)
		return failed != nil || b.process.time >= end
	})
	return errors.Join(err, failed)
}

// check reads all parameters back.
func (b *Board) check() error {
	const longest = 20 // s
	for _, p := range b.params {
		asked := 0
		if err := b.rest("know parameter "+p.Name, longest, func() bool {
			if asked++; asked%1000 == 1 {
				_ = b.Link.Ask(p.Name)
			}
			_, known := b.Link.Parameter(p.Name)
			return known
		}); err != nil {
			return err
		}
		if v, _ := b.Link.Parameter(p.Name); v.Value != float32(p.Value) {
			return fmt.Errorf("parameter %s of the firmware is %g, expected %g", p.Name, v.Value, p.Value)
		}
	}
	return nil
}

// follow sends a command where one is due, by way of mavros' message.
func (b *Board) follow(c quad.Command) error {
	now := b.process.time
	if b.Period == 0 || now < b.due-1e-6 {
		return nil
	}
	b.due = max(b.due+b.Period, now)
	bridge.PutAttitudeTarget(&b.target, 0, "", c, &b.throttle, 0)
	return b.Link.Aim(Setpoint(&b.target))
}

// Setpoint is what mavros makes of its message: the body's axes turned to FRD.
func Setpoint(m *mavrosmsgs.AttitudeTarget) *mavlink.SetAttitudeTarget {
	w := bridge.SwapBody(so3.Vec3{X: m.BodyRate.X, Y: m.BodyRate.Y, Z: m.BodyRate.Z})
	return &mavlink.SetAttitudeTarget{Q: [4]float32{1}, Rates: [3]float32{float32(w.X), float32(w.Y), float32(w.Z)},
		Thrust: m.Thrust, TypeMask: m.TypeMask}
}

// Step implements sim.Firmware.
func (b *Board) Step(c quad.Command, s quad.State, gyro, accel so3.Vec3, h float64) ([4]float64, error) {
	b.last = s
	if err := b.follow(c); err != nil {
		return [4]float64{}, err
	}
	return b.step(s, gyro, accel, h)
}

func (b *Board) step(s quad.State, gyro, accel so3.Vec3, h float64) ([4]float64, error) {
	s.P = s.P.Sub(b.start)
	return b.process.step(s, gyro, accel, h)
}

// Address is that of the second serial line, HOST:PORT, where Period is 0.
func (b *Board) Address() string { return fmt.Sprint("127.0.0.1:", b.second) }

// Throttle is how the board's throttle becomes thrust.
func (b *Board) Throttle() bridge.Throttle { return b.throttle }

// Close ends the firmware and removes its folder.
func (b *Board) Close() error {
	return errors.Join(b.end(), os.RemoveAll(b.folder))
}
