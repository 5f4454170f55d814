package pushlearning

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/pusher"
)

// Differentiable is a Task whose costs and observations have gradients, for back-propagation through time: of a
// pusher.BoxFrame, whose sensors are true. What a step costs is what the paper's terms lack there.
type Differentiable[F kernel.Float] struct{ Task }

// Sizes of states, actions and observations.
const (
	stateSize, actionSize         = 10, pushcontrol.Actions
	history, pastActions, rowSize = pushcontrol.History, pushcontrol.PastActions, pushcontrol.RowSize
)

// Size implements robot.Task.
func (k *Differentiable[F]) Size() int { return pushcontrol.Sees }

// Past implements robot.Task.
func (k *Differentiable[F]) Past() int { return pastActions }

// Flag implements robot.Task: there is none.
func (k *Differentiable[F]) Flag(int) bool { return false }

// DisturbanceSize implements robot.Task.
func (k *Differentiable[F]) DisturbanceSize() int { return 0 }

// NewEpisodes implements robot.Task.
func (k *Differentiable[F]) NewEpisodes(_ float64, maxB, maxH int) robot.Episodes[F] {
	n := (maxH + 1) * maxB * rowSize
	return &differentiable[F]{Task: k.Task, goals: make([][3]float64, maxB), rows: make([]F, n), drows: make([]F, n)}
}

// differentiable implements robot.Episodes.
type differentiable[F kernel.Float] struct {
	Task
	B, H        int
	goals       [][3]float64 // [B]
	rows, drows []F          // [H][B][rowSize] what is seen of each step, and its gradient
}

// Begin implements robot.Episodes.
func (e *differentiable[F]) Begin(B, H int) { e.B, e.H = B, H }

// Draw implements robot.Episodes.
func (e *differentiable[F]) Draw(b int, rng *rand.Rand, s []F) robot.Bounds {
	const lost = 17 // what all terms lack together
	from, goal := e.draw(rng)
	e.goals[b] = goal
	var x [stateSize]float32
	from.Write(x[:])
	for i, v := range x {
		s[i] = F(v)
	}
	return robot.Bounds{Radius: 1, Collision: lost}
}

// DrawSensors implements robot.Episodes: they are true.
func (e *differentiable[F]) DrawSensors(*rand.Rand) {}

// row is what is seen of a step in episode b; the first step stands for those before it.
func (e *differentiable[F]) row(of []F, h, b int) []F {
	return of[(max(h, 0)*e.B+b)*rowSize:][:rowSize]
}

// Observe implements robot.Episodes.
func (e *differentiable[F]) Observe(h int, s, past, x []F, width int) {
	for b := range e.B {
		state, row := s[stateSize*b:], x[b*width:]
		e.see(b, state, e.row(e.rows, h, b))
		for k := range history {
			copy(row[k*rowSize:], e.row(e.rows, h-k, b))
		}
		for k := range pastActions {
			copy(row[history*rowSize+k*actionSize:][:actionSize], past[((pastActions-1-k)*e.B+b)*actionSize:])
		}
	}
}

// see writes a row of a state s[S].
func (e *differentiable[F]) see(b int, s, row []F) {
	for k, v := range pushcontrol.Row([3]float64{float64(s[2]), float64(s[3]), float64(s[4])},
		[2]float64{float64(s[0]), float64(s[1])}, e.goals[b]) {
		row[k] = F(v)
	}
}

// ObserveVJP implements robot.Episodes. Rows gather their gradient from all later steps, which come before.
func (e *differentiable[F]) ObserveVJP(h int, s, dx []F, width int, ds, dpast []F) {
	if h == e.H-1 {
		clear(e.drows)
	}
	for b := range e.B {
		d := dx[b*width:]
		for k := range history {
			kernel.Axpy(1, d[k*rowSize:][:rowSize], e.row(e.drows, h-k, b))
		}
		for k := range pastActions {
			kernel.Axpy(1, d[history*rowSize+k*actionSize:][:actionSize],
				dpast[((pastActions-1-k)*e.B+b)*actionSize:][:actionSize])
		}
		e.seeVJP(float64(s[stateSize*b+4]), e.row(e.rows, h, b), e.row(e.drows, h, b), ds[stateSize*b:])
	}
}

