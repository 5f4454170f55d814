package guard

import (
	"math"

	"vnd/pkg/core/so3"
)

// noise is the white noise of a source of states, learned from how each exhibit takes back the error of the one
// before: a force, a turn or a lie goes on, and does not count.
type noise struct {
	step, turn         so3.Vec3 // beside what was expected, of the exhibit before, m and rad
	positions, turning float64  // variances of a coordinate, m² and rad²
	count              float64  // exhibits
}

// Bounds of what is learned: thresholds grow with the noise, and nobody is to raise them further by adding some.
const (
	noiseMemory = 2.0    // time constant, s
	maxNoise    = 0.003  // m
	maxShake    = 0.0175 // rad
)

// add takes the errors of an exhibit in, with the share that a new one has in what is learned. At first that is a mean:
// a memory that began at no noise would take it for a drift.
func (n *noise) add(step, turn so3.Vec3, share float64) {
	n.count++
	share = max(share, 1/n.count)
	n.positions += share * (-step.Dot(n.step)/3 - n.positions)
	n.turning += share * (-turn.Dot(n.turn)/3 - n.turning)
	n.step, n.turn = step, turn
}

// position is the standard deviation of a coordinate, m.
func (n *noise) position() float64 { return min(math.Sqrt(max(n.positions, 0)), maxNoise) }

// attitude is the standard deviation about an axis, rad.
func (n *noise) attitude() float64 { return min(math.Sqrt(max(n.turning, 0)), maxShake) }
