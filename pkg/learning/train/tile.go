package train

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// epoch holds the settings of an epoch.
type epoch struct {
	H     int
	gamma float64
	scale float64 // of the gradient: one over the number of environments
}

// tile rolls B environments out through policy and world, from their first step to their last, and pulls the cost back
// to the policy's parameters.
type tile[F kernel.Float] struct {
	p        *vnd.Actor[F]
	task     robot.Task[F]
	episodes robot.Episodes[F]
	dims     robot.Dims
	past     int // K
	rest     []F // [S] a robot that has rested, for the actuator part
	hold     []F // [A] the action that keeps it at rest
	world    worldTile[F]
	steps    transitions[F]
	pushes   disturbanceSource[F] // nil: the policy sees none
	tape     *nets.PolicyTape[F]
	grad     []F

	B             int
	bounds        []robot.Bounds // [B]
	z             []F            // [B][Z]
	then          []F            // [B][Z] from step `change` on
	wrong         []F            // [B][Z] by how much the policy sees it wrong
	known         int            // Z of the world
	change        int            // step at which conditions change, 0: none
	randomisation randomisation
	states        []F // [H+1][B][S]
	acts          []F // [K+H][B][A] in half ranges, K of them before the start
	dacts         []F
	comm          []F // [1+H][B][A] actions, the first before the start
	dcomm         []F // [1+H][B][A]
	x, dx         []F // [B][O+Z]
	ds            [2][]F
	alive         []F    // [H+1][B] discount of the step that leads here, 0 after a collision
	cost          []F    // [B]
	off           []F    // [B] squared distance from the reference, later the scale of the gradient
	nonFinite     string // term of the cost that was not finite first
}

// randomisation is what happens to the latents of episodes.
type randomisation struct {
	jitter float64 // spread by which the policy sees them wrong
	change float64 // share of episodes whose condition changes in mid-episode
}

// recognised is how long the encoder's window is mixed after a change, steps: the
// policy's latent wanders from the old to the new one meanwhile.
const recognised = 20

// Figures of rollouts.
type Figures struct {
	Cost     float64 `json:"cost"`           // mean over the steps, with what collisions cost
	Error    float64 `json:"error"`          // mean distance from the reference, m for a quadrotor
	Collided float64 `json:"collided"`       // share of the environments
	Skipped  int     `json:"torn,omitempty"` // tiles of environments left out, for their gradients overflowed
}

func newTile[F kernel.Float](p *vnd.Actor[F], w World[F], k robot.Task[F], dt float64, maxB, maxH int) *tile[F] {
	d, K := w.System().Dims(), k.Past()
	t := &tile[F]{p: p, task: k, episodes: k.NewEpisodes(dt, maxB, maxH), dims: d, past: K, hold: hold(w.System()),
		rest: robot.Settled(w.System()), world: w.tile(maxB, maxH), tape: p.Net.NewTape(maxB, maxH),
		grad: make([]F, len(p.Net.Params)), bounds: make([]robot.Bounds, maxB), known: w.Latent(),
		z: make([]F, maxB*p.Latent), then: make([]F, maxB*p.Latent), wrong: make([]F, maxB*p.Latent),
		states: make([]F, (maxH+1)*maxB*d.State),
		comm:   make([]F, (maxH+1)*maxB*d.Action), dcomm: make([]F, (maxH+1)*maxB*d.Action),
		x: make([]F, maxB*p.Net.Inputs), dx: make([]F, maxB*p.Net.Inputs),
		alive: make([]F, (maxH+1)*maxB), cost: make([]F, maxB), off: make([]F, maxB),
		acts: make([]F, (K+maxH)*maxB*d.Action), dacts: make([]F, (K+maxH)*maxB*d.Action)}
	if k.DisturbanceSize() > 0 {
		t.pushes, _ = t.world.(disturbanceSource[F])
	}
	for i := range t.ds {
		t.ds[i] = make([]F, maxB*d.State)
	}
	return t
}

// hold returns the action that keeps a robot at rest.
func hold[F kernel.Float](sys robot.System[F]) []F {
	d := sys.Dims()
	a := make([]F, d.Action)
	sys.Rest(make([]F, d.Measured), a)
	return a
}

