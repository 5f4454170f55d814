package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Response is how the guard believes that the airframe follows commands: a delay, then a first-order lag, and a drag.
type Response struct {
	ThrustDelay float64 `param:"thrust_delay" default:"0.01" min:"0" max:"0.2" unit:"s" doc:"time before thrust begins to follow a command"`
	ThrustLag   float64 `param:"thrust_lag" default:"0.03" min:"0" max:"0.5" unit:"s" doc:"time constant with which thrust follows a command, after its delay"`
	RateDelay   float64 `param:"rate_delay" default:"0.025" min:"0" max:"0.2" unit:"s" doc:"time before body rates begin to follow a command"`
	RateLag     float64 `param:"rate_lag" default:"0.025" min:"0" max:"0.5" unit:"s" doc:"time constant with which body rates follow a command, after their delay"`
	Drag        float64 `param:"drag" default:"0.25" min:"0" max:"5" unit:"1/s" doc:"deceleration for a speed across the rotors' axes"`
	AxialDrag   float64 `param:"axial_drag" default:"0.15" min:"0" max:"5" unit:"1/s" doc:"deceleration for a speed along the rotors' axes"`
}

// LongestDelay and LongestLag are those of a Response, s.
const (
	LongestDelay = 0.2
	LongestLag   = 0.5
)

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
	lead     float64                 // s by which it turns sooner than the response says
	sent     [remembered]sentCommand // ring
	newest   int
	n        int

	lost     bool    // what was sent from lostFrom on has not reached the robot
	lostFrom float64 // s
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

// shift has what went out follow a clock that was set by so many seconds, and reads now. What went out since is of that
// clock already.
func (p *plant) shift(by, now float64) {
	for i := range p.sent {
		p.sent[i].at = min(p.sent[i].at+by, now)
	}
}

// held is the mean of the commands in force between two times: what they do depends on how long each is.
func (p *plant) held(from, to float64) (mean quad.Command) {
	span, end := to-from, to
	for i := 0; i < p.n && end > from; i++ {
		s := &p.sent[(p.newest-i+remembered)%remembered]
		if s.at >= end || p.lost && s.at >= p.lostFrom {
			continue
		}
		begin := max(s.at, from)
		mean, end = plus(mean, s.Command, (end-begin)/span), begin
	}
	if end <= from {
		return mean
	}
	before := hoverCommand
	if p.n > 0 {
		before = p.sent[(p.newest-p.n+1+remembered)%remembered].Command
	}
	return plus(mean, before, (end-from)/span)
}

// plus adds a share of a command to another.
func plus(a, b quad.Command, share float64) quad.Command {
	return quad.Command{Thrust: a.Thrust + share*b.Thrust, Rates: a.Rates.Add(b.Rates.Scale(share))}
}

// moved is what a motion did in some time.
type moved struct {
	turned so3.Vec3 // rotation vector in the body, rad
	gained so3.Vec3 // velocity that the wind and thrust added, m/s
	swung  float64  // half the sum of squares of what body rates changed by, rad²/s²
}

// advance carries a motion on to a later time in a wind (m/s², world).
func (p *plant) advance(m *motion, until float64, wind so3.Vec3) moved {
	r := p.learned()
	return p.carry(m, until, wind, &r)
}

// learned is the response with what turns showed of it.
func (p *plant) learned() Response {
	r := p.response
	r.turnSooner(p.lead)
	return r
}

// acts is what the commands sent have brought about by a time.
func (p *plant) acts(at float64) quad.Command {
	r := p.learned()
	return p.acting(at, &r)
}

// acting is that for a response.
func (p *plant) acting(at float64, r *Response) quad.Command {
	m := longBefore(at)
	n, h := substeps(at - m.at)
	step := r.step(h)
	for i := range n {
		m.act(p.inForce(m.at+float64(i)*h, m.at+float64(i+1)*h, r), &step)
	}
	return m.acting
}

// longBefore is a motion so long before a time, s, that by then it does not matter what acted.
func longBefore(at float64) motion {
	return motion{at: at - forgotten, state: quad.State{Q: so3.Identity()}, acting: hoverCommand}
}

// forgotten is the time after which it does not matter what acted before, s.
const forgotten = 0.2

// ahead carries a measured state on from one time to a later one in a wind (m/s², world).
func (p *plant) ahead(s *quad.State, from, to float64, wind so3.Vec3) quad.State {
	m := motion{from, *s, p.acts(from)}
	p.advance(&m, to, wind)
	return m.state
}

// moves is how what was sent moves a state from one time to a later one in still air: mean body rates, rad/s, and mean
// specific force in the body, m/s².
func (p *plant) moves(s *quad.State, from, to float64) (rates, force so3.Vec3) {
	m := motion{from, *s, p.acts(from)}
	did := p.advance(&m, to, so3.Vec3{})
	dt := to - from
	up := did.gained.Scale(1 / dt).Add(so3.Vec3{Z: quad.Gravity})
	return did.turned.Scale(1 / dt), s.Q.Mul(so3.Exp(did.turned.Scale(0.5))).Conj().Rotate(up)
}

