package policy

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// swing tells a push that comes and goes at one rhythm from gusts. A load on a cable pushes so, and a policy that
// answers late swings it up: where it pulls, the answer comes when it pulls the other way. Of such a push the policy
// sees what stays. So it does of noise, which a mean of pushes shows with the other sign once as much time has passed.
// The zero value has seen nothing.
type swing struct {
	slow  so3.Vec3               // the push, followed at Push.Swing
	calm  so3.Vec3               // the same at Push.Calm
	mean  so3.Vec3               // the same at swingMean
	moves [2 * slowRows]so3.Vec3 // what goes beyond the mean: a ring
	held  [2 * slowRows]bool     // whether the robot held a place in each of those rows
	rows  int                    // that came in
	power float64                // mean square of moves; all means are over swingMemory
	next  float64                // mean product of moves Push.Mean apart
	half  [rhythms]pairs         // moves half a period apart, of each rhythm, where a place is held
	whole [rhythms]pairs         // the same of a period
	off   float64                // share of the memory in which the robot holds a place, and is far from it
	holds float64                // share in which it holds one
	drift drift                  // of the mean from slow
	sure  float64                // s for which it goes on to be a swing, for it was one
	found float64                // how much of a swing it is, 0 to 1
}

// pairs of moves in two rows: means of their product, and of their squares.
type pairs struct {
	product, square float64
	weight          float64 // how much of the memory they are
}

// alike is 1 of pairs that are the same, −1 of opposite ones, and 0 where they are no more than few of the memory.
func (p *pairs) alike(few float64) float64 {
	if !(p.square > 0 && p.weight > few) {
		return 0
	}
	return p.product / p.square
}

// Rhythms have half periods of .3, .4 … 1.2 s: those of loads on cables of 10 cm to 1.4 m, and of slow limit cycles.
const (
	rhythms     = 10
	fastestHalf = 0.3  // s
	halfStep    = 0.1  // s
	swingMean   = 2.0  // rad/s
	swingMemory = 4    // s
	swingStays  = 30   // s, for which what was a swing is hidden: a load goes on where steps hide its rhythm
	swingLeaves = 5    // s of them, in which it is shown again by degrees
	swingLeft   = 9    // s of them at most, where a wind has come or gone: a swing that goes on is found by then
	windOff     = 0.5  // m/s², off by which to one side the push is not what was: a wind came or went
	windLasts   = 1.5  // s of that: the slowest swing is back on the other side before
	farOff      = 0.02 // m from a place that is held: of gusts a robot is near it most of the time
	slowRows    = 128  // of half a period, at most
)

// add takes the push of a row, dt seconds after the last one, as it is followed at Push.Rate. It takes whether the
// robot holds a place, too, and how far off that it is, m. On its way to one what moves is of the way: weak motors fall
// short in each step.
func (w *swing) add(k *Push, push so3.Vec3, dt float64, holds bool, off float64) {
	if k.Swing == 0 && k.Calm == 0 {
		return
	}
	follow := func(of *so3.Vec3, rate float64) { *of = of.Add(push.Sub(*of).Scale(1 - math.Exp(-rate*dt))) }
	follow(&w.slow, k.Swing)
	follow(&w.calm, k.Calm)
	follow(&w.mean, swingMean)
	move := push.Sub(w.mean)
	w.moves[w.rows%len(w.moves)], w.held[w.rows%len(w.held)] = move, holds
	keep := math.Exp(-dt / swingMemory)
	average := func(of *float64, x float64) { *of = x + keep*(*of-x) }
	average(&w.power, move.Dot(move))
	before, _ := w.before(k.rows(dt))
	average(&w.next, move.Dot(before))
	pair := func(of *pairs, rows int) {
		var product, square, weight float64
		if before, held := w.before(rows); holds && held {
			product, square, weight = move.Dot(before), (move.Dot(move)+before.Dot(before))/2, 1
		}
		average(&of.product, product)
		average(&of.square, square)
		average(&of.weight, weight)
	}
	for i := range rhythms {
		rows := int((fastestHalf+halfStep*float64(i))/dt + 0.5)
		pair(&w.half[i], rows)
		pair(&w.whole[i], 2*rows)
	}
	if holds {
		average(&w.holds, 1)
		average(&w.off, 0)
		if off > farOff {
			w.off += 1 - keep
		}
	}
	w.judge(dt, holds)
	w.rows++
}

