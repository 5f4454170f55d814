package closedloop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

const (
	fewestFlown = 6     // stretches that say anything
	flownSettle = 10    // s, the beginning of a stretch that does not count: an integral takes as long
	flownSlack  = 0.05  // of the errors in flight: 5 ms change them by a tenth
	soonerStep  = 0.005 // s
	soonerSteps = 4     // 0 to 15 ms: delay and lag are found to 10 ms, and trials are later by 5 ms in the mean
)

// Sooner implements quadgate.Simulator.
func (j *Judge) Sooner(ctx context.Context, b *bundle.Bundle, flown []quadgate.Stretch) (gate.Judge, float64, error) {
	whole := slices.DeleteFunc(slices.Clone(flown), func(s quadgate.Stretch) bool {
		n := len(s.Rows)
		return s.Tripped || s.Dt != b.Dt || float64(n)*s.Dt < quadgate.StretchTime || len(s.Reference) != n
	})
	if len(j.identified) != 1 || len(whole) < fewestFlown {
		return j, 0, nil
	}
	for k := range soonerSteps {
		like := *j
		like.sooner = float64(k) * soonerStep
		if hard, err := like.tooHard(ctx, b, whole, len(whole) == len(flown)); !hard || err != nil {
			return &like, like.sooner, err
		}
	}
	return j, 0, nil // it is not that it answers late
}

// Record flies a bundle through a trial for as long as a stretch is, and returns what a controller shows of it.
func (j *Judge) Record(b *bundle.Bundle, t gate.Trial) (*quadgate.Stretch, error) {
	longer := *j
	longer.Seconds = quadgate.StretchTime
	s, path, err := longer.setup(b, t)
	if err != nil {
		return nil, err
	}
	trace, err := j.flies(s, b, path)
	if err != nil {
		return nil, err
	}
	if j.tripped(trace) {
		return &quadgate.Stretch{Tripped: true}, nil
	}
	out := &quadgate.Stretch{Dt: s.Tick}
	for i := range trace.Rows {
		r := &trace.Rows[i]
		out.Rows = append(out.Rows, quad.Row{T: r.T, State: r.Estimate, Command: r.Command})
		out.Reference = append(out.Reference, quad.Reference{P: r.Reference.P, V: r.Reference.V, Yaw: r.Reference.Yaw})
	}
	out.Rows[0].State = trace.Rows[0].Truth // no pose has come yet
	return out, nil
}

// tooHard reports whether a bundle is shown to err more along stretches here than it did in flight, or crashes in most
// of them. Where the guard ended others in flight, crashes say nothing.
func (j *Judge) tooHard(ctx context.Context, b *bundle.Bundle, flown []quadgate.Stretch, safely bool) (bool, error) {
	again := make([]reflown, len(flown))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(kernel.Workers())
	for i := range flown {
		g.Go(func() (err error) {
			again[i], err = j.again(ctx, b, &flown[i], uint64(i))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return false, err
	}
	var less []float64
	for _, r := range again {
		if !r.crashes {
			less = append(less, (1+flownSlack)*r.flown-r.again)
		}
	}
	if len(less) < fewestFlown {
		return safely && 2*len(less) < len(flown), nil
	}
	const level, resamples, stream = 0.95, 1000, 0xf10
	return gate.Bootstrap(less, level, resamples, rand.New(rand.NewPCG(stream, 0))).High < 0, nil
}

// reflown are the mean errors along a stretch, m, in flight and again.
type reflown struct {
	flown, again float64
	crashes      bool // again
}

// again flies a bundle along a stretch under the pushes that were felt there.
func (j *Judge) again(ctx context.Context, b *bundle.Bundle, s *quadgate.Stretch, number uint64) (out reflown,
	err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	const preview = 1 // s, for which a policy looks ahead
	path, rng := newRecorded(s), rand.New(rand.NewPCG(number, 0xa6a1))
	w, err := pushed(j.robot(number, rng), s.Pushes(&j.identified[0]))
	if err != nil {
		return out, err
	}
	setup := &Setup{World: w, Seed: number, Path: path, Tick: b.Dt, Limits: j.Limits, Filtered: j.Filter,
		Guard: j.Guard, Start: s.Rows[0].State, Seconds: float64(len(s.Rows))*s.Dt - preview}
	param.Default(&setup.Estimate)
	trace, err := j.flies(setup, b, path)
	if err != nil {
		return out, err
	}
	if j.tripped(trace) {
		return reflown{crashes: true}, nil
	}
	errors, from := s.Errors(), int(flownSettle/s.Dt+0.5)
	n := float64(len(trace.Rows) - from)
	for i := from; i < len(trace.Rows); i++ {
		out.flown += errors[i] / n
		out.again += trace.Rows[i].Error() / n
	}
	return out, nil
}

// tripped reports whether a flight ends in a crash, or the guard takes over in it.
func (j *Judge) tripped(t *Trace) bool {
	return t.Crash != "" || slices.ContainsFunc(t.Rows, func(r TraceRow) bool { return j.trips(&r.Truth) != "" })
}

// pushed is a world with a push of a second each, m/s².
func pushed(w sim.World, pushes []so3.Vec3) (sim.World, error) {
	var turns []sim.Switch
	w.Conditions = sim.Conditions{}
	for k, p := range pushes {
		const most = 30 // m/s², beyond which it is no wind
		c, name, p := &w.Conditions, fmt.Sprint("second ", k), p.Shorten(most)
		c.Name, c.WindX, c.WindY = append(c.Name, name), append(c.WindX, p.X), append(c.WindY, p.Y)
		turns = append(turns, sim.Switch{Start: float64(k), Condition: name})
	}
	return w.Scheduled(turns, 0)
}

// recorded is the reference of a stretch.
type recorded struct {
	dt float64
	at []quad.Reference // A is that of the velocities
}

func newRecorded(s *quadgate.Stretch) *recorded {
	r := &recorded{s.Dt, slices.Clone(s.Reference)}
	for i := range r.at {
		lo, hi := max(0, i-1), min(len(r.at)-1, i+1)
		r.at[i].A = s.Reference[hi].V.Sub(s.Reference[lo].V).Scale(1 / (float64(hi-lo) * s.Dt))
	}
	return r
}

// At implements Path. Beyond its end the reference goes straight on.
func (r *recorded) At(t float64) quad.Reference {
	const rounding = 1e-6
	k := min(max(int(t/r.dt+rounding), 0), len(r.at)-1)
	at, dt := r.at[k], max(0, t-float64(k)*r.dt)
	at.P = at.P.Add(at.V.Scale(dt)).Add(at.A.Scale(dt * dt / 2))
	at.V = at.V.Add(at.A.Scale(dt))
	return at
}
