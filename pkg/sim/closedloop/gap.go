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
	motion   guard.Predictor
	law      *guard.Law
	maxAge   float64                // s
	flying   func(*quad.State) bool // not on the floor
	lateness guard.Lateness

	wind  so3.Vec3 // lasting acceleration beyond thrust and gravity, m/s²
	last  quad.State
	stamp float64 // of the last, s
}

// newGap returns that of a guard, nil for the default one.
func newGap(l quad.Limits, c *guard.Config) (*gap, error) {
	if c == nil {
		c = new(guard.Config)
		param.Default(c)
	}
	law, err := guard.NewLaw(c.Gains, l)
	return &gap{motion: guard.NewPredictor(c), law: law, maxAge: c.MaxAge, flying: c.Flying}, err
}

// ahead returns the state of stamp as of a tick, with its time, and whether a policy may fly by it.
func (g *gap) ahead(now, stamp float64, s *quad.State) (t float64, state quad.State, usable bool) {
	if g == nil {
		return stamp, *s, true
	}
	g.observe(stamp, s)
	late := g.lateness.Of(now - stamp)
	if late == 0 {
		return stamp, *s, true
	}
	if usable = late < g.maxAge; usable {
		g.law.Reset()
	}
	return stamp + late, g.motion.Ahead(s, stamp, stamp+late), usable
}

// observe learns the wind, which states are carried on in, from what a new one is off.
func (g *gap) observe(stamp float64, s *quad.State) {
	if g.stamp > 0 && stamp > g.stamp {
		expected := g.motion.Ahead(&g.last, g.stamp, stamp)
		g.wind = g.wind.Add(s.V.Sub(expected.V).Scale(1 / guard.WindMemory)).Shorten(quad.Gravity)
	}
	g.last, g.stamp = *s, stamp
}

// hold is the law's command at a state, towards a reference.
func (g *gap) hold(t float64, s *quad.State, r quad.Reference) quad.Command {
	r.A = r.A.Sub(g.wind)
	return g.law.Track(t, s, &r)
}

// sent takes down a command that went out at a time.
func (g *gap) sent(at float64, c quad.Command) {
	if g != nil {
		g.motion.Send(at, c, g.wind)
	}
}
