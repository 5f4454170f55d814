package guard

// returns remembers which causes were forgiven in the last minute.
type returns struct {
	at    [maxReturns]float64 // s
	cause [maxReturns]Cause
	next  int
}

const (
	maxReturns   = 60
	returnMemory = 60.0 // s
)

// promptProof is for how long states have to be prompt after a hidden delay, s: one that is not over is found by then.
const promptProof = 2.0

// returnSpeed is how fast the robot may be where the policy gets it back, m/s. Its reference stands there, so that it
// brakes a faster one by all it has: a fault amid that finds the robot turning over.
const returnSpeed = 0.25

// forgivable reports whether the policy may fly again once the present cause is over: no person asked for the trip, the
// source of states is what it was, and neither the same cause nor too many others came within a minute.
func (g *Guard) forgivable() bool {
	switch g.cause {
	case Requested, NotReady, Drifting:
		return false
	}
	if g.belief.elsewhere || g.hiddenDelay > 0 || g.since(g.promptSince) < promptProof {
		return false
	}
	r, n := &g.returns, 0
	for i := range r.at {
		if r.cause[i] != None && g.now-r.at[i] < returnMemory {
			if r.cause[i] == g.cause {
				return false
			}
			n++
		}
	}
	return n < g.config.Returns
}

// forgive takes a return of the policy down.
func (g *Guard) forgive() {
	r := &g.returns
	r.at[r.next], r.cause[r.next] = g.now, g.cause
	r.next = (r.next + 1) % maxReturns
}
