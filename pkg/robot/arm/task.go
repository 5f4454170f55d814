package arm

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// Cost is the paper's of end-effector tracking ("Franka end-effector tracking"): weights of terms. Errors e of position
// and orientation cost 1 − exp(−β e).
type Cost struct {
	Position    float64 // of the tool's error, m
	Orientation float64 // of the angle between its axes and those of the reference, rad
	Sharpness   float64 // β, of both
	Action      float64 // of squared torques, in the joints' most
	Limit       float64 // of each joint within Margin of a limit
	Margin      float64 // rad
	Blunt       float64 // error, m and rad, below which the cost is smooth
}

// PaperCost is the paper's.
var PaperCost = Cost{Position: 3, Orientation: 0.3, Sharpness: 5, Action: 0.01, Limit: 1, Margin: 0.05, Blunt: 0.0005}

// Track is a task: to follow references with the tool. A policy sees angles and rates, how far they are from those of
// the reference, the reference's acceleration, the tool's error, and past actions.
type Track[F kernel.Float] struct {
	Cost
	References []*Reference
	Spread     float64 // standard deviation of the first angles, rad, and rates, rad/s, around the reference
	Actions    int     // past actions that a policy sees
	robot.Bounds
}

// Observed is how many numbers of an observation are not past actions.
const Observed = 5*Joints + 3

const (
	nO   = Observed
	fine = 10 // errors of angles and tool are seen in tenths of rad and m
)

// Size implements robot.Task.
func (k *Track[F]) Size() int { return nO + nA*k.Actions }

// Past implements robot.Task.
func (k *Track[F]) Past() int { return k.Actions }

// Flag implements robot.Task: there is none.
func (k *Track[F]) Flag(int) bool { return false }

// DisturbanceSize implements robot.Task.
func (k *Track[F]) DisturbanceSize() int { return 0 }

// NewEpisodes implements robot.Task.
func (k *Track[F]) NewEpisodes(_ float64, maxB, _ int) robot.Episodes[F] {
	c := Panda()
	return &episodes[F]{Track: k, chain: c, pose: c.NewPose(), each: make([]follow, maxB)}
}

type episodes[F kernel.Float] struct {
	*Track[F]
	B     int
	chain *Chain
	pose  Pose
	q     [Joints]float64
	each  []follow // [B]
}

// follow is what an episode follows: a reference from a row on.
type follow struct {
	*Reference
	from int
}

// Begin implements robot.Episodes.
func (e *episodes[F]) Begin(B, _ int) { e.B = B }

// Draw implements robot.Episodes.
func (e *episodes[F]) Draw(b int, rng *rand.Rand, s []F) robot.Bounds {
	r := e.References[rng.IntN(len(e.References))]
	e.each[b] = follow{r, rng.IntN(len(r.Rows))}
	first := r.at(e.each[b].from)
	for j := range Joints {
		s[j] = F(first.Q[j] + e.Spread*rng.NormFloat64())
		s[Joints+j] = F(first.V[j] + e.Spread*rng.NormFloat64())
	}
	return e.Bounds
}

// DrawSensors implements robot.Episodes: they do nothing wrong.
func (e *episodes[F]) DrawSensors(*rand.Rand) {}

// place brings the pose to that of a state, and returns what episode b follows at step h.
func (e *episodes[F]) place(b, h int, s []F) *Target {
	for j := range e.q {
		e.q[j] = float64(s[j])
	}
	e.chain.Place(e.q[:], &e.pose)
	return e.each[b].at(e.each[b].from + h)
}

// Observe implements robot.Episodes.
func (e *episodes[F]) Observe(h int, s, past, x []F, width int) {
	for b := range e.B {
		row, now := x[b*width:][:e.Size()], s[b*nS:][:nS]
		to := e.place(b, h, now)
		Observe(now, e.pose.Tool, to, row)
		for k := range e.Actions {
			copy(row[nO+nA*k:], past[((e.Actions-1-k)*e.B+b)*nA:][:nA])
		}
	}
}

// Observe writes to x[Observed] what a policy sees of a state s[S], with the tool there, and of its target.
func Observe[F kernel.Float](s []F, tool so3.Vec3, to *Target, x []F) {
	copy(x, s[:nS])
	for j := range Joints {
		x[nS+j] = fine * (s[j] - F(to.Q[j]))
		x[nS+Joints+j] = s[Joints+j] - F(to.V[j])
		x[2*nS+j] = F(to.A[j])
	}
	off := tool.Sub(to.Tool).Scale(fine)
	x[nO-3], x[nO-2], x[nO-1] = F(off.X), F(off.Y), F(off.Z)
}

// Seen is an observation by its parts.
type Seen struct {
	Q, V       [Joints]float64 // rad, rad/s
	OffQ, OffV [Joints]float64 // by which they are beyond those of the reference
	A          [Joints]float64 // of the reference until the next row, rad/s²
}

