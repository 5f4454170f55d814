package policy

import (
	"math"

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
	rows  int                    // that came in
	power float64                // mean square of moves; all means are over swingMemory
	half  [rhythms]float64       // mean product of moves half a period apart, of each rhythm
	whole [rhythms]float64       // the same of a period
	next  float64                // the same of moves Push.Mean apart
}

// Rhythms have half periods of .3, .4 … 1.2 s: those of loads on cables of 10 cm to 1.4 m, and of slow limit cycles.
const (
	rhythms     = 10
	fastestHalf = 0.3 // s
	halfStep    = 0.1 // s
	swingMean   = 2.0 // rad/s
	swingMemory = 4   // s
	slowRows    = 128 // of half a period, at most
)

// add takes the push of a row, dt seconds after the last one, as it is followed at Push.Rate.
func (w *swing) add(k *Push, push so3.Vec3, dt float64) {
	if k.Swing == 0 && k.Calm == 0 {
		return
	}
	follow := func(of *so3.Vec3, rate float64) { *of = of.Add(push.Sub(*of).Scale(1 - math.Exp(-rate*dt))) }
	follow(&w.slow, k.Swing)
	follow(&w.calm, k.Calm)
	follow(&w.mean, swingMean)
	move := push.Sub(w.mean)
	w.moves[w.rows%len(w.moves)] = move
	keep := math.Exp(-dt / swingMemory)
	average := func(of *float64, x float64) { *of = x + keep*(*of-x) }
	average(&w.power, move.Dot(move))
	average(&w.next, move.Dot(w.before(k.rows(dt))))
	for i := range rhythms {
		rows := int((fastestHalf+halfStep*float64(i))/dt + 0.5)
		average(&w.half[i], move.Dot(w.before(rows)))
		average(&w.whole[i], move.Dot(w.before(2*rows)))
	}
	w.rows++
}

// before is the move so many rows before the newest one, nothing where there was none or it is forgotten.
func (w *swing) before(rows int) (move so3.Vec3) {
	if rows > w.rows || rows >= len(w.moves) {
		return move
	}
	return w.moves[(w.rows-rows)%len(w.moves)]
}

// share is how much of what moves comes and goes at one rhythm: of a pure one 1, of gusts about 0 and hardly ever .4.
func (w *swing) share() (share float64) {
	if !(w.power > 0) {
		return 0
	}
	for i := range rhythms {
		share = max(share, (w.whole[i]-w.half[i])/(2*w.power))
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
	const gusts, swings = 0.3, 0.5
	if k.Swing == 0 {
		return 0
	}
	return min(max((w.share()-gusts)/(swings-gusts), 0), 1) * max(0, 1-speed/pathSpeed)
}
