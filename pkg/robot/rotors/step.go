package rotors

const gravity = 9.81

// Units of outputs, so that every parameter is of order 1.
const (
	unitForce  = 3.  // m/s²
	unitTorque = 10. // rad/s²
	unitRate   = .1  // rad/s, of offsets in the kinematics
	unitSpeed  = .05 // m/s, the same
	unitRise   = 20. // 1 over the change of a rotor's speed in a step, in units of the typical one
)

// risePattern is the place of the yaw pattern of rotor accelerations among the features.
const risePattern = 8

// body is the measured state and what follows from it.
type body struct {
	p, v, w  vec // p_W, v_W, w_B
	q        quat
	r        matrix // R_WB
	features []reg  // rates, velocity and gravity in the body, scaled
	speed    []reg  // v_B, scaled
	missed   []reg  // truth ⊖ prediction, scaled; none without hidden states
}

// propulsion is what the rotors do in a step.
type propulsion struct {
	next, slow []reg  // states of the rotors after the step
	thrust     reg    // mean of the squared speeds
	torque     [3]reg // roll, pitch and yaw patterns of the squared speeds
	features   []reg  // both, rotor acceleration and slow rotors
}

// step writes the transition of one Δt and returns the next state.
func (b *builder) step(c *Config, in *inputs) []reg {
	b.one = b.Shift(1, b.Scale(0, in.keep))
	state := in.state[Measured:]
	rotors, torque := state[:sizeRotors], state[sizeRotors:][:sizeTorque]
	slow, rest := state[sizeRotors+sizeTorque:][:sizeSlow], state[sizeRotors+sizeTorque+sizeSlow:]

	s := b.measured(c, in)
	u := b.rotors(b.targets(c, in), rotors, slow, in.first)
	features := append(append([]reg{b.one}, u.features...), s.features...)
	latent, predicted := b.latent(in, s, features, rest[:c.Latent])
	filters, observed := rest[c.Latent:], []reg(nil)
	if len(filters) > 0 {
		observed = b.observe(s.missed, filters)
	}
	linear, turning := split(observed)
	all := append(append(append([]reg{}, features...), b.aerodynamics(s, u.thrust)...), latent...)

	var force, angular vec
	var lagged []reg
	b.index.torqueLag = len(b.theta)
	lag := b.share(0)
	for i := range 3 {
		first := map[int]float64(nil)
		if i == 2 {
			first = map[int]float64{1: gravity / unitForce} // the mean of squared speeds carries the weight
		}
		b.forced(len(b.theta), len(all))
		b.index.thrust = len(b.theta) + 1 // of z, the last
		own := 1 + len(u.features)
		b.fed(len(b.theta)+own, len(all)+len(linear)-own)
		force[i] = b.Scale(unitForce, b.linear(first, append(all[:len(all):len(all)], linear...)))
		b.observed(len(linear))
		b.index.torque[i] = len(b.theta) + i
		command := b.linear(map[int]float64{i: []float64{5, 5, 1}[i]}, u.torque[:])
		before := b.Add(torque[i], b.Mul(in.first, command))
		after := b.Add(before, b.Mul(lag, b.Sub(command, before)))
		lagged = append(lagged, after)
		b.index.rise = len(b.theta) + risePattern
		b.fed(len(b.theta)+own, len(all)+len(turning)-own)
		angular[i] = b.Scale(unitTorque, b.Add(after, b.linear(nil, append(all[:len(all):len(all)], turning...))))
		b.observed(len(turning))
	}
	next := b.integrate(c.Period, s, force, angular,
		b.offsets(s, lagged, force, latent, linear, turning))
	for _, part := range [][]reg{u.next, lagged, u.slow, predicted, observed} {
		next = append(next, part...)
	}
	return next
}

