package quadtrain

import (
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
)

// tasks implements robot.Task: each episode is of one of them, drawn evenly, as a policy sees it.
type tasks[F kernel.Float] struct {
	of  []*task.Task
	see *policy.Observation
	eye *policy.Pinhole[F] // nil where the policy sees positions
	// hover is the motor command of a policy that commands rotors, 0 where it commands thrust and body rates.
	hover F
}

// tasksOf are tasks as a policy sees them.
func tasksOf[F kernel.Float](of []*task.Task, p *policy.Policy[F]) robot.Task[F] {
	k := &tasks[F]{of: of, see: &p.Observation, eye: p.Pinhole}
	if p.Motors != nil {
		k.hover = F(p.Motors.Hover)
	}
	return k
}

// Size implements robot.Task.
func (k *tasks[F]) Size() int { return k.see.Size() }

// Past implements robot.Task.
func (k *tasks[F]) Past() int { return k.see.PastActions }

// Flag implements robot.Task.
func (k *tasks[F]) Flag(j int) bool { return k.see.Flag(j) }

// DisturbanceSize implements robot.Task.
func (k *tasks[F]) DisturbanceSize() int { return k.see.MeasuredSize() }

// NewEpisodes implements robot.Task.
func (k *tasks[F]) NewEpisodes(dt float64, maxB, maxH int) robot.Episodes[F] {
	e := &episodes[F]{tasks: k, dt: dt, at: make([]*task.Task, maxB),
		camera:  newCameraModel(&k.see.Camera, k.eye, dt, maxB, maxH),
		refs:    make([]F, maxH*maxB*k.see.RefSize()),
		rows:    make([]F, maxH*maxB*quadrotor.RowSize),
		weights: make([]F, maxB*quadrotor.WeightsSize)}
	if k.hover == 0 {
		return e
	}
	n := maxB * actions
	return &rotorEpisodes[F]{episodes: e, a: make([]F, n), last: make([]F, n), da: make([]F, n),
		dlast: make([]F, n)}
}

// episodes implements robot.Episodes. Positions are relative to where each episode's reference begins.
type episodes[F kernel.Float] struct {
	*tasks[F]
	dt      float64
	B, H    int
	at      []*task.Task // [B]
	camera  *cameraModel[F]
	path    path
	refs    []F // [H][B][R] of the observations
	rows    []F // [H][B][C] of the costs
	weights []F // [B][W] of the terms of each episode's cost
}

// Begin implements robot.Episodes.
func (e *episodes[F]) Begin(B, H int) { e.B, e.H = B, H }

// Draw implements robot.Episodes.
func (e *episodes[F]) Draw(b int, rng *rand.Rand, s []F) robot.Bounds {
	R, B := e.see.RefSize(), e.B
	k := e.of[rng.IntN(len(e.of))]
	e.at[b] = k
	quadrotor.PutWeights(&k.Cost, e.weights[b*quadrotor.WeightsSize:])
	drawn := k.Draw(rng)
	origin, now := drawn.Reference(0).P, 0. // of float32
	e.path.begin(drawn.Reference, e.dt, origin)
	near := func(ahead float64) *quad.Reference { return e.path.at(now + ahead) }
	e.camera.mark(b, *near(0))
	for h := range e.H {
		now = float64(h) * e.dt
		policy.PutReference(e.see, near, e.refs[(h*B+b)*R:][:R])
		quadrotor.PutRow(&k.Cost, near(e.dt), e.rows[(h*B+b)*quadrotor.RowSize:])
	}
	drawn.Start.P = drawn.Start.P.Sub(origin)
	quadrotor.Measured(&drawn.Start, s)
	return robot.Bounds{Radius: k.Radius, Collision: k.Cost.Collision}
}

// DrawSensors implements robot.Episodes.
func (e *episodes[F]) DrawSensors(rng *rand.Rand) { e.camera.begin(e.B, e.H, rng) }

// Observe implements robot.Episodes.
func (e *episodes[F]) Observe(h int, s, past, x []F, width int) {
	S := len(s) / e.B
	e.camera.look(h, s, S)
	e.camera.show(h)
	seen, _ := e.camera.at(h)
	view := e.see.View(S, width)
	quadrotor.Observe(&view, e.B, s, e.refs[h*e.B*e.see.RefSize():], seen, past, x)
	for b := range e.B {
		policy.PutPush(e.see, so3.Vec3{}, x[b*width:]) // which the world knows
	}
	e.blank(x, width)
}

// blank hides in rows of observations, or of their gradients, what the policy is not given.
func (e *episodes[F]) blank(x []F, width int) {
	if e.see.Camera.StateFree {
		for b := range e.B {
			policy.Blank(e.see, x[b*width:][:width])
		}
	}
}

// ObserveVJP implements robot.Episodes.
func (e *episodes[F]) ObserveVJP(h int, s, dx []F, width int, ds, dpast []F) {
	S := len(s) / e.B
	_, dseen := e.camera.at(h)
	view := e.see.View(S, width)
	e.blank(dx, width)
	quadrotor.ObserveVJP(&view, e.B, s, dx, ds, dseen, dpast)
	e.camera.pullShown(h)
	e.camera.pull(h, s, S, ds)
}

func (e *episodes[F]) transition(h int, t *robot.Transition[F]) quadrotor.Transition[F] {
	return quadrotor.Transition[F]{B: e.B, S: len(t.S0) / e.B, S0: t.S0, S1: t.S1, A: t.A, Last: t.Last,
		Ref: e.rows[h*e.B*quadrotor.RowSize:], Dt: e.dt}
}

// Costs implements robot.Episodes.
func (e *episodes[F]) Costs(h int, t *robot.Transition[F], cost, off []F) {
	tr := e.transition(h, t)
	quadrotor.Costs(&tr, e.weights, cost, off)
}

// CostsVJP implements robot.Episodes.
func (e *episodes[F]) CostsVJP(h int, t *robot.Transition[F], scale []F, g *robot.Transition[F]) {
	tr, to := e.transition(h, t), quadrotor.Gradient[F](*g)
	quadrotor.CostsVJP(&tr, e.weights, scale, &to)
}

// NonFiniteTerm implements robot.Episodes.
func (e *episodes[F]) NonFiniteTerm(h int, t *robot.Transition[F], b int) string {
	tr := e.transition(h, t)
	return quadrotor.NonFiniteTerm(&e.at[b].Cost, &tr, b)
}
