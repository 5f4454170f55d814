package pusher

import (
	"encoding/json"
	"fmt"

	"vnd/pkg/robot"
)

// Name of the kind of robot in bundles.
const Name = "pusher"

// Reader reads pushers from bundles.
var Reader = robot.Reader[Robot]{Name: Name, Read: read}

// Robot is what the System of a pusher is built from: what is known of the box.
type Robot struct {
	Dt       float64 `json:"-"`        // s
	Mass     float64 `json:"mass"`     // of the box, kg
	Friction float64 `json:"friction"` // of the box on the table, Coulomb's coefficient
	// Edge is the width over which contact begins, m; 0 is half a millimetre. A wider one pushes from afar, so that
	// gradients tell of it.
	Edge float64 `json:"-"`
}

// Force is what it takes to push the box, N.
func (r Robot) Force() float64 { return r.Mass * r.Friction * gravity }

func read(dt float64, config json.RawMessage) (r Robot, err error) {
	err = robot.Decode(config, &r)
	if err == nil && !(r.Mass > 0 && r.Mass <= 100 && r.Friction > 0 && r.Friction <= 10) {
		err = fmt.Errorf("mass %g, friction %g: expected more than 0, at most 100 kg and 10", r.Mass, r.Friction)
	}
	if err != nil {
		return Robot{}, fmt.Errorf("configuration: %w", err)
	}
	r.Dt = dt
	return r, nil
}

// Kind implements robot.Robot.
func (r Robot) Kind() string { return Name }

// Period implements robot.Robot.
func (r Robot) Period() float64 { return r.Dt }

// Config implements robot.Robot.
func (r Robot) Config() any { return r }

// System implements robot.Robot.
func (r Robot) System() robot.System[float32] { return New[float32](r) }