// measured reads the measured state, or the truth where it is kept.
func (b *builder) measured(c *Config, in *inputs) *body {
	var miss, x [Measured]reg
	for i := range x {
		miss[i] = b.Sub(in.truth[i], in.state[i])
		x[i] = b.Add(in.state[i], b.Mul(in.keep, miss[i]))
	}
	s := &body{p: vec(x[atP:atQ]), v: vec(x[atV:atW]), w: vec(x[atW:]), q: quat(x[atQ:atV])}
	s.r = b.rotation(s.q)
	v := b.times(.7, b.turnBack(s.r, s.v))
	up := s.r[2] // world z in the body
	s.speed = v[:]
	s.features = append([]reg{b.Scale(.3, s.w[0]), b.Scale(.3, s.w[1]), s.w[2]}, v[:]...)
	s.features = append(s.features, b.Scale(3, up[0]), b.Scale(3, up[1]), b.Shift(-10, b.Scale(10, up[2])))
	if c.Observed == 0 {
		return s
	}
	back := quat{in.state[3], b.Scale(-1, in.state[4]), b.Scale(-1, in.state[5]), b.Scale(-1, in.state[6])}
	turned := b.product(back, quat(in.truth[atQ:atV]))
	add := func(unit float64, x vec) {
		for _, r := range x {
			s.missed = append(s.missed, b.Mul(in.keep, b.Scale(unit, r)))
		}
	}
	add(500, b.turnBack(s.r, vec(miss[atP:atQ])))
	add(50, b.turnBack(s.r, vec(miss[atV:atW])))
	add(500, vec(turned[1:]))
	add(20, vec(miss[atW:]))
	return s
}

// targets are the speeds that the rotors go to, in units of a typical one.
func (b *builder) targets(c *Config, in *inputs) (target [4]reg) {
	if c.Input == Speeds {
		for i, m := range in.motors {
			target[i] = b.Scale(1/c.Motor, m)
		}
		return target
	}
	volts := b.Scale(1/c.Volts, in.volts)
	first := len(b.theta)
	b.theta = append(b.theta, 0, 1, 0, 0)
	for i, m := range in.motors {
		u := b.Scale(1/c.Motor, m)
		target[i] = b.Dot(first, b.one, b.Mul(u, volts), u, volts)
	}
	return target
}

// Signs of the motors in the sum of what they give, and in its roll, pitch and yaw parts: by places and directions.
var Signs = [4][4]float64{{1, 1, 1, 1}, {-1, -1, 1, 1}, {-1, 1, 1, -1}, {-1, 1, -1, 1}}

// patterns are the sum of x and its roll, pitch and yaw parts.
func (b *builder) patterns(x []reg) (p []reg) {
	for _, s := range Signs {
		p = append(p, b.sum(b.Scale(s[0], x[0]), b.Scale(s[1], x[1]), b.Scale(s[2], x[2]), b.Scale(s[3], x[3])))
	}
	return p
}

// rotors takes the rotors one step on: a lag, a lead of what acts in the step, and a second lag.
func (b *builder) rotors(target [4]reg, speeds, slow []reg, first reg) (u propulsion) {
	b.index.lag = len(b.theta)
	lag, slowLag := b.share(.5), b.share(-1.9)
	lead := len(b.theta)
	b.index.lead = lead
	b.theta = append(b.theta, 1)
	var squares, rise, slower []reg
	for i := range 4 {
		before := b.Add(speeds[i], b.Mul(first, target[i]))
		change := b.Mul(lag, b.Sub(target[i], before))
		acting := b.Add(before, b.Dot(lead, change))
		was := b.Add(slow[i], b.Mul(first, target[i]))
		u.next = append(u.next, b.Add(before, change))
		u.slow = append(u.slow, b.Add(was, b.Mul(slowLag, b.Sub(acting, was))))
		squares = append(squares, b.Mul(acting, acting))
		rise = append(rise, b.Scale(unitRise, change))
		slower = append(slower, b.Sub(u.slow[i], acting))
	}
	p := b.patterns(squares)
	u.thrust = b.Scale(.25, p[0])
	u.torque = [3]reg(p[1:])
	u.features = append(append([]reg{u.thrust}, p[1:]...), b.patterns(rise)...)
	u.features = append(u.features, b.patterns(slower)...)
	return u
}

