package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Response is how the guard believes that the airframe follows commands: a delay, then a first-order lag, and a drag.
type Response struct {
	ThrustDelay float64 `param:"thrust_delay" default:"0.01" min:"0" max:"0.2" unit:"s" doc:"before thrust begins to follow a command"`
	ThrustLag   float64 `param:"thrust_lag" default:"0.03" min:"0" max:"0.5" unit:"s" doc:"time constant with which thrust follows then"`
	RateDelay   float64 `param:"rate_delay" default:"0.01" min:"0" max:"0.2" unit:"s" doc:"before body rates begin to follow a command"`
	RateLag     float64 `param:"rate_lag" default:"0.04" min:"0" max:"0.5" unit:"s" doc:"time constant with which body rates follow then"`
	Drag        float64 `param:"drag" default:"0.25" min:"0" max:"5" unit:"1/s" doc:"deceleration for a speed"`
}

// motion is a robot under way.
type motion struct {
	at     float64 // s
	state  quad.State
	acting quad.Command // thrust and body rates that the lagged commands have brought about by then
}

// hoverCommand is what acts where nothing is known.
var hoverCommand = quad.Command{Thrust: quad.Gravity}

// plant is the guard's own model of the robot: delayed and lagged commands move a rigid body in a steady wind.
type plant struct {
	response Response
	bias     so3.Vec3                // rad/s by which it turns beside what is commanded
	sent     [remembered]sentCommand // ring
	newest   int
	n        int
}

type sentCommand struct {
	at float64 // s
	quad.Command
}

const (
	remembered  = 256  // commands: 0.6 s at 400 Hz
	substep     = 0.01 // s, of the integration
	maxSubsteps = 128
)

// send takes down what goes out.
func (p *plant) send(at float64, c quad.Command) {
	p.newest = (p.newest + 1) % remembered
	p.sent[p.newest] = sentCommand{at, c}
	p.n = min(p.n+1, remembered)
}

// heldAt is the command in force at a time.
func (p *plant) heldAt(t float64) quad.Command {
	for i := range p.n {
		if s := &p.sent[(p.newest-i+remembered)%remembered]; s.at <= t {
			return s.Command
		}
	}
	if p.n > 0 {
		return p.sent[(p.newest-p.n+1+remembered)%remembered].Command
	}
	return hoverCommand
}

// advance carries a motion on to a later time in a wind (m/s², world), and returns how it turned (rotation vector in
// the body, rad) and what the wind and thrust added to its velocity.
func (p *plant) advance(m *motion, to float64, wind so3.Vec3) (turned, gained so3.Vec3) {
	total := to - m.at
	if !(total > 0) {
		return turned, gained
	}
	r, n := &p.response, min(math.Ceil(total/substep), maxSubsteps)
	h := total / n
	for i := range int(n) {
		mid := m.at + (float64(i)+0.5)*h
		thrust, rates := p.heldAt(mid-r.ThrustDelay).Thrust, p.heldAt(mid-r.RateDelay).Rates
		m.follow(quad.Command{Thrust: thrust, Rates: rates.Add(p.bias)}, h, r)
		turned = turned.Add(m.acting.Rates.Scale(h))
		gained = gained.Add(m.move(h, r.Drag, wind))
	}
	m.at = to
	return turned, gained
}

// follow lets what acts approach a command for h seconds.
func (m *motion) follow(c quad.Command, h float64, r *Response) {
	a := &m.acting
	a.Thrust += (c.Thrust - a.Thrust) * share(h, r.ThrustLag)
	a.Rates = a.Rates.Add(c.Rates.Sub(a.Rates).Scale(share(h, r.RateLag)))
}

// share is how much of the way to a command a lag takes in h seconds.
func share(h, lag float64) float64 {
	if lag <= 0 {
		return 1
	}
	return 1 - math.Exp(-h/lag)
}

// move moves the body for h seconds under what acts, and returns what its velocity gained.
func (m *motion) move(h, drag float64, wind so3.Vec3) so3.Vec3 {
	s := &m.state
	middle := s.Q.Mul(so3.Exp(m.acting.Rates.Scale(h / 2)))
	a := middle.ZAxis().Scale(m.acting.Thrust).Add(wind).Sub(so3.Vec3{Z: quad.Gravity}).Sub(s.V.Scale(drag))
	gained := a.Scale(h)
	s.P = s.P.Add(s.V.Scale(h)).Add(gained.Scale(h / 2))
	s.V = s.V.Add(gained)
	s.Q = s.Q.Mul(so3.Exp(m.acting.Rates.Scale(h))).Normalize()
	return gained
}