// See reads what a policy sees.
func See[F kernel.Float](x []F) (o Seen) {
	for i, to := range []*[Joints]float64{&o.Q, &o.V, &o.OffQ, &o.OffV, &o.A} {
		for j := range to {
			to[j] = float64(x[i*Joints+j])
		}
	}
	for j := range Joints {
		o.OffQ[j] /= fine
	}
	return o
}

// ObserveVJP implements robot.Episodes.
func (e *episodes[F]) ObserveVJP(h int, s, dx []F, width int, ds, dpast []F) {
	for b := range e.B {
		row, g := dx[b*width:][:e.Size()], ds[b*nS:][:nS]
		e.place(b, h, s[b*nS:])
		kernel.Axpy(1, row[:nS], g)
		kernel.Axpy(fine, row[nS:][:Joints], g)
		kernel.Axpy(1, row[nS+Joints:2*nS], g[Joints:])
		tool := so3.Vec3{X: float64(row[nO-3]), Y: float64(row[nO-2]), Z: float64(row[nO-1])}
		e.pull(tool.Scale(fine), so3.Vec3{}, g)
		for k := range e.Actions {
			kernel.Axpy(1, row[nO+nA*k:][:nA], dpast[((e.Actions-1-k)*e.B+b)*nA:][:nA])
		}
	}
}

// pull adds to the gradient of a state that of the pose.
func (e *episodes[F]) pull(dx, turn so3.Vec3, ds []F) {
	var dq [Joints]float64
	e.pose.Pull(dx, turn, dq[:])
	for j, g := range dq {
		ds[j] += F(g)
	}
}

// sharp is the cost of an error, with its gradient by that.
func (c *Cost) sharp(weight float64, err so3.Vec3) (cost float64, grad so3.Vec3) {
	root := math.Sqrt(err.Dot(err) + c.Blunt*c.Blunt)
	left := weight * math.Exp(-c.Sharpness*(root-c.Blunt))
	return weight - left, err.Scale(c.Sharpness * left / root)
}

// beyond is how far joint j at angle q is into the margin of a limit, in margins, with its sign.
func (e *episodes[F]) beyond(j int, q float64) float64 {
	l := &e.chain.Links[j]
	return (max(0, q-l.Max+e.Margin) - max(0, l.Min+e.Margin-q)) / e.Margin
}

// errors are those of the tool in the world: position, m, and the rotation vector from the reference's axes to its own.
func (e *episodes[F]) errors(b, h int, s []F) (position, turn so3.Vec3) {
	to := e.place(b, h, s)
	turned := e.pose.Turn.Mul(e.each[b].Turn.T())
	return e.pose.Tool.Sub(to.Tool), so3.Log(so3.FromMat3(turned))
}

// Costs implements robot.Episodes.
func (e *episodes[F]) Costs(h int, t *robot.Transition[F], cost, off []F) {
	for b := range e.B {
		s := t.S1[b*nS:][:nS]
		position, turn := e.errors(b, h+1, s)
		sum, _ := e.sharp(e.Position, position)
		turned, _ := e.sharp(e.Orientation, turn)
		sum += turned
		for j := range Joints {
			u := float64(t.A[b*nA+j]) / e.chain.Links[j].Torque
			sum += e.Action*u*u + e.Limit*math.Abs(e.beyond(j, float64(s[j])))
		}
		cost[b], off[b] = F(sum), F(position.Dot(position))
		for _, x := range s {
			off[b] += x * 0
		}
	}
}

// CostsVJP implements robot.Episodes.
func (e *episodes[F]) CostsVJP(h int, t *robot.Transition[F], scale []F, g *robot.Transition[F]) {
	for b, w := range scale {
		if w == 0 {
			continue
		}
		s, ds := t.S1[b*nS:][:nS], g.S1[b*nS:][:nS]
		position, turn := e.errors(b, h+1, s)
		_, dx := e.sharp(e.Position, position)
		_, dturn := e.sharp(e.Orientation, turn)
		e.pull(dx.Scale(float64(w)), dturn.Scale(float64(w)), ds)
		for j := range Joints {
			most := e.chain.Links[j].Torque
			g.A[b*nA+j] += w * F(2*e.Action*float64(t.A[b*nA+j])/(most*most))
			if x := e.beyond(j, float64(s[j])); x != 0 {
				ds[j] += w * F(math.Copysign(e.Limit/e.Margin, x))
			}
		}
	}
}

// NonFiniteTerm implements robot.Episodes.
func (e *episodes[F]) NonFiniteTerm(_ int, t *robot.Transition[F], b int) string {
	for j := range Joints {
		switch {
		case t.S1[b*nS+j]*0 != 0:
			return "angle"
		case t.S1[b*nS+Joints+j]*0 != 0:
			return "rate"
		case t.A[b*nA+j]*0 != 0:
			return "torque"
		}
	}
	return ""
}

var _ robot.Task[float32] = (*Track[float32])(nil)