// turning is how the commands sent turn the body from one time to a later one, as the response has it that was written
// down: mean body rates, rad/s.
func (p *plant) turning(from, to float64) so3.Vec3 {
	m := motion{from, quad.State{Q: so3.Identity()}, p.acting(from, &p.response)}
	return p.commanded(&m, to).turned.Scale(1 / (to - from))
}

// commanded carries a motion on as the response has it that was written down: what is learned would hide faults.
func (p *plant) commanded(m *motion, until float64) moved {
	return p.carry(m, until, so3.Vec3{}, &p.response)
}

func (p *plant) carry(m *motion, until float64, wind so3.Vec3, r *Response) (sum moved) {
	n, h := substeps(until - m.at)
	step := r.step(h)
	for i := range n {
		did := m.follow(p.inForce(m.at+float64(i)*h, m.at+float64(i+1)*h, r), &step, wind)
		sum.turned, sum.gained = sum.turned.Add(did.turned), sum.gained.Add(did.gained)
		sum.swung += did.swung
	}
	if n > 0 {
		m.at = until
	}
	return sum
}

// substeps is how many steps of the integration a time takes, s, and how long each is.
func substeps(total float64) (n int, h float64) {
	if !(total > 0) {
		return 0, 0
	}
	steps := min(math.Ceil(total/substep), maxSubsteps)
	return int(steps), total / steps
}

// inForce is the mean of the commands that act between two times.
func (p *plant) inForce(from, to float64, r *Response) quad.Command {
	c := p.held(from-r.RateDelay, to-r.RateDelay)
	if r.ThrustDelay != r.RateDelay {
		c.Thrust = p.held(from-r.ThrustDelay, to-r.ThrustDelay).Thrust
	}
	c.Rates = c.Rates.Add(p.bias)
	return c
}

// step is one of the integration: its length, s, and what lags leave in it.
type step struct {
	h               float64
	drag, axialDrag float64
	rates, thrust   lagged
	squared         lagged // of the thrust's error, squared
}

func (r *Response) step(h float64) step {
	return step{h, r.Drag, r.AxialDrag, lag(h, r.RateLag), lag(h, r.ThrustLag), lag(h, r.ThrustLag/2)}
}

// follow moves a motion on for a step under a command, in a wind (m/s², world).
func (m *motion) follow(c quad.Command, s *step, wind so3.Vec3) moved {
	did, thrust := m.act(c, s)
	did.gained = m.move(thrust, did.turned, s, wind)
	return did
}

// act lets what acts approach a command for a step, and returns how the body turns, and the mean thrust.
func (m *motion) act(c quad.Command, s *step) (did moved, thrust float64) {
	off := m.acting.Rates.Sub(c.Rates)
	m.acting.Rates = c.Rates.Add(off.Scale(s.rates.left))
	did.turned = c.Rates.Add(off.Scale(s.rates.mean)).Scale(s.h)
	did.swung = off.Dot(off) * (1 - s.rates.left*s.rates.left) / 2
	return did, m.lift(c.Thrust, s)
}

// lift lets the thrust approach a commanded one for a step, and returns its mean until then. It is the rotors' speed
// that lags, whose square the thrust is: one that goes up and down pulls less in the mean than is commanded.
func (m *motion) lift(command float64, s *step) (mean float64) {
	speed := math.Sqrt(max(command, 0))
	off := math.Sqrt(max(m.acting.Thrust, 0)) - speed
	now := speed + off*s.thrust.left
	m.acting.Thrust = now * now
	return speed*speed + 2*speed*off*s.thrust.mean + off*off*s.squared.mean
}

// lagged is what a lag of first order leaves of an error: after some time, and in the mean until then.
type lagged struct{ left, mean float64 }

func lag(h, constant float64) lagged {
	switch {
	case h <= 0:
		return lagged{1, 1}
	case constant <= 0:
		return lagged{}
	}
	left := math.Exp(-h / constant)
	return lagged{left, (1 - left) * constant / h}
}

// share is how much of the way to a command a lag takes in h seconds.
func share(h, lag float64) float64 {
	if lag <= 0 {
		return 1
	}
	return 1 - math.Exp(-h/lag)
}

// move moves the body for a step under a thrust while it turns, and returns what its velocity gained.
func (m *motion) move(thrust float64, turned so3.Vec3, by *step, wind so3.Vec3) so3.Vec3 {
	s, h := &m.state, by.h
	up := s.Q.Mul(so3.Exp(turned.Scale(0.5))).ZAxis()
	resisted := s.V.Scale(by.drag).Add(up.Scale((by.axialDrag - by.drag) * s.V.Dot(up)))
	a := up.Scale(thrust).Add(wind).Sub(so3.Vec3{Z: quad.Gravity}).Sub(resisted)
	gained := a.Scale(h)
	s.P = s.P.Add(s.V.Scale(h)).Add(gained.Scale(h / 2))
	s.V = s.V.Add(gained)
	s.Q = s.Q.Mul(so3.Exp(turned)).Normalize()
	return gained
}
