package train

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
)

const nA = 4 // U, actions of the quadrotor

// epoch holds the settings of an epoch.
type epoch struct {
	H     int
	gamma float64
	scale float64 // of the gradient: one over the number of environments
}

// tile rolls B environments out through policy and world, from their first step
// to their last, and pulls the cost back to the policy's parameters.
type tile[F kernel.Float] struct {
	p           *policy.Policy[F]
	tasks       []*task.Task
	dt          float64
	dims        robot.Dims
	rest        []F // [S] a robot that has hovered, for the actuator part
	world       worldTile[F]
	steps       transitions[F]
	tape        *nets.PolicyTape[F]
	cameraModel *cameraModel[F]
	grad        []F

	B             int
	at            []*task.Task // [B] each environment's task
	z             []F          // [B][Z]
	then          []F          // [B][Z] from step `change` on
	wrong         []F          // [B][Z] by how much the policy sees it wrong
	known         int          // Z of the world
	change        int          // step at which conditions change, 0: none
	randomisation randomisation
	path          path
	refs          []F // [H][B][R] of the observations
	rows          []F // [H][B][C] of the costs
	states        []F // [H+1][B][S]
	acts          []F // [K+H][B][U] in units of the limits, K of them before the start
	dacts         []F
	comm          []F // [1+H][B][A] commands, the first before the start
	dcomm         []F // [1+H][B][A]
	x, dx         []F // [B][O]
	ds            [2][]F
	alive         []F    // [H+1][B] discount of the step that leads here, 0 after a collision
	weigh         []F    // [B][W] of the terms of each environment's cost
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
	Error    float64 `json:"error"`          // mean position error, m
	Collided float64 `json:"collided"`       // share of the environments
	Skipped  int     `json:"torn,omitempty"` // tiles of environments left out, for their gradients overflowed
}

func newTile[F kernel.Float](p *policy.Policy[F], w World[F], tasks []*task.Task, dt float64, maxB, maxH int) *tile[F] {
	d, o := w.System().Dims(), &p.Observation
	t := &tile[F]{p: p, tasks: tasks, dt: dt, dims: d, world: w.tile(maxB, maxH), grad: make([]F, len(p.Net.Params)),
		at: make([]*task.Task, maxB), z: make([]F, maxB*p.Latent), then: make([]F, maxB*p.Latent),
		wrong: make([]F, maxB*p.Latent),
		refs:  make([]F, maxH*maxB*o.RefSize()), rows: make([]F, maxH*maxB*quadrotor.RowSize),
		states: make([]F, (maxH+1)*maxB*d.State), comm: make([]F, (maxH+1)*maxB*nA), dcomm: make([]F, (maxH+1)*maxB*nA),
		x: make([]F, maxB*p.Net.Inputs), dx: make([]F, maxB*p.Net.Inputs),
		alive: make([]F, (maxH+1)*maxB), weigh: make([]F, maxB*quadrotor.WeightsSize), cost: make([]F, maxB),
		off:  make([]F, maxB),
		acts: make([]F, (o.Past+maxH)*maxB*nA), dacts: make([]F, (o.Past+maxH)*maxB*nA)}
	t.tape, t.cameraModel = p.Net.NewTape(maxB, maxH), newCameraModel(p, maxB, maxH)
	for i := range t.ds {
		t.ds[i] = make([]F, maxB*d.State)
	}
	t.known, t.rest = w.Latent(), robot.Settled(w.System())
	return t
}

