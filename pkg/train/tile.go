package train

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/dynamics"
	"vnd/pkg/kernel"
	"vnd/pkg/model"
	"vnd/pkg/policy"
	"vnd/pkg/quad"
	"vnd/pkg/so3"
	"vnd/pkg/task"
)

const nA = 4 // U, actions of the quadrotor

// rollout settings of an epoch.
type epoch struct {
	H     int
	gamma float64
	scale float64 // of the gradient: one over the number of environments
}

// tile rolls B environments out through policy and world, from their first step
// to their last, and pulls the cost back to the policy's parameters.
type tile[F kernel.Float] struct {
	p     *policy.Policy[F]
	tasks []*task.Task
	dt    float64
	dims  dynamics.Dims
	rest  []F // [S] a robot that has hovered, for the actuator part
	world worldTile[F]
	steps transitions[F]
	tape  *model.PolicyTape[F]
	sight *sight[F]
	grad  []F

	B      int
	at     []*task.Task // [B] each environment's task
	z      []F          // [B][Z]
	then   []F          // [B][Z] from step `change` on
	off    []F          // [B][Z] by how much the policy sees it wrong
	known  int          // Z of the world
	change int          // step at which conditions change, 0: none
	unrest unrest
	path   path
	refs   []F   // [H][B][R] of the observations
	rows   []F   // [H][B][C] of the costs
	states []F   // [H+1][B][S]
	acts   [][]F // K before the start, then H: [B][U] in units of the limits
	dacts  [][]F
	views  [][]F // [K] of acts or dacts, the actions before a step
	comm   []F   // [1+H][B][A] commands, the first before the start
	dcomm  []F   // [1+H][B][A]
	x, dx  []F   // [B][O]
	ds     [2][]F
	alive  []F    // [H+1][B] discount of the step that leads here, 0 after a collision
	cost   []F    // [B]
	blame  string // term of the cost that was not finite first
}

// unrest is what happens to the latents of episodes.
type unrest struct {
	jitter float64 // spread by which the policy sees them wrong
	change float64 // share of episodes whose condition changes in mid-episode
}

// recognised is how long the encoder's window is mixed after a change, steps: the
// policy's latent wanders from the old to the new one meanwhile.
const recognised = 20

// Figures of rollouts.
type Figures struct {
	Cost     float64 `json:"cost"`     // mean over the steps, with what collisions cost
	Error    float64 `json:"error"`    // mean position error, m
	Collided float64 `json:"collided"` // share of the environments
}

func newTile[F kernel.Float](p *policy.Policy[F], w World[F], tasks []*task.Task, dt float64, maxB, maxH int) *tile[F] {
	d, o := w.System().Dims(), &p.Observation
	t := &tile[F]{p: p, tasks: tasks, dt: dt, dims: d, world: w.tile(maxB, maxH), grad: make([]F, len(p.Net.Params)),
		at: make([]*task.Task, maxB), z: make([]F, maxB*p.Latent), then: make([]F, maxB*p.Latent), off: make([]F, maxB*p.Latent),
		refs: make([]F, maxH*maxB*o.RefSize()), rows: make([]F, maxH*maxB*task.RowSize),
		states: make([]F, (maxH+1)*maxB*d.State), comm: make([]F, (maxH+1)*maxB*nA), dcomm: make([]F, (maxH+1)*maxB*nA),
		x: make([]F, maxB*p.Net.Inputs), dx: make([]F, maxB*p.Net.Inputs),
		alive: make([]F, (maxH+1)*maxB), cost: make([]F, maxB)}
	t.tape, t.sight = p.Net.NewTape(maxB, maxH), newSight(p, maxB, maxH)
	for range o.Past + maxH {
		t.acts, t.dacts = append(t.acts, make([]F, maxB*nA)), append(t.dacts, make([]F, maxB*nA))
	}
	for i := range t.ds {
		t.ds[i] = make([]F, maxB*d.State)
	}
	t.known, t.rest = w.Latent(), hovering(w.System())
	return t
}

// hovering is the state of a robot that has hovered for long.
func hovering[F kernel.Float](sys dynamics.System[F]) []F {
	const rows = 100
	d := sys.Dims()
	s, m, a := make([]F, d.State), make([]F, (rows+1)*d.Measured), make([]F, rows*d.Action)
	for i := range rows + 1 {
		dynamics.Measured(&quad.State{Q: so3.Identity()}, m[i*d.Measured:])
		if i < rows {
			dynamics.Action(&quad.Command{Thrust: quad.Gravity}, a[i*d.Action:])
		}
	}
	sys.Window(rows, m, a, s, nil, nil, nil)
	return s
}

