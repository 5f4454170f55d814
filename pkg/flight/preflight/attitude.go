package preflight

import (
	"fmt"
	"iter"
	"math"

	"vnd/pkg/core/so3"
)

// reading is a way in which a true attitude q_WB could have become the fields of a message: q = world·(q_WB or its
// inverse)·bodyᵀ, and its numbers in another order.
type reading struct {
	world, body int // of allAxes, right-handed
	inverse     bool
	order       int // of orders
}

// orders take a quaternion from the fields of a message to what they mean.
var orders = [...]struct {
	name string
	take func(so3.Quat) so3.Quat
}{
	{"", func(q so3.Quat) so3.Quat { return q }},
	{"w, x, y, z where the message has x, y, z, w",
		func(q so3.Quat) so3.Quat { return so3.Quat{W: q.X, X: q.Y, Y: q.Z, Z: q.W} }},
	{"x, y, z, w taken for w, x, y, z", func(q so3.Quat) so3.Quat { return so3.Quat{W: q.Z, X: q.W, Y: q.X, Z: q.Y} }},
}

// attitudes judges the attitudes of the holds; positions are the axes of the positions.
func attitudes(holds *[Moves]Hold, positions axes) []Finding {
	const name = "attitude"
	turns := [3]float64{angle(holds[Left].Q, holds[NoseDown].Q), angle(holds[Level].Q, holds[RightDown].Q),
		angle(holds[LevelAgain].Q, holds[TurnLeft].Q)}
	for _, h := range holds {
		if n := h.Q.Norm(); !(math.Abs(n-1) < 0.1) {
			return []Finding{wrong(name, fmt.Sprintf("quaternions of norm %.3g, expected 1", n),
				"these are no quaternions: have the driver send x, y, z, w")}
		}
	}
	if f, odd := degrees(holds, turns); odd {
		return []Finding{f}
	}
	best, off := explain(holds, turns, positions)
	const skew = 0.5 // rad, on average
	if off > skew {
		return []Finding{wrong(name, fmt.Sprintf("%.0f° on average from what the moves were under any axes",
			off*180/math.Pi),
			"do the moves again; if it stays, the body's axes in the motion capture are skewed: define it anew "+
				"while it stands level, nose along x")}
	}
	return append(best.findings(positions), trim(holds, best))
}

// degrees finds angles that were taken for radians, or the reverse, by how far the robot turned in each move.
func degrees(holds *[Moves]Hold, turns [3]float64) (Finding, bool) {
	const name, degree = "attitude unit", math.Pi / 180
	along := holds[TurnLeft].Turned
	switch {
	case along > 6*quarter:
		return wrong(name, fmt.Sprintf("a quarter turn comes out as %.0f°: degrees taken for radians", along/degree),
			"the driver makes quaternions of angles in degrees: convert them to radians"), true
	case turns[2] < 5*degree && turns[0] < 5*degree && turns[1] < 5*degree && turns[2] > quarter*degree/3:
		return wrong(name, fmt.Sprintf("a quarter turn comes out as %.2f°: radians taken for degrees", turns[2]/degree),
			"the driver makes quaternions of angles in radians that it takes for degrees"), true
	case turns[2] < 5*degree:
		return wrong(name, fmt.Sprintf("a quarter turn comes out as %.2f°", turns[2]/degree),
			"is attitude tracked at all? do the moves again"), true
	}
	return Finding{}, false
}

// of is what a true attitude is read as.
func (r reading) of(q so3.Quat) so3.Quat {
	if r.inverse {
		q = q.Conj()
	}
	return rotations[r.world].Mul(q).Mul(rotations[r.body].Conj())
}

// explain finds the simplest reading under which the holds are what was asked for, and how far they are off on average,
// rad. The angle of each turn is taken as it came: hands are not exact.
func explain(holds *[Moves]Hold, turns [3]float64, positions axes) (best reading, off float64) {
	truth := [4]so3.Quat{so3.Identity(), so3.Exp(so3.Vec3{Y: turns[0]}), so3.Exp(so3.Vec3{X: turns[1]}),
		so3.Exp(so3.Vec3{Z: turns[2]})}
	came := [4]so3.Quat{holds[Rest].Q, holds[NoseDown].Q, holds[RightDown].Q, holds[TurnLeft].Q}
	least := math.Inf(1)
	for order := range orders {
		var meant [4]so3.Quat
		for i, q := range came {
			meant[i] = orders[order].take(q)
		}
		for r := range readings(order) {
			mean := 0.0
			for i, q := range truth {
				mean += angle(r.of(q), meant[i]) / float64(len(truth))
			}
			if cost := mean + r.oddity(positions); cost < least-1e-9 {
				least, best, off = cost, r, mean
			}
		}
	}
	return best, off
}

