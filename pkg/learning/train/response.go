package train

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
)

// Response is what lies between an action that a policy chooses and the one that the world's System takes, for one
// channel: a gain, a delay, and a second-order lag.
type Response struct {
	Gain      float64 // of deviations from the action that holds the robot
	Delay     float64 // steps, 0 … MaxDelay
	Frequency float64 // natural frequency, rad/s; 0: no lag
	Damping   float64 // ratio; below 1 it overshoots
}

// Lag is the mean time by which an action is followed late, s.
func (r *Response) Lag(dt float64) float64 {
	lag := r.Delay * dt
	if r.Frequency > 0 {
		lag += 2 * r.Damping / r.Frequency
	}
	return lag
}

// MaxDelay is the greatest delay of a Response, steps.
const MaxDelay = 7

// Damping returns the damping ratio of a second-order lag whose step response overshoots by a share, above 0.
func Damping(share float64) float64 {
	l := math.Log(share)
	return -l / math.Sqrt(math.Pi*math.Pi+l*l)
}

// Responding is another world behind responses, which each robot draws anew in each episode. A policy that is trained
// in it flies robots that answer otherwise than the world does.
type Responding[F kernel.Float] struct {
	World[F]
	Dt   float64
	Draw func(rng *rand.Rand, each []Response) // [A], over responses that change nothing
	// Shown is the number of what was drawn that a policy sees at the end of its observation; nil: it sees none.
	Shown func(each []Response) float64
}

func (w *Responding[F]) reduced() World[F] {
	r := *w
	r.World = w.World.reduced()
	return &r
}

func (w *Responding[F]) tile(maxB, maxH int) worldTile[F] {
	d := w.System().Dims()
	n := maxB * d.Action
	t := &respondingTile[F]{world: w, inner: w.World.tile(maxB, maxH), hold: hold(w.System()), A: d.Action,
		drawn: make([]Response, n), filters: make([]filter[F], n), state: make([]memory[F], n),
		back: make([]memory[F], n), da: make([]F, n), acts: make([]F, maxH*n)}
	return t
}

type respondingTile[F kernel.Float] struct {
	world   *Responding[F]
	inner   worldTile[F]
	steps   transitions[F]
	hold    []F // [A]
	A, B    int
	drawn   []Response  // [B][A]
	filters []filter[F] // [B][A]
	state   []memory[F] // [B][A] of the step to come
	back    []memory[F] // [B][A] its gradient
	acts    []F         // [H][B][A] that the world took
	da      []F         // [B][A]
	seen    []F         // [B][n] what is measured
}

// memory is a filter's between two steps, as deviations from the action that holds the robot.
type memory[F kernel.Float] struct {
	value, slope F
	before       [MaxDelay]F // inputs, the youngest first
}

// filter is a Response over steps of Δt, with the input held over each.
type filter[F kernel.Float] struct {
	whole int  // steps of the delay, without its fraction
	share [2]F // of the input of so many steps before, and of the one before that: gain and delay
	lag   bool
	a     [2][2]F // of the state (y, ẏ/ω)
	b     [2]F
}

func newFilter[F kernel.Float](r *Response, dt float64) filter[F] {
	whole := min(int(r.Delay), MaxDelay-1)
	elder := r.Delay - float64(whole)
	f := filter[F]{whole: whole, share: [2]F{F(r.Gain * (1 - elder)), F(r.Gain * elder)}, lag: r.Frequency > 0}
	if !f.lag {
		return f
	}
	w, z := r.Frequency, r.Damping
	e, even, odd := math.Exp(-z*w*dt), 1.0, w*dt // critically damped: limits of what follows
	switch {
	case z < 1:
		s := math.Sqrt(1 - z*z)
		even, odd = math.Cos(w*s*dt), math.Sin(w*s*dt)/s
	case z > 1:
		s := math.Sqrt(z*z - 1)
		even, odd = math.Cosh(w*s*dt), math.Sinh(w*s*dt)/s
	}
	f.a = [2][2]F{{F(e * (even + z*odd)), F(e * odd)}, {F(-e * odd), F(e * (even - z*odd))}}
	f.b = [2]F{1 - f.a[0][0], -f.a[1][0]}
	return f
}

// step answers an input held over Δt, and carries the memory on.
func (f *filter[F]) step(m *memory[F], u F) F {
	young := u
	if f.whole > 0 {
		young = m.before[f.whole-1]
	}
	y := f.share[0]*young + f.share[1]*m.before[f.whole]
	copy(m.before[1:], m.before[:])
	if m.before[0] = u; !f.lag {
		return y
	}
	m.value, m.slope = f.a[0][0]*m.value+f.a[0][1]*m.slope+f.b[0]*y,
		f.a[1][0]*m.value+f.a[1][1]*m.slope+f.b[1]*y
	return m.value
}

// stepVJP returns the gradient of the input from that of the output, and carries the memory's gradient back.
func (f *filter[F]) stepVJP(m *memory[F], dy F) F {
	if f.lag {
		m.value += dy
		dy = f.b[0]*m.value + f.b[1]*m.slope
		m.value, m.slope = f.a[0][0]*m.value+f.a[1][0]*m.slope, f.a[0][1]*m.value+f.a[1][1]*m.slope
	}
	du := m.before[0]
	copy(m.before[:], m.before[1:])
	m.before[MaxDelay-1] = 0
	m.before[f.whole] += f.share[1] * dy
	if f.whole == 0 {
		return f.share[0]*dy + du
	}
	m.before[f.whole-1] += f.share[0] * dy
	return du
}

func (t *respondingTile[F]) begin(B, H int, z latents[F], rng *rand.Rand) transitions[F] {
	t.B = B
	t.steps = t.inner.begin(B, H, z, rng)
	for b := range B {
		each := t.of(b)
		for j := range each {
			each[j] = Response{Gain: 1}
		}
		t.world.Draw(rng, each)
		for j := range each {
			t.filters[b*t.A+j] = newFilter[F](&each[j], t.world.Dt)
		}
	}
	clear(t.state)
	clear(t.back)
	return t
}

// measured implements disturbanceSource.
func (t *respondingTile[F]) measured(h int) []F {
	var inside []F
	if k, ok := t.inner.(disturbanceSource[F]); ok {
		inside = k.measured(h)
	}
	if t.world.Shown == nil {
		return inside
	}
	n := len(inside) / t.B
	t.seen = t.seen[:0]
	for b := range t.B {
		t.seen = append(append(t.seen, inside[b*n:][:n]...), F(t.world.Shown(t.of(b))))
	}
	return t.seen
}

// of are the responses of robot b, [A].
func (t *respondingTile[F]) of(b int) []Response { return t.drawn[b*t.A:][:t.A] }

// Step implements transitions.
func (t *respondingTile[F]) Step(h int, s, a, next []F) {
	n := t.B * t.A
	y := t.acts[h*n:][:n]
	for i := range n {
		j := i % t.A
		y[i] = t.hold[j] + t.filters[i].step(&t.state[i], a[i]-t.hold[j])
	}
	t.steps.Step(h, s, y, next)
}

// Backward implements transitions.
func (t *respondingTile[F]) Backward(h int, dnext, ds, da []F) {
	n := t.B * t.A
	dy := t.da[:n]
	clear(dy)
	t.steps.Backward(h, dnext, ds, dy)
	for i := range n {
		da[i] += t.filters[i].stepVJP(&t.back[i], dy[i])
	}
}