// begin draws B episodes of H steps. sample draws a latent.
func (t *tile[F]) begin(B, H int, rng *rand.Rand, sample func(rng *rand.Rand, z []F)) {
	t.B = B
	o, S, R, Z := &t.p.Observation, t.dims.State, t.p.Observation.RefSize(), t.p.Latent
	hover, command := t.p.Hover(), quad.Command{Thrust: quad.Gravity}
	for b := range B {
		t.at[b] = t.tasks[rng.IntN(len(t.tasks))]
		e := t.at[b].Draw(rng)
		origin, now := e.Reference(0).P, 0. // of float32
		t.path.begin(e.Reference, t.dt, origin)
		near := func(ahead float64) quad.Reference { return t.path.at(now + ahead) }
		t.sight.mark(b, near(0))
		for h := range H {
			now = float64(h) * t.dt
			policy.PutReference(o, near, t.refs[(h*B+b)*R:][:R])
			task.PutRow(near(t.dt), t.rows[(h*B+b)*task.RowSize:])
		}
		s := t.states[b*S:][:S]
		copy(s, t.rest)
		e.Start.P = e.Start.P.Sub(origin)
		dynamics.Measured(&e.Start, s)
		for k := range o.Past {
			copy(t.acts[k][b*nA:], hover[:])
		}
		dynamics.Action(&command, t.comm[b*nA:])
		t.alive[b] = 1
		if Z > 0 {
			sample(rng, t.z[b*Z:][:Z])
			t.disturb(b, rng, sample)
		}
	}
	t.change = 0
	if t.unrest.change > 0 && t.known > 0 && H >= 4 {
		t.change = H/4 + rng.IntN(H/2)
	}
	n := B * t.known // a world without latents flies policies that have room for one
	t.steps = t.world.begin(B, H, latents[F]{t.z[:n], t.then[:n], t.change}, rng)
	t.sight.begin(B, H, rng)
}

// disturb draws what becomes of robot b's latent.
func (t *tile[F]) disturb(b int, rng *rand.Rand, sample func(rng *rand.Rand, z []F)) {
	Z := t.p.Latent
	then, off := t.then[b*Z:][:Z], t.off[b*Z:][:Z]
	copy(then, t.z[b*Z:])
	if t.unrest.change > 0 && t.known > 0 && rng.Float64() < t.unrest.change {
		sample(rng, then)
	}
	if t.unrest.jitter > 0 {
		for j := range off {
			off[j] = F(t.unrest.jitter * rng.NormFloat64())
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
			row[j] = z + share*(t.then[b*Z+j]-z) + t.off[b*Z+j]
		}
	}
}

// past returns the actions before step h, youngest first.
func (t *tile[F]) past(acts [][]F, h int, to [][]F) [][]F {
	K := t.p.Observation.Past
	to = to[:0]
	for k := range K {
		to = append(to, acts[K+h-1-k])
	}
	return to
}

// state and command views.
func (t *tile[F]) state(h int) []F   { n := t.B * t.dims.State; return t.states[h*n:][:n] }
func (t *tile[F]) command(h int) []F { n := t.B * nA; return t.comm[(h+1)*n:][:n] }

// observe returns what the policy sees at step h, [B][O]; it holds until the next.
func (t *tile[F]) observe(h int) []F {
	o, B, width := &t.p.Observation, t.B, t.p.Net.Inputs
	x := t.x[:B*width]
	t.sight.look(h, t.state(h), t.dims.State)
	seen, _ := t.sight.at(h)
	t.views = t.past(t.acts, h, t.views)
	policy.Observe(o, B, t.state(h), t.dims.State, t.refs[h*B*o.RefSize():], seen, t.views, x, width)
	t.seen(h, x)
	t.p.Norm.Apply(x)
	return x
}