// judge finds how much of a swing it is. What comes and goes is sooner one where the robot is far off the place that it
// holds: of gusts it is not. Where a wind has come or gone, the swing may have.
func (w *swing) judge(dt float64, holds bool) {
	const gusts, swings, sure = 0.3, 0.5, 0.55
	const few, enough = 0.05, 0.1 // of the memory: .2 s and .4 s
	least := sure
	if w.off > w.holds/2 { // most of the time: a gust is answered soon
		least = gusts
	}
	if w.sure = max(0, w.sure-dt); holds && w.share(enough) > least {
		w.sure = swingStays
	}
	if w.drift.add(w.mean.Sub(w.slow), dt) > windLasts {
		w.slow, w.drift = w.slow.Add(w.drift.sum.Scale(dt/w.drift.time)), drift{}
		w.sure = min(w.sure, swingLeft)
	}
	w.found = min(max((w.share(few)-gusts)/(swings-gusts), w.sure/swingLeaves, 0), 1)
}

// drift is a vector that is off to one side.
type drift struct {
	side so3.Vec3 // where it was off to first
	time float64  // s
	sum  so3.Vec3 // of the vector in its rows
}

// add takes the vector dt seconds later, and returns for how long it has been off to that side.
func (d *drift) add(off so3.Vec3, dt float64) float64 {
	if off.Norm() < windOff || off.Dot(d.side) <= 0 {
		*d = drift{side: off}
	}
	d.time += dt
	d.sum = d.sum.Add(off)
	return d.time
}

// before is the move so many rows before the newest one, and whether a place was held then; nothing where there was
// none or it is forgotten.
func (w *swing) before(rows int) (move so3.Vec3, held bool) {
	if rows > w.rows || rows >= len(w.moves) {
		return move, false
	}
	at := (w.rows - rows) % len(w.moves)
	return w.moves[at], w.held[at]
}

// share is how much of what moves comes and goes at one rhythm: of a pure one 1, of gusts about 0 and hardly ever .4.
// Of a few rows it says little.
func (w *swing) share(few float64) (share float64) {
	for i := range rhythms {
		share = max(share, (w.whole[i].alike(few)-w.half[i].alike(few))/2)
	}
	return share
}

// noise is how much of a push is noise, as what moves has been for the last seconds. A push that goes far beyond that
// is none.
func (w *swing) noise(push so3.Vec3) float64 {
	const noise, gusts, far = -0.3, -0.1, 5
	if !(w.power > 0) {
		return 0
	}
	off := push.Sub(w.calm)
	share := min(max((gusts-w.next/w.power)/(gusts-noise), 0), 1)
	return share * min(1, far*w.power/off.Dot(off))
}

// of is what a policy sees of a push of which a share of what moves is hidden.
func (w *swing) of(k *Push, push so3.Vec3, hidden float64) so3.Vec3 {
	if k.Calm > 0 {
		push = push.Add(w.calm.Sub(push).Scale(w.noise(push)))
	}
	return push.Add(w.slow.Sub(push).Scale(hidden))
}

// hidden is how much of what comes and goes a policy does not see in hover, from 0 to 1. Along a path it sees all:
// there most of it is of the path, as weak motors fall short in each turn.
func (w *swing) hidden(k *Push, speed float64) float64 {
	if k.Swing == 0 {
		return 0
	}
	return w.found * max(0, 1-speed/pathSpeed)
}

// arrival tells a robot that holds a place from one on its way there. The zero value has not arrived.
type arrival struct {
	goal  so3.Vec3 // m, where it was when it moved last
	moved float64  // s since then
	there float64  // s for which the robot has been near it, or should have been
}

// step takes what is ahead of a robot at a place, dt seconds later, and reports whether it holds a place.
func (a *arrival) step(ahead []quad.Reference, p so3.Vec3, dt float64) bool {
	const (
		near    = 0.1 // m
		arrives = 2.0 // s, in which it gets near a goal that has moved
		settles = 1.0 // s, in which what it does there comes to rest
	)
	goal := ahead[0].P
	if goal.Sub(a.goal).Norm() > near || ahead[len(ahead)-1].P.Sub(goal).Norm() > near {
		a.goal, a.moved, a.there = goal, 0, 0
	}
	a.moved += dt
	if a.there += dt; a.moved < arrives && goal.Sub(p).Norm() > near {
		a.there = 0
	}
	return a.there > settles
}
