package policy

import (
	"math"
	"slices"

	"vnd/pkg/core/so3"
)

// lag tells how much later than the model expects a robot turns after its commands: a link that is slow, an autopilot
// that is soft. It compares turns with what the model expected some half rows before and after. That is maximum
// likelihood of white noise of any strength, with forgetting. As far as none of that explains the turns, the lag is
// unknown: so it is of states that are made of commands. A robot that hardly turns is taken for prompt. So is one that
// turns up to two rows sooner: else, shaking, it would look late by a period less. The zero value has seen nothing.
type lag struct {
	turns    [soonRows + 1]so3.Vec3   // the newest first, rad in the body
	expected [shiftRows]so3.Vec3      // turns by the model, the same
	known    int                      // of them
	rows     float64                  // that have been compared and are not forgotten
	power    float64                  // sum of the squares of their turns
	squares  [2*shiftRows - 1]float64 // of what is left of their turns, by half rows from the soonest on
}

const (
	lagRows   = 8 // 0 … 7 rows late
	soonRows  = 2 // by which a robot may be sooner than the model expects
	shiftRows = soonRows + lagRows
	lagMemory = 1.5   // s
	leastTurn = 0.002 // rad; what is left of a turn is not less
	mostTurn  = 0.05  // rad; what is left of one counts as no more
	leastLag  = 0.005 // s, unit that a policy may see; in less its numbers drown all others
	lagPrior  = 1     // by which each half row away from the model is less likely beforehand, as a logarithm

	// unknownLag is what an unknown lag is taken for, rows: a policy that is told so flies prompt robots, and those
	// that are four rows late. One row less costs a late robot more than it gains a prompt one, one more the other way
	// about (docs/decisions/0051).
	unknownLag = 2
	fewRows    = 10     // of as many rows chance explains half
	quietTurn  = 0.0065 // rad; what is left of a turn need not be explained: in hover weak rotors leave .0055
	guessed    = 0.3    // share of the turns' power that chance explains of more
	certain    = 0.6    // share from which on there is no doubt
)

// add takes the turn of a row of dt seconds, and the one that the model expected. Yaw is too slow to tell anything.
func (l *lag) add(turn, expected so3.Vec3, dt float64) {
	if !turn.Finite() || !expected.Finite() {
		l.known = 0
		return
	}
	copy(l.turns[1:], l.turns[:])
	copy(l.expected[1:], l.expected[:])
	l.turns[0], l.expected[0] = turn, expected
	if l.known = min(l.known+1, shiftRows); l.known < shiftRows {
		return
	}
	before := l.turns[soonRows]
	keep := math.Exp(-dt / lagMemory)
	l.rows = keep*l.rows + 1
	square := func(v so3.Vec3) float64 { return min(v.X*v.X+v.Y*v.Y, mostTurn*mostTurn) }
	l.power = keep*l.power + square(before)
	for j := range l.squares {
		half := l.expected[j/2].Add(l.expected[(j+1)/2]).Scale(0.5)
		l.squares[j] = keep*l.squares[j] + square(before.Sub(half)) + leastTurn*leastTurn
	}
}

// mean is the number of rows by which turns follow late, as far as that is known.
func (l *lag) mean() float64 {
	doubtful := max(slices.Min(l.squares[:])-l.rows*quietTurn*quietTurn, 0)
	explained := (1 - doubtful/max(l.power, doubtful)) * l.rows / (l.rows + fewRows)
	if !(explained > guessed) {
		return unknownLag
	}
	known := min((explained-guessed)/(certain-guessed), 1)
	return unknownLag + known*(max(l.likely(), 0)-unknownLag)
}

// likely is the mean number of rows, weighted by how likely each is; less than 0 of a robot that is sooner.
func (l *lag) likely() float64 {
	var likely [len(l.squares)]float64
	for j, s := range l.squares {
		likely[j] = -l.rows*math.Log(s) - lagPrior*math.Abs(float64(j)-2*soonRows)
	}
	most := slices.Max(likely[:])
	var sum, mean float64
	for j, x := range likely {
		w := math.Exp(x - most)
		sum += w
		mean += w * (float64(j)/2 - soonRows)
	}
	return mean / sum
}

// lag is how much later than the model expects the robot turns, s; 0 where nobody measures it, or the policy sees none.
func (f *Runner) lag() float64 {
	if f.sensor == nil || f.policy.Observation.Lag == 0 {
		return 0
	}
	return f.sensor.lag.mean() * f.dt
}