// aerodynamics are the products that drag is made of: |v| v_B and thrust times v_B.
func (b *builder) aerodynamics(s *body, thrust reg) (x []reg) {
	v := vec(s.speed)
	norm := b.Sqrt(b.Shift(1e-4, b.dot(v, v)))
	for _, factor := range []reg{norm, thrust} {
		for _, r := range v {
			x = append(x, b.Mul(factor, r))
		}
	}
	return x
}

// offsets are what is added to velocity (body frame) and rates in the kinematics: filters of the recording let
// neither be the exact derivative.
func (b *builder) offsets(s *body, torque []reg, force vec, latent, linear, turning []reg) (o [2]vec) {
	x := append(append(append([]reg{}, s.features[:3]...), torque...), force[:]...)
	x = append(append(x, latent...), turning...)
	for i := range 3 {
		o[0][i] = b.Scale(0, b.one)
		if len(linear) > 0 {
			b.fed(len(b.theta), len(linear))
			o[0][i] = b.Scale(unitSpeed, b.linear(nil, linear))
			b.observed(len(linear))
		}
		b.fed(len(b.theta), len(x))
		o[1][i] = b.Scale(unitRate, b.linear(nil, x))
		b.observed(len(turning))
	}
	return o
}

// integrate returns the measured state after dt: midpoint rule, attitude on SO(3).
func (b *builder) integrate(dt float64, s *body, force, angular vec, offsets [2]vec) []reg {
	rate := b.plus(b.plus(s.w, offsets[1]), b.times(dt/2, angular))
	middle := b.rotation(b.product(s.q, b.exp(b.times(dt/4, rate))))
	q := b.product(s.q, b.exp(b.times(dt/2, rate)))
	a := b.turn(middle, force)
	a[2] = b.Shift(-gravity, a[2])
	speed := b.plus(b.plus(s.v, b.times(dt/2, a)), b.turn(middle, offsets[0]))
	p, v, w := b.plus(s.p, b.times(dt, speed)), b.plus(s.v, b.times(dt, a)), b.plus(s.w, b.times(dt, angular))
	var next []reg
	for _, part := range [][]reg{p[:], q[:], v[:], w[:]} {
		next = append(next, part...)
	}
	return next
}

// memory are the time constants of hidden states, rows.
var memory = [3]float64{6, 20, 60}

// observe takes the filters of what was missed one step on. Each forgets at a rate of its own.
func (b *builder) observe(missed, filters []reg) (next []reg) {
	for i, z := range filters {
		forget := 1 / memory[i/len(missed)%len(memory)]
		next = append(next, b.Add(b.param(1-forget, z), b.Scale(forget, missed[i%len(missed)])))
		b.observed(1)
	}
	return next
}

// split returns the filters of missed positions and velocities, and those of attitudes and rates.
func split(observed []reg) (linear, turning []reg) {
	for i, z := range observed {
		if i%12 < 6 {
			linear = append(linear, z)
		} else {
			turning = append(turning, z)
		}
	}
	return linear, turning
}

// latent takes the hidden states one step on: each forgets, and adds a linear function of the features. It returns
// them before, where they begin as such a function, and after the step.
func (b *builder) latent(in *inputs, s *body, features, hidden []reg) (now, next []reg) {
	for i, z := range hidden {
		forget := 1 / memory[i%len(memory)]
		now = append(now, b.Add(z, b.Mul(in.first, b.linear(nil, s.features))))
		begin := map[int]float64{10 + i/len(memory)%9: 3 * forget} // something for the gradient to begin from
		next = append(next, b.Add(b.param(1-forget, now[i]), b.Scale(.1, b.linear(begin, features))))
	}
	return now, next
}
