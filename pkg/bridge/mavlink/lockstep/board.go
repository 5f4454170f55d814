// Package lockstep has autopilots' firmware as processes of this machine, in lockstep with a simulation, that are flown
// over MAVLink.
package lockstep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Process is a firmware that runs. It is for one goroutine.
type Process interface {
	// Step lets h seconds pass with a state, gyroscope ω_B in rad/s and accelerometer f_B in m/s². It returns what the
	// firmware drives the motors at, 0 … 1: front right, rear left, front left, rear right.
	Step(s quad.State, gyro, accel so3.Vec3, h float64) ([4]float64, error)
	Close() error
}

// Autopilot is a kind of firmware, with its parameters.
type Autopilot interface {
	// Start starts it in place of one that ran. Where a second line is wanted, it listens at Address.
	Start(second bool) (Process, *mavlink.Link, error)
	Address() string // HOST:PORT
	// Arm asks it to arm, and to follow setpoints; Follows reports whether it does.
	Arm(*mavlink.Link) error
	Follows(*mavlink.Link) bool
	// Aim sends a setpoint.
	Aim(*mavlink.Link, *mavlink.SetAttitudeTarget) error
	Close() error
}

// Board is a firmware with parameters, armed and flown by what policy_controller sends to mavros. It implements the
// simulator's Firmware: each Reset starts the firmware anew.
type Board struct {
	// Period is the time between two setpoints, s. At 0 none is sent and it stays disarmed: who is at Address flies it.
	Period float64
	Link   *mavlink.Link

	autopilot Autopilot
	throttle  bridge.Throttle
	params    []mavlink.Parameter
	process   Process
	time      float64  // simulated, s since the start
	due       float64  // s, the next setpoint
	start     so3.Vec3 // where the firmware believes itself at home: it makes up for thin air of a height
	last      quad.State
	target    mavrosmsgs.AttitudeTarget
}

// New has an autopilot whose parameters are set.
func New(a Autopilot, t bridge.Throttle, params []mavlink.Parameter) (*Board, error) {
	if err := t.Check(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	const rate = 50 // Hz
	return &Board{Period: 1. / rate, autopilot: a, throttle: t, params: params}, nil
}

// begin starts the firmware in place of one that ran.
func (b *Board) begin() (err error) {
	if err := b.end(); err != nil {
		return err
	}
	b.time, b.due = 0, 0
	b.process, b.Link, err = b.autopilot.Start(b.Period == 0)
	return err
}

func (b *Board) end() error {
	if b.process == nil {
		return nil
	}
	err := errors.Join(b.process.Close(), b.Link.Close())
	b.process, b.Link = nil, nil
	return err
}

// rest lets time pass for a vehicle that rests, until something is so, or for at most that many seconds.
func (b *Board) rest(what string, seconds float64, until func() (bool, error)) error {
	const step = 0.001 // s
	for end := b.time + seconds; b.time < end; {
		if so, err := until(); so || err != nil {
			return err
		}
		if _, err := b.step(b.last, so3.Vec3{}, b.last.Q.Conj().Rotate(so3.Vec3{Z: quad.Gravity}),
			step); err != nil {
			return err
		}
	}
	return fmt.Errorf("the firmware does not %s within %g s; it said: %s", what, seconds,
		strings.Join(b.Link.Texts(), "; "))
}

// Reset implements sim.Firmware: it boots and arms, and has the motors follow the command.
func (b *Board) Reset(s quad.State, c quad.Command) error {
	b.last, b.start = s, s.P
	if err := b.begin(); err != nil {
		return err
	}
	const boots, settles = 60, 3 // s
	if err := b.rest("boot", boots, func() (bool, error) {
		_, there, _ := b.Link.State()
		return there, nil
	}); err != nil {
		return err
	}
	const setInterval, often = 511, 20000 // MAV_CMD_SET_MESSAGE_INTERVAL; µs between two heartbeats
	if err := b.Link.Order(setInterval, 0, often); err != nil {
		return err
	}
	if err := b.check(); err != nil || b.Period == 0 {
		return err
	}
	next := b.time
	if err := b.rest("arm", boots, func() (bool, error) {
		if b.time >= next {
			next++
			if err := b.autopilot.Arm(b.Link); err != nil {
				return false, err
			}
		}
		return b.autopilot.Follows(b.Link), b.follow(c)
	}); err != nil {
		return err
	}
	end := b.time + settles
	return b.rest("follow", settles+1, func() (bool, error) { return b.time >= end, b.follow(c) })
}

// check reads all parameters back.
func (b *Board) check() error {
	const longest = 20 // s
	for _, p := range b.params {
		next := b.time
		var is mavlink.Setting
		if err := b.rest("know parameter "+p.Name, longest, func() (known bool, err error) {
			if is, known = b.Link.Parameter(p.Name); !known && b.time >= next {
				next++
				err = b.Link.Ask(p.Name)
			}
			return known, err
		}); err != nil {
			return err
		}
		if is.Value != float64(float32(p.Value)) {
			return fmt.Errorf("parameter %s of the firmware is %g, expected %g", p.Name, is.Value, p.Value)
		}
	}
	return nil
}

// follow sends a command where one is due, by way of mavros' message.
func (b *Board) follow(c quad.Command) error {
	if b.Period == 0 || b.time < b.due-1e-6 {
		return nil
	}
	b.due = max(b.due+b.Period, b.time)
	bridge.PutAttitudeTarget(&b.target, 0, "", c, &b.throttle, 0)
	return b.autopilot.Aim(b.Link, Setpoint(&b.target))
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
	b.time += h
	s.P = s.P.Sub(b.start)
	return b.process.Step(s, gyro, accel, h)
}

// Address is that of the second line, HOST:PORT, where Period is 0.
func (b *Board) Address() string { return b.autopilot.Address() }

// Throttle is how the board's throttle becomes thrust.
func (b *Board) Throttle() bridge.Throttle { return b.throttle }

// Close ends the firmware and removes its files.
func (b *Board) Close() error { return errors.Join(b.end(), b.autopilot.Close()) }

// Last leaves of parameters of one name the last.
func Last(params []mavlink.Parameter) (last []mavlink.Parameter) {
	for i, p := range params {
		if !slices.ContainsFunc(params[i+1:], func(q mavlink.Parameter) bool { return q.Name == p.Name }) {
			last = append(last, p)
		}
	}
	return last
}