// readings are all with one order of the numbers.
func readings(order int) iter.Seq[reading] {
	return func(yield func(reading) bool) {
		for _, inverse := range [...]bool{false, true} {
			for i := range properAxes * properAxes {
				if !yield(reading{i / properAxes, i % properAxes, inverse, order}) {
					return
				}
			}
		}
	}
}

// oddity ranks readings that fit alike: small against what they differ by otherwise.
func (r reading) oddity(positions axes) float64 {
	const one = 0.02
	w, b := allAxes[r.world], allAxes[r.body]
	odd := 0.0
	if r.order != 0 {
		odd++
	}
	if r.flipped() != "" {
		return one * (odd + 1.2)
	}
	if r.inverse {
		odd++
	}
	if w != straight && w != positions {
		odd++
	}
	if w == straight && positions != straight {
		odd += 0.5
	}
	switch {
	case b == straight:
	case b == frdAxes:
		odd += 0.5
	default:
		odd++
	}
	return one * odd
}

// flipped names the one angle that has the wrong sign; "" where that is not what it is.
func (r reading) flipped() string {
	if !r.inverse || r.world != r.body {
		return ""
	}
	switch allAxes[r.world] {
	case axes{[3]int{0, 1, 2}, [3]float64{-1, -1, 1}}:
		return "yaw"
	case axes{[3]int{0, 1, 2}, [3]float64{-1, 1, -1}}:
		return "pitch"
	case axes{[3]int{0, 1, 2}, [3]float64{1, -1, -1}}:
		return "roll"
	}
	return ""
}

// findings says what a reading means.
func (r reading) findings(positions axes) (f []Finding) {
	w, b := allAxes[r.world], allAxes[r.body]
	if r.order != 0 {
		f = append(f, wrong("quaternion order", "the numbers are "+orders[r.order].name,
			"have the driver fill the fields by name"))
	}
	if angle := r.flipped(); angle != "" {
		return append(f, wrong(angle+" sign", angle+" turns the wrong way",
			"have the driver change the sign of its "+angle+" angle"))
	}
	if r.inverse {
		f = append(f, wrong("quaternion direction", "it takes the world to the body",
			"have the driver send body to world: the conjugate"))
	}
	switch {
	case w == positions || w == straight && positions == straight:
	case w == straight:
		f = append(f, wrong("attitude axes",
			"right, while those of the positions are not: "+positions.mapping("the world's"),
			"have the driver convert both alike"))
	default:
		f = append(f, wrong("attitude axes",
			"the world of the attitude, unlike that of the positions: "+w.mapping("the world's"),
			"have the driver convert both alike"))
	}
	switch {
	case b == straight:
	case b == frdAxes:
		f = append(f, wrong("body axes", "FRD (forward, right, down): "+b.mapping("the body's"),
			"set mocap_frame to ned where the world is NED too; else define the body with x forward, y left, z up"))
	default:
		f = append(f, wrong("body axes", b.mapping("the body's"),
			"define the body in the motion capture with x forward, y left, z up"))
	}
	if f == nil {
		f = append(f, fine("attitude", "follows the moves, body x forward, y left, z up"))
	}
	return f
}

// trim judges how level the robot is said to stand on the floor.
func trim(holds *[Moves]Hold, r reading) Finding {
	const name, most = "trim", 3.0 // °
	q := orders[r.order].take(holds[Rest].Q).Normalize()
	q = rotations[r.world].Conj().Mul(q).Mul(rotations[r.body])
	if r.inverse {
		q = q.Conj()
	}
	tilt := q.Tilt() * 180 / math.Pi
	detail := fmt.Sprintf("%.1f° of tilt on the floor", tilt)
	if tilt > most {
		return wrong(name, detail, "a level robot has to be level in the motion capture: define the body anew while "+
			"it stands level")
	}
	return fine(name, detail)
}
