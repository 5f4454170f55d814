package pushsim

import (
	"fmt"

	"vnd/pkg/robot/pusher"
	"vnd/pkg/sim/pushing"
)

// Name of the node.
const Name = "push_sim"

// Params of the node. Those of the hidden may change while it runs.
type Params struct {
	Hidden

	Frame string    `param:"frame" default:"table" read_only:"true" doc:"frame of all poses, z up"`
	Box   []float64 `param:"box" default:"0,0,0" min:"-3.2" max:"3.2" read_only:"true" doc:"where the box begins: x, y, m, and heading, rad"`
	Tool  []float64 `param:"tool" default:"-0.15,0" min:"-1" max:"1" unit:"m" read_only:"true" doc:"where the tool begins: x, y"`

	Timeout  float64 `param:"command_timeout" default:"0.1" min:"0.02" max:"10" unit:"s" read_only:"true" doc:"time without a command after which the tool stands"`
	Speed    float64 `param:"speed" default:"1.0" min:"0.01" max:"100" read_only:"true" doc:"simulated seconds per second; where it is not 1 time is published on /clock"`
	Lockstep bool    `param:"lockstep" default:"false" read_only:"true" doc:"time is published on /clock and waits for each command while commands come, or up to lockstep_patience"`
	Paced    bool    `param:"lockstep_paced" default:"false" read_only:"true" doc:"in lockstep, time waits for commands and besides passes no faster than speed"`
	Patience float64 `param:"lockstep_patience" default:"0.2" min:"0.001" max:"60" unit:"s" read_only:"true" doc:"wall time for which simulated time waits for a command; then it goes on at speed until commands come again"`
}

// Hidden is what a controller is not told. A change begins from a standstill.
type Hidden struct {
	Mass     float64   `param:"mass" default:"0.8" min:"0.2" max:"2" unit:"kg" doc:"of the box"`
	Friction float64   `param:"friction" default:"0.5" min:"0.2" max:"1.2" doc:"of the box on the table, Coulomb's coefficient"`
	Centre   []float64 `param:"centre" default:"0,0" min:"-0.02" max:"0.02" unit:"m" doc:"centre of mass from the middle of the box: x, y"`
	Tilt     []float64 `param:"tilt" default:"0,0" min:"-0.03" max:"0.03" unit:"rad" doc:"of the table: rise along x and y"`
}

func (h *Hidden) condition() pushing.Condition {
	return pushing.Condition{Mass: h.Mass, Friction: h.Friction, Centre: [2]float64(h.Centre), Tilt: [2]float64(h.Tilt)}
}

func (p *Params) check() error {
	for _, x := range []struct {
		name   string
		has    []float64
		wanted int
	}{{"centre", p.Centre, 2}, {"tilt", p.Tilt, 2}, {"box", p.Box, 3}, {"tool", p.Tool, 2}} {
		if len(x.has) != x.wanted {
			return fmt.Errorf("parameter %s has %d numbers, expected %d", x.name, len(x.has), x.wanted)
		}
	}
	return nil
}

func (p *Params) start() pusher.State {
	return pusher.State{Box: [3]float64(p.Box), Tool: [2]float64(p.Tool)}
}

// simulated reports whether the node is what time follows.
func (p *Params) simulated() bool { return p.Lockstep || p.Speed != 1 }