// seeVJP adds the pullback of a row's gradient to that of its state.
func (e *differentiable[F]) seeVJP(heading float64, row, d, ds []F) {
	tx, ty := pushcontrol.In(-heading, float64(d[0]), float64(d[1]))
	gx, gy := pushcontrol.In(-heading, float64(d[2]), float64(d[3]))
	for i, v := range []float64{tx, ty, -tx - gx, -ty - gy} {
		ds[i] += F(v)
	}
	ds[4] += d[0]*row[1] - d[1]*row[0] + d[2]*row[3] - d[3]*row[2] - d[4]
}

// effort is the weight of actions and of their changes in a step's cost.
const effort = 0.02

// Costs implements robot.Episodes.
func (e *differentiable[F]) Costs(_ int, t *robot.Transition[F], cost, off []F) {
	for b := range e.B {
		lack, far := e.lack(b, t.S1[stateSize*b:], nil)
		for j := range actionSize {
			u, last := t.A[actionSize*b+j], t.Last[actionSize*b+j]
			lack += effort * float64(u*u+(u-last)*(u-last))
		}
		cost[b], off[b] = F(lack), F(far*far)
	}
}

// CostsVJP implements robot.Episodes.
func (e *differentiable[F]) CostsVJP(_ int, t *robot.Transition[F], scale []F, g *robot.Transition[F]) {
	for b, w := range scale {
		if w == 0 {
			continue
		}
		var d [5]float64
		e.lack(b, t.S1[stateSize*b:], &d)
		for i, v := range d {
			g.S1[stateSize*b+i] += w * F(v)
		}
		for j := range actionSize {
			i := actionSize*b + j
			change := 2 * effort * w * (t.A[i] - t.Last[i])
			g.A[i] += 2*effort*w*t.A[i] + change
			g.Last[i] -= change
		}
	}
}

// NonFiniteTerm implements robot.Episodes.
func (e *differentiable[F]) NonFiniteTerm(_ int, t *robot.Transition[F], b int) string {
	if lack, _ := e.lack(b, t.S1[stateSize*b:], nil); lack*0 != 0 {
		return "place"
	}
	return "action"
}

// lack is what the terms of episode.potential lack of their sum in a state, and how far the box is from its goal. Its
// gradient by tool, box and heading is added to d, unless that is nil.
func (e *differentiable[F]) lack(b int, s []F, d *[5]float64) (sum, far float64) {
	const contact = pusher.Side/2 + pusher.ToolRadius
	goal := e.goals[b]
	toGoal := [2]float64{goal[0] - float64(s[2]), goal[1] - float64(s[3])}
	toTool := [2]float64{float64(s[0] - s[2]), float64(s[1] - s[3])}
	turn := math.Remainder(goal[2]-float64(s[4]), 2*math.Pi)
	far = math.Hypot(toGoal[0], toGoal[1])
	away, least := math.Hypot(toTool[0], toTool[1]), max(far, 1e-6)
	behind := [2]float64{toTool[0] + contact*toGoal[0]/least, toTool[1] + contact*toGoal[1]/least}
	beside := math.Hypot(behind[0], behind[1])
	var slopes [4]float64
	for k, term := range []struct{ weight, x, tolerance, margin float64 }{{8, far, 0.005, 0.4},
		{6, math.Abs(turn), 0.2, math.Pi}, {2, away - contact, 0.1, 1}, {1, beside, 0.1, 1}} {
		n := near(term.x, term.tolerance, term.margin)
		if sum += term.weight * (1 - n); term.x > term.tolerance {
			slopes[k] = term.weight * 9 / term.margin * n * n
		}
	}
	if d == nil {
		return sum, far
	}
	along := (toGoal[0]*behind[0] + toGoal[1]*behind[1]) / (least * least)
	for k := range 2 {
		tool := slopes[2]*toTool[k]/max(away, 1e-6) + slopes[3]*behind[k]/max(beside, 1e-6)
		d[k] += tool
		d[2+k] -= tool + slopes[0]*toGoal[k]/least +
			slopes[3]*contact/least*(behind[k]-along*toGoal[k])/max(beside, 1e-6)
	}
	d[4] -= slopes[1] * math.Copysign(1, turn)
	return sum, far
}
