package armsim

import (
	"fmt"
	"math"

	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/arm"
)

// Name of the node.
const Name = "arm_sim"

// Params of the node. Those of the hidden may change while it runs.
type Params struct {
	Hidden

	Joints []string  `param:"joints" default:"" read_only:"true" doc:"names of the joints, in the order in which commands have them; empty: panda_joint1 to panda_joint7"`
	Start  []float64 `param:"start" default:"" min:"-4" max:"4" unit:"rad" read_only:"true" doc:"angles at which the arm begins; empty: its ready pose"`

	Simulator string `param:"simulator" default:"" enum:",mujoco" read_only:"true" doc:"mujoco: the arm is in that simulator, which make simulators installs; empty: in ours"`

	Period  float64 `param:"period" default:"0.01" min:"0.001" max:"0.1" unit:"s" read_only:"true" doc:"time between two joint states, a whole number of ms"`
	Timeout float64 `param:"command_timeout" default:"0.1" min:"0.005" max:"10" unit:"s" read_only:"true" doc:"time without a command after which the brakes close"`

	Speed    float64 `param:"speed" default:"1.0" min:"0.01" max:"100" read_only:"true" doc:"simulated seconds per second; where it is not 1 time is published on /clock"`
	Lockstep bool    `param:"lockstep" default:"false" read_only:"true" doc:"as fast as possible: time is published on /clock and waits for each command, or up to lockstep_patience"`
	Paced    bool    `param:"lockstep_paced" default:"false" read_only:"true" doc:"in lockstep, time waits for commands and besides passes no faster than speed"`
	Every    float64 `param:"lockstep_period" default:"0.02" min:"0.001" max:"0.1" unit:"s" read_only:"true" doc:"time between two commands"`
	Patience float64 `param:"lockstep_patience" default:"0.2" min:"0.001" max:"60" unit:"s" read_only:"true" doc:"wall time for which simulated time waits for a command; then it goes on at speed until commands come again"`
}

// Hidden is what a controller is not told.
type Hidden struct {
	Payload  float64   `param:"payload" default:"0.0" min:"0" max:"3" unit:"kg" doc:"mass that hangs on the flange; a Panda carries at most 3 kg"`
	At       []float64 `param:"payload_at" default:"0.04,0,0.05" min:"-1" max:"1" unit:"m" doc:"its place from the flange: x, y, z"`
	Friction float64   `param:"friction" default:"0.5" min:"0" max:"5" unit:"N m" doc:"Coulomb friction of each joint"`
	Damping  float64   `param:"damping" default:"0.5" min:"0" max:"10" unit:"N m s/rad" doc:"damping of each joint"`
}

// truth is the arm as it is.
func (h *Hidden) truth() arm.Robot {
	return arm.Robot{Payload: h.Payload, At: so3.Vec3{X: h.At[0], Y: h.At[1], Z: h.At[2]}, Friction: h.Friction,
		Damping: h.Damping, Steps: 1}
}

func (p *Params) check() error {
	if n := len(p.At); n != 3 {
		return fmt.Errorf("parameter payload_at has %d numbers, expected x, y, z", n)
	}
	if err := p.truth().Check(); err != nil {
		return err
	}
	if ms := 1e3 * p.Period; math.Abs(ms-math.Round(ms)) > 1e-6 {
		return fmt.Errorf("parameter period is %g s, expected a whole number of ms", p.Period)
	}
	if n := len(p.Start); n != arm.Joints && n != 0 {
		return fmt.Errorf("parameter start has %d numbers, expected %d angles", n, arm.Joints)
	}
	for j, q := range p.Start {
		if l := arm.Panda().Links[j]; !(q >= l.Min && q <= l.Max) {
			return fmt.Errorf("parameter start has joint %d at %g rad, expected %g to %g", j+1, q, l.Min, l.Max)
		}
	}
	return p.joints().Check(arm.Joints)
}

func (p *Params) joints() bridge.Joints { return bridge.PandaJoints(p.Joints) }

func (p *Params) start() [arm.Joints]float64 {
	if len(p.Start) == 0 {
		return arm.Home
	}
	return [arm.Joints]float64(p.Start)
}

// simulated reports whether the node is what time follows.
func (p *Params) simulated() bool { return p.Lockstep || p.Speed != 1 }