// begin draws B episodes of H steps. sample draws a latent.
func (t *tile[F]) begin(B, H int, rng *rand.Rand, sample func(rng *rand.Rand, z []F)) {
	t.B = B
	S, A, Z, held := t.dims.State, t.dims.Action, t.p.Latent, make([]F, t.dims.Action)
	t.p.Units(t.hold, held)
	t.episodes.Begin(B, H)
	for b := range B {
		s := t.states[b*S:][:S]
		copy(s, t.rest)
		t.bounds[b] = t.episodes.Draw(b, rng, s)
		for k := range t.past {
			copy(t.acts[(k*B+b)*A:], held)
		}
		copy(t.comm[b*A:], t.hold)
		t.alive[b] = 1
		if Z > 0 {
			sample(rng, t.z[b*Z:][:Z])
			t.disturb(b, rng, sample)
		}
	}
	t.change = 0
	if t.randomisation.change > 0 && t.known > 0 && H >= 4 {
		t.change = H/4 + rng.IntN(H/2)
	}
	n := B * t.known // a world without latents flies policies that have space for one
	t.steps = t.world.begin(B, H, latents[F]{t.z[:n], t.then[:n], t.change}, rng)
	t.episodes.DrawSensors(rng)
}

// disturb draws what becomes of robot b's latent.
func (t *tile[F]) disturb(b int, rng *rand.Rand, sample func(rng *rand.Rand, z []F)) {
	Z := t.p.Latent
	then, wrong := t.then[b*Z:][:Z], t.wrong[b*Z:][:Z]
	copy(then, t.z[b*Z:])
	if t.randomisation.change > 0 && t.known > 0 && rng.Float64() < t.randomisation.change {
		sample(rng, then)
	}
	if t.randomisation.jitter > 0 {
		for j := range wrong {
			wrong[j] = F(t.randomisation.jitter * rng.NormFloat64())
		}
	}
}

// seen writes the latents that the policy sees at step h into the end of each
// row of x.
func (t *tile[F]) seen(h int, x []F) {
	width, Z := t.p.Net.Inputs, t.p.Latent
	var share F // of the new condition
	if t.change > 0 {
		share = min(1, max(0, F(h-t.change)/recognised))
	}
	for b := range t.B {
		row := x[(b+1)*width-Z : (b+1)*width]
		for j := range row {
			z := t.z[b*Z+j]
			row[j] = z + share*(t.then[b*Z+j]-z) + t.wrong[b*Z+j]
		}
	}
}

// seeMeasured writes what is measured of disturbances at step h before the latents.
func (t *tile[F]) seeMeasured(h int, x []F) {
	if t.pushes == nil {
		return
	}
	width, measured := t.p.Net.Inputs, t.pushes.measured(h)
	n, begin := len(measured)/t.B, t.p.Size()-t.task.DisturbanceSize()
	for b := range t.B {
		copy(x[b*width+begin:][:n], measured[b*n:])
	}
}

// action returns those of step h out of acts or dacts, and pastOf the K before it.
func (t *tile[F]) action(acts []F, h int) []F {
	n := t.B * t.dims.Action
	return acts[(t.past+h)*n:][:n]
}

func (t *tile[F]) pastOf(acts []F, h int) []F {
	n := t.B * t.dims.Action
	return acts[h*n:][:t.past*n]
}

// state and command views.
func (t *tile[F]) state(h int) []F   { n := t.B * t.dims.State; return t.states[h*n:][:n] }
func (t *tile[F]) command(h int) []F { n := t.B * t.dims.Action; return t.comm[(h+1)*n:][:n] }

// observe returns what the policy sees at step h, [B][O+Z]; it holds until the next.
func (t *tile[F]) observe(h int) []F {
	width := t.p.Net.Inputs
	x := t.x[:t.B*width]
	t.episodes.Observe(h, t.state(h), t.pastOf(t.acts, h), x, width)
	t.seen(h, x)
	t.seeMeasured(h, x)
	t.p.Norm.Apply(x)
	return x
}

// forward rolls out and returns sums over steps and environments.
func (t *tile[F]) forward(e epoch) (f Figures) {
	B := t.B
	for h := range e.H {
		kernel.Pause()
		u, a := t.action(t.acts, h), t.command(h)
		t.p.Net.Forward(t.tape, h, B, t.observe(h), u)
		t.p.Actions(u, a)
		t.steps.Step(h, t.state(h), a, t.state(h+1))
		t.judge(h, e, &f)
	}
	for b := range B {
		if t.alive[e.H*B+b] == 0 {
			f.Collided++
		}
	}
	return f
}

// judge adds the cost of step h, and ends episodes that left their task.
func (t *tile[F]) judge(h int, e epoch, f *Figures) {
	B, S := t.B, t.dims.State
	tr := t.transition(h)
	now, next := t.alive[h*B:][:B], t.alive[(h+1)*B:][:B]
	t.episodes.Costs(h, &tr, t.cost[:B], t.off[:B])
	for b := range B {
		if next[b] = 0; now[b] == 0 {
			copy(tr.S1[b*S:][:S], t.rest) // nothing times what is not finite would be no gradient of 0
			continue
		}
		distance, bounds := math.Sqrt(float64(t.off[b])), &t.bounds[b] // not a number where the state is not finite
		f.Cost += float64(t.cost[b])
		if x := t.cost[b]; x*0 != 0 && t.nonFinite == "" {
			t.nonFinite = t.episodes.NonFiniteTerm(h, &tr, b)
		}
		if !math.IsNaN(distance) {
			f.Error += distance
		}
		if !(distance < bounds.Radius) {
			left := float64(e.H - h - 1)
			f.Cost += bounds.Collision * left
			f.Error += bounds.Radius * left
			copy(tr.S1[b*S:][:S], t.rest) // it stays there, unseen and finite
			continue
		}
		next[b] = now[b] * F(e.gamma)
	}
}