// forward rolls out and returns sums over steps and environments.
func (t *tile[F]) forward(e epoch) (f Figures) {
	B := t.B
	middle, half := t.p.Scale()
	for h := range e.H {
		u := t.acts[t.p.Observation.Past+h][:B*nA]
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
	for b := range B {
		if next[b] = 0; now[b] == 0 {
			continue
		}
		c := &t.at[b].Cost
		task.One(c, &tr, b, t.cost)
		s, r := tr.S1[b*S:], tr.Ref[b*task.RowSize:]
		var off F
		for j := range 3 {
			off += (s[j] - r[j]) * (s[j] - r[j])
		}
		distance := math.Sqrt(float64(off))
		f.Cost += float64(t.cost[b])
		if x := t.cost[b]; x-x != 0 && t.blame == "" {
			t.blame = task.Blame(c, &tr, b)
		}
		f.Error += distance
		if !(distance < t.at[b].Radius) || !finite(s[:S]) {
			left := float64(e.H - h - 1)
			f.Cost += c.Collision * left
			f.Error += t.at[b].Radius * left
			copy(s[:S], t.rest) // its rollout goes on, unseen and finite
			continue
		}
		next[b] = now[b] * F(e.gamma)
	}
}

func finite[F kernel.Float](x []F) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

func (t *tile[F]) transition(h int) task.Transition[F] {
	return task.Transition[F]{B: t.B, S: t.dims.State, S0: t.state(h), S1: t.state(h + 1),
		A: t.command(h), Last: t.command(h - 1), Ref: t.rows[h*t.B*task.RowSize:], Dt: t.dt}
}

// backward pulls the cost of the last forward pass back and leaves the gradient
// in t.grad.
func (t *tile[F]) backward(e epoch) {
	o, B, width := &t.p.Observation, t.B, t.p.Net.Inputs
	_, half := t.p.Scale()
	n := B * t.dims.State
	dnext, ds := t.ds[0][:n], t.ds[1][:n]
	clear(dnext)
	clear(t.grad)
	clear(t.dcomm[:(e.H+1)*B*nA])
	clear(t.sight.dseen)
	for _, d := range t.dacts[:o.Past+e.H] {
		clear(d)
	}
	for h := e.H - 1; h >= 0; h-- {
		clear(ds)
		da := t.dcomm[(h+1)*B*nA:][:B*nA]
		t.pullCost(h, e, dnext, ds, da)
		t.steps.Backward(h, dnext, ds, da)
		du := t.dacts[o.Past+h][:B*nA]
		for i := range du {
			du[i] += half[i%nA] * da[i]
		}
		dx := t.dx[:B*width]
		t.p.Net.Backward(t.tape, h, du, dx)
		t.p.Norm.Pull(dx)
		t.views = t.past(t.dacts, h, t.views)
		_, dseen := t.sight.at(h)
		policy.ObserveVJP(o, B, t.state(h), t.dims.State, dx, width, ds, dseen, t.views)
		t.sight.pull(h, t.state(h), t.dims.State, ds)
		dnext, ds = ds, dnext
	}
	t.p.Net.Grads(t.tape, e.H, t.grad)
}

// pullCost adds the gradients of step h's cost. A collision and what follows it
// have none.
func (t *tile[F]) pullCost(h int, e epoch, dnext, ds, da []F) {
	B, S := t.B, t.dims.State
	tr := t.transition(h)
	g := task.Gradient[F]{S0: ds, S1: dnext, A: da, Last: t.dcomm[h*B*nA:][:B*nA]}
	for b := range B {
		if t.alive[(h+1)*B+b] == 0 {
			clear(dnext[b*S:][:S])
			continue
		}
		task.OneVJP(&t.at[b].Cost, &tr, b, t.alive[h*B+b]*F(e.scale), &g)
	}
}

// imitate pulls back the squared error of the actions of the last forward pass
// against what a teacher would have done in their place, and leaves the gradient
// in t.grad: states and past actions are constants. The teacher's tile began as
// this one did. It returns half the sum of the squares.
func (t *tile[F]) imitate(teacher *tile[F], e epoch) (loss float64) {
	B, K := t.B, t.p.Observation.Past
	copy(teacher.states, t.states[:e.H*B*t.dims.State])
	for k := range K + e.H {
		copy(teacher.acts[k], t.acts[k][:B*nA])
	}
	du := t.dacts[0][:B*nA]
	for h := range e.H {
		teacher.p.Net.Forward(teacher.tape, h, B, teacher.observe(h), du)
		for i, u := range t.acts[K+h][:B*nA] {
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
