package sitl

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Board is a firmware with settings, armed and flown by commands. It implements the simulator's Firmware: each Reset
// starts the firmware anew, so that the same commands give the same motor outputs.
type Board struct {
	// Period is the time between two frames of sticks, s. At 0 none are sent: sticks come from elsewhere, and a board
	// whose command line has it restart does so.
	Period float64

	folder, settings string
	sticks           betaflight.Sticks
	process          *Process
	dither           betaflight.Dither
	due              float64 // s, the next frame
	last             quad.State
}

// armed is where the switch for arming is on, on the first of the auxiliary channels.
const armed = "0 0 1700 2100 0 0"

// Settings are what a Board has beside its defaults: those recommended for rates up to a limit, rad/s, and those that a
// simulated board needs.
func Settings(limit float64) []betaflight.Setting {
	return append(betaflight.Recommended(limit),
		betaflight.Setting{Name: "aux 0", Value: armed, Why: "arms by a switch"},
		betaflight.Setting{Name: "pwr_on_arm_grace", Value: "0", Why: "arms at once"},
		betaflight.Setting{Name: "gyro_calib_duration", Value: "50", Why: "4000 samples, of which a state brings one"},
		betaflight.Setting{Name: "runaway_takeoff_prevention", Value: "OFF", Why: "a vehicle in the air is armed"})
}

// NewBoard provisions a firmware from a folder with settings over its command line, and keeps them for each Reset.
func NewBoard(folder string, s betaflight.Sticks, settings []betaflight.Setting) (*Board, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "betaflight")
	if err != nil {
		return nil, err
	}
	const rate = 250 // Hz, as of a receiver for racing
	b := &Board{Period: 1. / rate, folder: folder, settings: dir, sticks: s}
	if err := b.keep(settings); err != nil {
		return nil, errors.Join(fmt.Errorf("settings of the firmware: %w", err), b.Close())
	}
	return b, nil
}

// kept are eeproms by the folder of the firmware and the settings that were read back from them.
var kept sync.Map

// keep has a board with settings, provisioned once in a process.
func (b *Board) keep(settings []betaflight.Setting) error {
	key, file := fmt.Sprint(b.folder, settings), filepath.Join(b.settings, "eeprom.bin")
	if data, ok := kept.Load(key); ok {
		return os.WriteFile(file, data.([]byte), 0o666)
	}
	if err := b.provision(settings); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err == nil {
		kept.Store(key, data)
	}
	return err
}

// provision writes settings over the command line, has them kept, and reads them back after the restart.
func (b *Board) provision(settings []betaflight.Setting) error {
	if err := b.start(); err != nil {
		return err
	}
	err := b.converse(func(c *betaflight.Console) error {
		changes, err := c.Compare(settings)
		if err == nil {
			err = c.Apply(changes)
		}
		if err == nil {
			err = c.Save()
		}
		return err
	})
	if err == nil {
		err = b.rest(func(p *Process) bool { return false }, 60)
		if errors.Is(err, ErrEnded) {
			err = b.process.wait()
		}
	}
	if err == nil {
		err = b.start()
	}
	if err != nil {
		return err
	}
	return b.converse(func(c *betaflight.Console) error {
		changes, err := c.Compare(settings)
		if err == nil && len(changes) > 0 {
			err = fmt.Errorf("%s was not kept", changes[0])
		}
		return err
	})
}

// converse holds a conversation on the command line while time passes.
func (b *Board) converse(talk func(*betaflight.Console) error) error {
	ended := make(chan error, 1)
	go func() {
		conn, err := b.process.Dial()
		if err != nil {
			ended <- err
			return
		}
		defer conn.Close()
		c, err := betaflight.OpenConsole(conn)
		if err == nil {
			err = talk(c)
		}
		ended <- err
	}()
	const longest = 600 // s, simulated
	var answer error
	err := b.rest(func(*Process) bool {
		select {
		case answer = <-ended:
			return true
		default:
			return false
		}
	}, longest)
	if errors.Is(err, ErrEnded) { // as what was said may have it do
		return <-ended
	}
	return errors.Join(answer, err)
}

