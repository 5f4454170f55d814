package quadrotor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/kernel"
)

// Flatten writes the rows of a segment as measured[N][M] and actions[N][A] of the quadrotor.
func Flatten[F float32 | float64](rows []quad.Row) (measured, actions []F) {
	measured, actions = make([]F, len(rows)*nM), make([]F, len(rows)*nA)
	for i := range rows {
		Measured(&rows[i].State, measured[i*nM:])
		Action(&rows[i].Command, actions[i*nA:])
	}
	return measured, actions
}

// Action writes (T, ω) to a[A].
func Action[F float32 | float64](c *quad.Command, a []F) {
	a[0], a[1], a[2], a[3] = F(c.Thrust), F(c.Rates.X), F(c.Rates.Y), F(c.Rates.Z)
}

// Measured writes (p, q, v) to m[M].
func Measured[F float32 | float64](s *quad.State, m []F) {
	m[iP], m[iP+1], m[iP+2] = F(s.P.X), F(s.P.Y), F(s.P.Z)
	m[iQ], m[iQ+1], m[iQ+2], m[iQ+3] = F(s.Q.W), F(s.Q.X), F(s.Q.Y), F(s.Q.Z)
	m[iV], m[iV+1], m[iV+2] = F(s.V.X), F(s.V.Y), F(s.V.Z)
}

// State reads (p, q, v) from m[M].
func State[F float32 | float64](m []F) (s quad.State) {
	s.P.X, s.P.Y, s.P.Z = float64(m[iP]), float64(m[iP+1]), float64(m[iP+2])
	s.Q.W, s.Q.X, s.Q.Y, s.Q.Z = float64(m[iQ]), float64(m[iQ+1]), float64(m[iQ+2]), float64(m[iQ+3])
	s.V.X, s.V.Y, s.V.Z = float64(m[iV]), float64(m[iV+1]), float64(m[iV+2])
	return s
}

const (
	identifyRows        = 50000 // about a quarter of an hour; evenly chosen pieces stand for more
	pieceRows           = 500
	identifyEvaluations = 400
	identifyStride      = 25 // rows between starts
	identifySteps       = 50
	windowRows          = 20

	// standard deviations within pieces, from which on a thrust gain and a lag of yaw can be told
	excitedThrust = 0.5  // m/s²
	excitedYaw    = 0.05 // rad/s
)

// Identify finds the actuator by Nelder–Mead search on recorded flights: it minimises the open-loop error of velocity
// and attitude after 10, 25 and 50 steps, each relative to that of the nominal actuator, where the mean one-step
// residual of the 20 rows before the start is held as a constant correction, so that wind or a session's thrust gain is
// not mistaken for the actuator's. Stretches shorter than 71 rows are passed over; without any, the nominal actuator is
// returned. The thrust gain stays 1 where thrust hardly varies: the feedback of a steady hover answers disturbances, so
// that thrust seems to have no effect (Ljung, System Identification, 13.4: closed-loop data). Yaw has the lag of the
// other rates where it is hardly commanded. The error is ctx's, or that of the search.
func Identify(ctx context.Context, dt float64, segments [][]quad.Row) (Actuator, error) {
	w := newRecordings(segments)
	best := NominalActuator()
	if len(w.rows) == 0 {
		return best, ctx.Err()
	}
	scale := w.errors(dt, best)
	lifted, turned := w.deviation(0) >= excitedThrust, w.deviation(3) >= excitedYaw
	found := func(x []float64) Actuator {
		a := actuatorOf(x)
		if !lifted {
			a.ThrustGain = best.ThrustGain
		}
		if !turned {
			a.YawLag = best.YawLag
		}
		return a
	}
	cost := func(x []float64) (c float64) {
		if ctx.Err() != nil {
			return math.Inf(1)
		}
		for i, e := range w.errors(dt, found(x)) {
			c += e / scale[i]
		}
		return c
	}
	// Delay and lag trade against each other along a narrow valley, where a search along coordinates stops early.
	search := &optimize.NelderMead{SimplexSize: 1}
	result, err := optimize.Minimize(optimize.Problem{Func: cost}, make([]float64, 7),
		&optimize.Settings{FuncEvaluations: identifyEvaluations}, search)
	if err := ctx.Err(); err != nil {
		return best, err
	}
	if result == nil {
		return best, fmt.Errorf("identify the actuator: %w", err)
	}
	return found(result.X), nil // err is only that the evaluations are used up
}

