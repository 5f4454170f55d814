package pendulum

import (
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// Hold is a task: to bring a pendulum to an angle and keep it there. A policy sees the error of the angle by sine and
// cosine, the rate, sine and cosine of the angle to keep, and the past actions.
type Hold[F kernel.Float] struct {
	Angles  float64 // angles to keep are drawn from ±Angles, rad
	Spread  float64 // standard deviation of the first angle around it, rad, and of the first rate, rad/s
	Rate    float64 // weight of the squared rate, beside 1 of the squared error
	Change  float64 // weight of the squared change of the torque
	Actions int     // past actions that a policy sees
	robot.Bounds
}

const nO = 5 // of an observation, without actions

// Size implements robot.Task.
func (k *Hold[F]) Size() int { return nO + k.Actions }

// Past implements robot.Task.
func (k *Hold[F]) Past() int { return k.Actions }

// Flag implements robot.Task: there is none.
func (k *Hold[F]) Flag(int) bool { return false }

// DisturbanceSize implements robot.Task.
func (k *Hold[F]) DisturbanceSize() int { return 0 }

// NewEpisodes implements robot.Task.
func (k *Hold[F]) NewEpisodes(_ float64, maxB, _ int) robot.Episodes[F] {
	return &episodes[F]{Hold: k, target: make([]F, maxB)}
}

type episodes[F kernel.Float] struct {
	*Hold[F]
	B      int
	target []F // [B] angles to keep
}

// Begin implements robot.Episodes.
func (e *episodes[F]) Begin(B, _ int) { e.B = B }

// Draw implements robot.Episodes.
func (e *episodes[F]) Draw(b int, rng *rand.Rand, s []F) robot.Bounds {
	angle := e.Angles * (2*rng.Float64() - 1)
	e.target[b] = F(angle)
	s[0], s[1] = wrap(F(angle+e.Spread*rng.NormFloat64())), F(e.Spread*rng.NormFloat64())
	return e.Bounds
}

// DrawSensors implements robot.Episodes: they do nothing wrong.
func (e *episodes[F]) DrawSensors(*rand.Rand) {}

// Observe implements robot.Episodes.
func (e *episodes[F]) Observe(_ int, s, past, x []F, width int) {
	for b := range e.B {
		row := x[b*width:][:e.Size()]
		row[0], row[1] = sincos(s[nS*b] - e.target[b])
		row[2] = s[nS*b+1]
		row[3], row[4] = sincos(e.target[b])
		for k := range e.Actions {
			row[nO+k] = past[(e.Actions-1-k)*e.B+b]
		}
	}
}

// ObserveVJP implements robot.Episodes.
func (e *episodes[F]) ObserveVJP(_ int, s, dx []F, width int, ds, dpast []F) {
	for b := range e.B {
		row := dx[b*width:][:e.Size()]
		sin, cos := sincos(s[nS*b] - e.target[b])
		ds[nS*b] += row[0]*cos - row[1]*sin
		ds[nS*b+1] += row[2]
		for k := range e.Actions {
			dpast[(e.Actions-1-k)*e.B+b] += row[nO+k]
		}
	}
}

// Costs implements robot.Episodes.
func (e *episodes[F]) Costs(_ int, t *robot.Transition[F], cost, off []F) {
	for b := range e.B {
		x, rate, change := wrap(t.S1[nS*b]-e.target[b]), t.S1[nS*b+1], t.A[b]-t.Last[b]
		cost[b] = x*x + F(e.Rate)*rate*rate + F(e.Change)*change*change
		off[b] = x*x + rate*0
	}
}

// CostsVJP implements robot.Episodes.
func (e *episodes[F]) CostsVJP(_ int, t *robot.Transition[F], scale []F, g *robot.Transition[F]) {
	for b, w := range scale {
		if w == 0 {
			continue
		}
		g.S1[nS*b] += 2 * w * wrap(t.S1[nS*b]-e.target[b])
		g.S1[nS*b+1] += 2 * w * F(e.Rate) * t.S1[nS*b+1]
		change := 2 * w * F(e.Change) * (t.A[b] - t.Last[b])
		g.A[b] += change
		g.Last[b] -= change
	}
}

// NonFiniteTerm implements robot.Episodes.
func (e *episodes[F]) NonFiniteTerm(_ int, t *robot.Transition[F], b int) string {
	for name, x := range map[string]F{"angle": t.S1[nS*b], "rate": t.S1[nS*b+1], "change": t.A[b] - t.Last[b]} {
		if x*0 != 0 {
			return name
		}
	}
	return ""
}

var _ robot.Task[float32] = (*Hold[float32])(nil)