func (t *tile[F]) transition(h int) robot.Transition[F] {
	return robot.Transition[F]{S0: t.state(h), S1: t.state(h + 1), A: t.command(h), Last: t.command(h - 1)}
}

// backward pulls the cost of the last forward pass back and leaves the gradient in t.grad.
func (t *tile[F]) backward(e epoch) {
	B, width, A := t.B, t.p.Net.Inputs, t.dims.Action
	n := B * t.dims.State
	dnext, ds := t.ds[0][:n], t.ds[1][:n]
	clear(dnext)
	clear(t.grad)
	clear(t.dcomm[:(e.H+1)*B*A])
	clear(t.dacts[:(t.past+e.H)*B*A])
	for h := e.H - 1; h >= 0; h-- {
		kernel.Pause()
		clear(ds)
		da := t.dcomm[(h+1)*B*A:][:B*A]
		t.pullCost(h, e, dnext, ds, da)
		t.steps.Backward(h, dnext, ds, da)
		du := t.action(t.dacts, h)
		t.p.ActionsVJP(da, du)
		dx := t.dx[:B*width]
		t.p.Net.Backward(t.tape, h, du, dx)
		t.p.Norm.Pull(dx)
		t.episodes.ObserveVJP(h, t.state(h), dx, width, ds, t.pastOf(t.dacts, h))
		dnext, ds = ds, dnext
	}
	t.p.Net.Grads(t.tape, e.H, t.grad)
}

// pullCost adds the gradients of step h's cost. A collision and what follows it
// have none.
func (t *tile[F]) pullCost(h int, e epoch, dnext, ds, da []F) {
	B, S, n := t.B, t.dims.State, t.B*t.dims.Action
	tr := t.transition(h)
	g := robot.Transition[F]{S0: ds, S1: dnext, A: da, Last: t.dcomm[h*n:][:n]}
	scale := t.off[:B]
	for b := range B {
		scale[b] = t.alive[h*B+b] * F(e.scale)
		if t.alive[(h+1)*B+b] == 0 {
			clear(dnext[b*S:][:S])
			scale[b] = 0
		}
	}
	t.episodes.CostsVJP(h, &tr, scale, &g)
}

// imitate pulls back the squared error of the actions of the last forward pass
// against what a teacher would have done in their place, and leaves the gradient
// in t.grad: states and past actions are constants. The teacher's tile began as
// this one did. It returns half the sum of the squares.
func (t *tile[F]) imitate(teacher *tile[F], e epoch) (loss float64) {
	B, A := t.B, t.dims.Action
	copy(teacher.states, t.states[:e.H*B*t.dims.State])
	copy(teacher.acts, t.acts[:(t.past+e.H)*B*A])
	du := t.dacts[:B*A]
	for h := range e.H {
		teacher.p.Net.Forward(teacher.tape, h, B, teacher.observe(h), du)
		for i, u := range t.action(t.acts, h) {
			off := u - du[i]
			if t.alive[h*B+i/A] == 0 {
				off = 0
			}
			loss += float64(off * off / 2)
			du[i] = off * F(e.scale)
		}
		t.p.Net.Backward(t.tape, h, du, t.dx[:B*t.p.Net.Inputs])
	}
	clear(t.grad)
	t.p.Net.Grads(t.tape, e.H, t.grad)
	return loss
}

// statistics sets the policy's normaliser to what it sees at the start of n episodes of a task. Constant channels keep
// their scale, flags stay as they are.
func (t *tile[F]) statistics(k robot.Task[F], n int, rng *rand.Rand) {
	const least = 0.1 // a channel that hardly moves at the start will move more
	width := t.p.Net.Inputs
	t.begin(n, 1, rng, func(rng *rand.Rand, z []F) {})
	x := t.observe(0) // under a normaliser that does nothing yet
	for j := range t.p.Size() {
		if k.Flag(j) {
			continue
		}
		var sum, square float64
		for b := range n {
			v := float64(x[b*width+j])
			sum += v / float64(n)
			square += v * v / float64(n)
		}
		sigma := math.Sqrt(max(0, square-sum*sum))
		t.p.Norm.Mean[j] = F(sum)
		t.p.Norm.Scale[j] = F(1 / max(sigma, least))
	}
}
