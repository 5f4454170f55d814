// Package arm is a robot arm of seven joints, Franka Emika's Panda, as a robot.System: its rigid-body dynamics with
// exact gradients, and where its tool is.
//
// An action is a torque of each joint, N·m, beside what carries the arm's own weight: the Panda's own interface takes
// such torques and adds that weight, and so does ros2_control's effort interface of it. A velocity controller between
// policy and joints would hide a payload that the policy is to learn of, behind gains that no data sheet has.
//
// Shapes are those of package robot.
package arm

import (
	"encoding/json"
	"fmt"

	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
)

// Name of the kind of robot in bundles.
const Name = "panda"

// Reader reads arms from bundles.
var Reader = robot.Reader[Robot]{Name: Name, Read: read}

// Robot is what the System of an arm is built from. Payload, damping and friction are what is known of them.
type Robot struct {
	Dt       float64  `json:"-"`          // s
	Steps    int      `json:"steps"`      // of the integrator in Dt
	Payload  float64  `json:"payload"`    // kg, a point; most is MaxPayload
	At       so3.Vec3 `json:"payload_at"` // from the flange, m
	Damping  float64  `json:"damping"`    // of each joint, N·m·s/rad
	Friction float64  `json:"friction"`   // of each joint, of Coulomb, N·m
}

// MaxPayload is what a Panda may carry, kg: its data sheet.
const MaxPayload = 3

func read(dt float64, config json.RawMessage) (r Robot, err error) {
	if err = robot.Decode(config, &r); err == nil {
		r.Dt = dt
		err = r.Check()
	}
	if err != nil {
		return Robot{}, fmt.Errorf("configuration: %w", err)
	}
	return r, nil
}

// Check refuses, in words, what no arm can be.
func (r Robot) Check() error {
	const most = 100
	for _, x := range []struct {
		name           string
		value, min, to float64
	}{{"steps", float64(r.Steps), 1, most}, {"payload", r.Payload, 0, MaxPayload}, {"damping", r.Damping, 0, most},
		{"friction", r.Friction, 0, most}, {"distance of the payload", r.At.Norm(), 0, 1}} {
		if !(x.value >= x.min && x.value <= x.to) {
			return fmt.Errorf("%s is %g, expected %g to %g", x.name, x.value, x.min, x.to)
		}
	}
	return nil
}

// Chain is the arm with what is known of it.
func (r Robot) Chain() *Chain {
	c := Panda()
	c.Payload = Body{Mass: r.Payload, At: c.Tool.Add(r.At)}
	for i := range c.Links {
		c.Links[i].Damping, c.Links[i].Friction = r.Damping, r.Friction
	}
	return c
}

// Kind implements robot.Robot.
func (r Robot) Kind() string { return Name }

// Period implements robot.Robot.
func (r Robot) Period() float64 { return r.Dt }

// Config implements robot.Robot.
func (r Robot) Config() any { return r }

// System implements robot.Robot.
func (r Robot) System() robot.System[float32] { return New[float32](r) }