// start runs the firmware, in place of one that ran, at its address.
func (b *Board) start() error {
	var at netip.Addr
	if b.process != nil {
		at = b.process.Address
		if err := b.process.Close(); err != nil {
			return err
		}
	}
	var err error
	b.process, err = Start(b.folder, b.settings, at)
	return err
}

const step = 0.001 // s, between two states at rest

// rest lets time pass for a vehicle that rests, until something is so, or for at most that many seconds.
func (b *Board) rest(until func(*Process) bool, seconds float64) error {
	for end := b.process.Time() + seconds; b.process.Time() < end; {
		if _, err := b.process.Step(b.last, so3.Vec3{}, b.last.Q.Conj().Rotate(so3.Vec3{Z: quad.Gravity}),
			step); err != nil {
			return err
		}
		if until(b.process) {
			return nil
		}
	}
	return nil
}

// Reset implements sim.Firmware: it boots and arms, and has the motors follow the command.
func (b *Board) Reset(s quad.State, c quad.Command) error {
	b.last, b.due, b.dither = s, 0, betaflight.Dither{}
	if err := b.start(); err != nil {
		return err
	}
	if b.Period == 0 {
		return nil
	}
	const calibrates, arms, settles = 4.5, 1.0, 0.5 // s
	never := func(*Process) bool { return false }
	if err := b.send(low, betaflight.Low); err != nil {
		return err
	}
	if err := b.rest(never, calibrates); err != nil {
		return err
	}
	if err := b.send(low, betaflight.High); err != nil {
		return err
	}
	turning := func(p *Process) bool { return p.motors[0] > 0 }
	if err := b.rest(turning, arms); err != nil {
		return err
	}
	if !turning(b.process) {
		return fmt.Errorf("the firmware does not arm; it wrote: %s", logged(b.settings))
	}
	if err := b.follow(c); err != nil {
		return err
	}
	return b.rest(never, settles)
}

// send sets the sticks and the switch for arming.
func (b *Board) send(p betaflight.Positions, arm uint16) error {
	us := b.dither.Round(p)
	frame := [channels]uint16{us[0], us[1], us[2], us[3], arm}
	for i := betaflight.Aux1 + 1; i < channels; i++ {
		frame[i] = betaflight.Low
	}
	return b.process.Sticks(frame)
}

// low are sticks with which a board arms.
var low = betaflight.Positions{betaflight.Middle, betaflight.Middle, betaflight.Low, betaflight.Middle}

// follow sets the sticks to a command. No thrust at all is that of a vehicle that is disarmed: an armed board would go
// on turning its motors. It arms by low sticks before it follows another one.
func (b *Board) follow(c quad.Command) error {
	switch {
	case c == quad.Command{}:
		return b.send(low, betaflight.Low)
	case b.process.motors[0] == 0:
		return b.send(low, betaflight.High)
	}
	p, _ := b.sticks.Of(c, 0)
	return b.send(p, betaflight.High)
}

// Step implements sim.Firmware.
func (b *Board) Step(c quad.Command, s quad.State, gyro, accel so3.Vec3, h float64) ([4]float64, error) {
	if now := b.process.Time(); b.Period > 0 && now >= b.due-h/2 {
		b.due = max(b.due, now) + b.Period
		if err := b.follow(c); err != nil {
			return [4]float64{}, err
		}
	}
	b.last = s
	motors, err := b.process.Step(s, gyro, accel, h)
	if b.Period == 0 && errors.Is(err, ErrEnded) {
		return [4]float64{}, b.start()
	}
	return motors, err
}

// Sticks sets the pulses of a receiver's channels, µs.
func (b *Board) Sticks(us [channels]uint16) error { return b.process.Sticks(us) }

// Dial connects to the board's first serial line, MSP and command line.
func (b *Board) Dial() (net.Conn, error) { return b.process.Dial() }

// Address is that of the board's first serial line, HOST:PORT.
func (b *Board) Address() string { return netip.AddrPortFrom(b.process.Address, SerialPort).String() }

// Close ends the firmware and removes its settings.
func (b *Board) Close() error {
	var err error
	if b.process != nil {
		err = b.process.Close()
	}
	return errors.Join(err, os.RemoveAll(b.settings))
}
