package cli

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/node/betaflightbridge"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/doctor"
)

// thrust is how throttle becomes thrust where the controller's parameters have its commands go; nil without a throttle.
func (x *examination) thrust(p *controller.File) (*betaflight.Thrust, error) {
	if p.Hover == 0 {
		return nil, nil
	}
	t := &betaflight.Thrust{Throttle: p.Throttle}
	if p.CommandInterface != bridge.Betaflight {
		return t, nil
	}
	var board betaflightbridge.Params
	param.Default(&board)
	if x.Params != "" {
		err := param.Load(x.Params, x.Namespace+"/"+betaflightbridge.Name, &board)
		if err != nil && !errors.Is(err, param.ErrNoBlock) {
			return nil, err
		}
	}
	t.Idle = board.Idle
	return t, nil
}

// curved judges the thrust curve that commands went by, as the thrust of a hover shows it. It returns the throttle to
// go by where that is another, which is no fault where it is kept.
func curved(thrust *preflight.FirstOrder, t *betaflight.Thrust, kept bool) (doctor.Check, *bridge.Throttle) {
	found := t.Scaled(thrust.Gain.Value)
	c, known := preflight.Curve(thrust.Slope, t.Curve, t.Output(found.Hover))
	if !known {
		detail := fmt.Sprintf("thrust grows %.2f ± %.2f times as commanded, as by no curve", thrust.Slope.Value,
			thrust.Slope.Margin)
		return check("thrust curve", doctor.Wrong, detail, "hover again, with more of up and down"), nil
	}
	detail := fmt.Sprintf("%.2f ± %.2f, and commands went by %.2f", c.Value, c.Margin, t.Curve)
	const near = 0.2 // thrust about a hover then grows as commanded within 15 %
	if math.Abs(c.Value-t.Curve) <= max(near, c.Margin) {
		return check("thrust curve", doctor.OK, detail, ""), nil
	}
	found.Curve = c.Value
	say := fmt.Sprintf("thrust_curve %.2f, hover_throttle %.3f", found.Curve, found.Hover)
	if found.Least > 0 {
		say += fmt.Sprintf(", least_thrust %.3f", found.Least)
	}
	if kept {
		return check("thrust curve", doctor.OK, detail+": the airframe file now has "+say, ""), &found.Throttle
	}
	return check("thrust curve", doctor.Wrong, detail, "set "+say), &found.Throttle
}