// begin draws B episodes of H steps. sample draws a latent.
func (t *tile[F]) begin(B, H int, rng *rand.Rand, sample func(rng *rand.Rand, z []F)) {
	t.B = B
	o, S, R, Z := &t.p.Observation, t.dims.State, t.p.Observation.RefSize(), t.p.Latent
	hover, command := t.p.Hover(), quad.Command{Thrust: quad.Gravity}
	for b := range B {
		t.at[b] = t.tasks[rng.IntN(len(t.tasks))]
		quadrotor.PutWeights(&t.at[b].Cost, t.weigh[b*quadrotor.WeightsSize:])
		e := t.at[b].Draw(rng)
		origin, now := e.Reference(0).P, 0. // of float32
		t.path.begin(e.Reference, t.dt, origin)
		near := func(ahead float64) *quad.Reference { return t.path.at(now + ahead) }
		t.cameraModel.mark(b, *near(0))
		for h := range H {
			now = float64(h) * t.dt
			policy.PutReference(o, near, t.refs[(h*B+b)*R:][:R])
			quadrotor.PutRow(&t.at[b].Cost, near(t.dt), t.rows[(h*B+b)*quadrotor.RowSize:])
		}
		s := t.states[b*S:][:S]
		copy(s, t.rest)
		e.Start.P = e.Start.P.Sub(origin)
		quadrotor.Measured(&e.Start, s)
		for k := range o.Past {
			copy(t.acts[(k*B+b)*nA:], hover[:])
		}
		quadrotor.Action(&command, t.comm[b*nA:])
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
	t.cameraModel.begin(B, H, rng)
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

// action returns those of step h out of acts or dacts, and past the K before it.
func (t *tile[F]) action(acts []F, h int) []F {
	n := t.B * nA
	return acts[(t.p.Observation.Past+h)*n:][:n]
}

func (t *tile[F]) past(acts []F, h int) []F {
	n := t.B * nA
	return acts[h*n:][:t.p.Observation.Past*n]
}

// state and command views.
func (t *tile[F]) state(h int) []F   { n := t.B * t.dims.State; return t.states[h*n:][:n] }
func (t *tile[F]) command(h int) []F { n := t.B * nA; return t.comm[(h+1)*n:][:n] }

// observe returns what the policy sees at step h, [B][O]; it holds until the next.
func (t *tile[F]) observe(h int) []F {
	o, B, width := &t.p.Observation, t.B, t.p.Net.Inputs
	x := t.x[:B*width]
	t.cameraModel.look(h, t.state(h), t.dims.State)
	seen, _ := t.cameraModel.at(h)
	view := o.View(t.dims.State, width)
	quadrotor.Observe(&view, B, t.state(h), t.refs[h*B*o.RefSize():], seen, t.past(t.acts, h), x)
	t.seen(h, x)
	t.p.Norm.Apply(x)
	return x
}

// forward rolls out and returns sums over steps and environments.
func (t *tile[F]) forward(e epoch) (f Figures) {
	B := t.B
	middle, half := t.p.Scale()
	for h := range e.H {
		kernel.Pause()
		u := t.action(t.acts, h)
		t.p.Net.Forward(t.tape, h, B, t.observe(h), u)
		a := t.command(h)
		for i, v := range u {
			a[i] = middle[i%nA] + half[i%nA]*v
		}
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
	quadrotor.Costs(&tr, t.weigh, t.cost, t.off)
	for b := range B {
		if next[b] = 0; now[b] == 0 {
			continue
		}
		distance, radius := math.Sqrt(float64(t.off[b])), t.at[b].Radius // not a number where the state is not finite
		f.Cost += float64(t.cost[b])
		if x := t.cost[b]; x-x != 0 && t.nonFinite == "" {
			t.nonFinite = quadrotor.NonFiniteTerm(&t.at[b].Cost, &tr, b)
		}
		if !math.IsNaN(distance) {
			f.Error += distance
		}
		if !(distance < radius) {
			left := float64(e.H - h - 1)
			f.Cost += t.at[b].Cost.Collision * left
			f.Error += radius * left
			copy(tr.S1[b*S:][:S], t.rest) // its rollout goes on, unseen and finite
			continue
		}
		next[b] = now[b] * F(e.gamma)
	}
}

func (t *tile[F]) transition(h int) quadrotor.Transition[F] {
	return quadrotor.Transition[F]{B: t.B, S: t.dims.State, S0: t.state(h), S1: t.state(h + 1),
		A: t.command(h), Last: t.command(h - 1), Ref: t.rows[h*t.B*quadrotor.RowSize:], Dt: t.dt}
}

// backward pulls the cost of the last forward pass back and leaves the gradient
// in t.grad.
func (t *tile[F]) backward(e epoch) {
	o, B, width := &t.p.Observation, t.B, t.p.Net.Inputs
	_, half := t.p.Scale()
	n, view := B*t.dims.State, o.View(t.dims.State, width)
	dnext, ds := t.ds[0][:n], t.ds[1][:n]
	clear(dnext)
	clear(t.grad)
	clear(t.dcomm[:(e.H+1)*B*nA])
	clear(t.cameraModel.dseen)
	clear(t.dacts[:(o.Past+e.H)*B*nA])
	for h := e.H - 1; h >= 0; h-- {
		kernel.Pause()
		clear(ds)
		da := t.dcomm[(h+1)*B*nA:][:B*nA]
		t.pullCost(h, e, dnext, ds, da)
		t.steps.Backward(h, dnext, ds, da)
		du := t.action(t.dacts, h)
		for i := range du {
			du[i] += half[i%nA] * da[i]
		}
		dx := t.dx[:B*width]
		t.p.Net.Backward(t.tape, h, du, dx)
		t.p.Norm.Pull(dx)
		_, dseen := t.cameraModel.at(h)
		quadrotor.ObserveVJP(&view, B, t.state(h), dx, ds, dseen, t.past(t.dacts, h))
		t.cameraModel.pull(h, t.state(h), t.dims.State, ds)
		dnext, ds = ds, dnext
	}
	t.p.Net.Grads(t.tape, e.H, t.grad)
}

// pullCost adds the gradients of step h's cost. A collision and what follows it
// have none.
func (t *tile[F]) pullCost(h int, e epoch, dnext, ds, da []F) {
	B, S := t.B, t.dims.State
	tr := t.transition(h)
	g := quadrotor.Gradient[F]{S0: ds, S1: dnext, A: da, Last: t.dcomm[h*B*nA:][:B*nA]}
	scale := t.off[:B]
	for b := range B {
		scale[b] = t.alive[h*B+b] * F(e.scale)
		if t.alive[(h+1)*B+b] == 0 {
			clear(dnext[b*S:][:S])
			scale[b] = 0
		}
	}
	quadrotor.CostsVJP(&tr, t.weigh, scale, &g)
}

// imitate pulls back the squared error of the actions of the last forward pass
// against what a teacher would have done in their place, and leaves the gradient
// in t.grad: states and past actions are constants. The teacher's tile began as
// this one did. It returns half the sum of the squares.
func (t *tile[F]) imitate(teacher *tile[F], e epoch) (loss float64) {
	B, K := t.B, t.p.Observation.Past
	copy(teacher.states, t.states[:e.H*B*t.dims.State])
	copy(teacher.acts, t.acts[:(K+e.H)*B*nA])
	du := t.dacts[:B*nA]
	for h := range e.H {
		teacher.p.Net.Forward(teacher.tape, h, B, teacher.observe(h), du)
		for i, u := range t.action(t.acts, h) {
			off := u - du[i]
			if t.alive[h*B+i/nA] == 0 {
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

// statistics sets the policy's normaliser to what it sees at the start of
// episodes. Constant channels keep their scale, flags stay as they are.
func (t *tile[F]) statistics(rng *rand.Rand) {
	const least = 0.1 // a channel that hardly moves at the start will move more
	o, n, width := &t.p.Observation, len(t.at), t.p.Net.Inputs
	t.begin(n, 1, rng, func(rng *rand.Rand, z []F) {})
	x := t.observe(0) // under a normaliser that does nothing yet
	for j := range o.Size() {
		if o.Flag(j) {
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
