package closedloop

import (
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// gap flies on while no state comes, as policy_controller does: a policy gets the last one, carried on by what was
// commanded. Beyond guard.max_age the guard's law flies by it. One that is nil leaves all to the controller.
type gap struct {
	motion guard.Predictor
	law    *guard.Law
	maxAge float64 // s
	usual  float64 // age of a state at its tick, s; 0: none came yet
}

func newGap(l quad.Limits) (*gap, error) {
	var c guard.Config
	param.Default(&c)
	law, err := guard.NewLaw(c.Gains, l)
	return &gap{motion: guard.NewPredictor(&c), law: law, maxAge: c.MaxAge}, err
}

// ahead returns the state of stamp as of a tick, with its time, and whether a policy may fly by it.
func (g *gap) ahead(now, stamp float64, s *quad.State) (t float64, state quad.State, usable bool) {
	if g == nil {
		return stamp, *s, true
	}
	const excess, forgetting = 0.012, 0.005 // s beyond the usual age from which a state is late; share of an age
	if g.usual == 0 {
		g.usual = now - stamp
	}
	late := now - stamp - g.usual
	if late <= excess {
		g.usual += forgetting * late
		return stamp, *s, true
	}
	return stamp + late, g.motion.Ahead(s, stamp, stamp+late), late < g.maxAge
}

// sent takes down a command that went out at a time.
func (g *gap) sent(at float64, c quad.Command) {
	if g != nil {
		g.motion.Send(at, c, so3.Vec3{})
	}
}