// Follow returns the actuator of a robot's newest flights, where they show another than that of before, and else that
// of before. The newest two minutes count. Of their pieces every other one identifies; on those between, the errors
// have to be less by a tenth: a response that was read from what happened to be flown fails there. Errors are as of
// Identify. Gains stay: loads and batteries change them, which latents tell, and a log of wrong thrust looks like one.
func Follow(ctx context.Context, dt float64, segments [][]quad.Row, before Actuator) (Actuator, error) {
	const newest, least, better = 6000, 2, 0.9 // rows; pieces of each kind; share of the errors
	var parts [2][][]quad.Row
	pieces, rows := piecesOf(segments), 0
	for i := len(pieces) - 1; i >= 0 && rows < newest; i-- {
		rows += len(pieces[i])
		parts[i%2] = append(parts[i%2], pieces[i])
	}
	if len(parts[0]) < least || len(parts[1]) < least {
		return before, ctx.Err()
	}
	found, err := Identify(ctx, dt, parts[0])
	if err != nil {
		return before, err
	}
	found.ThrustGain, found.RateGain = before.ThrustGain, before.RateGain
	w := newRecordings(parts[1])
	was, share := w.errors(dt, before), 0.
	for i, e := range w.errors(dt, found) {
		share += e / was[i] / float64(len(was))
	}
	if share < better {
		return found, nil
	}
	return before, nil
}

// actuatorOf maps unbounded search coordinates, in steps of the search, to an actuator within its ranges.
func actuatorOf(x []float64) Actuator {
	within := func(v, hi float64) float64 { return math.Min(math.Abs(v), hi) }
	return Actuator{
		ThrustGain: within(1+.1*x[0], 2), ThrustDelay: within(.5*x[1], MaxDelay), ThrustLag: within(.05*x[2], .3),
		RateGain: within(1+.1*x[3], 2), RateDelay: within(.5*x[4], MaxDelay), RateLag: within(.02*x[5], .3),
		YawLag: within(.05*x[6], .3)}
}

// recordings are the segments to identify from, flat, with the rows to start from.
type recordings struct {
	measured, actions [][]float64
	rows              []int
}

// piecesOf cuts segments into pieces, and leaves out those that are too short.
func piecesOf(segments [][]quad.Row) (pieces [][]quad.Row) {
	for _, s := range segments {
		for p := range slices.Chunk(s, pieceRows) {
			if len(p) > windowRows+identifySteps {
				pieces = append(pieces, p)
			}
		}
	}
	return pieces
}

func newRecordings(segments [][]quad.Row) *recordings {
	pieces, total := piecesOf(segments), 0
	for _, p := range pieces {
		total += len(p)
	}
	w := &recordings{}
	for i := 0; i < len(pieces); i += 1 + (total-1)/identifyRows {
		m, a := Flatten[float64](pieces[i])
		w.measured, w.actions, w.rows = append(w.measured, m), append(w.actions, a), append(w.rows, len(pieces[i]))
	}
	return w
}

// deviation is the standard deviation of number j of the commands about the mean of each piece.
func (w *recordings) deviation(j int) float64 {
	var squares, n float64
	for i, rows := range w.rows {
		given := make([]float64, rows)
		for k := range given {
			given[k] = w.actions[i][k*nA+j]
		}
		_, v := stat.PopMeanVariance(given, nil)
		squares, n = squares+v*float64(rows), n+float64(rows)
	}
	return math.Sqrt(squares / n)
}

// errors returns the summed square errors of velocity (three horizons) and attitude (three horizons). Workers take
// segments in turn and their sums meet in a fixed order.
func (w *recordings) errors(dt float64, act Actuator) (sum [6]float64) {
	workers := kernel.Workers()
	parts := make([][6]float64, len(w.rows))
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			sys := NewQuadrotor[float64](dt, act).InWorld() // wind is constant in the world
			for i := k; i < len(w.rows); i += workers {
				parts[i] = w.segment(sys, i)
			}
		})
	}
	wg.Wait()
	for _, p := range parts {
		for i := range sum {
			sum[i] += p[i]
		}
	}
	return sum
}

// segment filters the actuator along the whole segment, so that no start is spoilt by an unsettled lag, and sums the
// errors of the rollouts from every stride-th row.
func (w *recordings) segment(sys *Quadrotor[float64], i int) (sum [6]float64) {
	n := w.rows[i]
	states, r, last := make([]float64, (n-1)*nS), make([]float64, (n-1)*nU), make([]float64, nS)
	sys.Window(n-1, w.measured[i], w.actions[i], last, nil, states, r)
	for k := windowRows; k+identifySteps < n; k += identifyStride {
		var d [nU]float64
		for t := k - windowRows; t < k; t++ {
			for j := uV; j < nU; j++ {
				d[j] += r[t*nU+j] / windowRows
			}
		}
		rollout(sys, states[k*nS:][:nS], w.actions[i][k*nA:], w.measured[i][k*nM:], &d, &sum)
	}
	return sum
}

func rollout(sys *Quadrotor[float64], start, actions, measured []float64, d *[nU]float64, sum *[6]float64) {
	var s, next [nS]float64
	var e [nU]float64
	copy(s[:], start)
	for h := 1; h <= identifySteps; h++ {
		sys.step(s[:], actions[(h-1)*nA:], d[:], next[:])
		s = next
		var i int
		switch h {
		case 10:
			i = 0
		case 25:
			i = 1
		case 50:
			i = 2
		default:
			continue
		}
		sys.Minus(1, s[:], nS, measured[h*nM:], nM, e[:])
		for j := range 3 {
			sum[i] += e[uV+j] * e[uV+j]
			sum[i+3] += e[uR+j] * e[uR+j]
		}
	}
}
