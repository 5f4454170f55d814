package preflight

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

// What a source of poses may do.
const (
	quietVelocity = 0.05  // m/s, up to which learning takes velocities as they are measured
	poorVelocity  = 0.25  // m/s, up to which smoothing makes up for noise
	leastJump     = 0.02  // m
	surely        = 6.0   // times the noise
	mostJerk      = 500.0 // m/s³, of a robot
	stampSlack    = 0.75  // of the way in two intervals, by which a stamp that is off misplaces a position
	stillSpeed    = 0.01  // m/s, of a robot that rests
	farApart      = 0.2   // s, of poses that tell nothing of each other
	leastHertz    = 20    // what judge.poses may be: rate, Hz, and latency, s
	mostHertz     = 1000
	mostLatency   = 0.5
)

// Source judges the positions of a source, topic, in the order of their arrival: how they scatter, whether they jump,
// and whether a robot can learn from them where velocities are fitted to them by p.
func Source(topic string, s []Sample, p estimator.Params) []Finding {
	const few = 50
	off := misfits(s)
	if len(off) < few {
		return nil // rate and gaps say why
	}
	noise := scatter(off)
	leaps, farthest := jumps(s, off, noise)
	velocity := velocityNoise(s, noise, p)
	detail := fmt.Sprintf("topic %s: positions scatter by %.1f mm", topic, 1000*noise)
	if !measured(s) {
		detail += fmt.Sprintf(", so that velocities err by %.0f mm/s", 1000*velocity)
	}
	f := []Finding{fine("noise", detail), fine("jumps", fmt.Sprintf("topic %s: none", topic)),
		teaches(topic, velocity, leaps)}
	if !measured(s) {
		f = append(f, poses(topic, s, off, noise)...)
	}
	if velocity > poorVelocity {
		f[0] = wrong("noise", detail, fmt.Sprintf("expected less than %.0f mm/s: mend the source, or run "+
			"state_estimator with an IMU (docs/guide/state.md)", 1000*poorVelocity))
	}
	if leaps > 0 {
		f[1] = wrong("jumps", fmt.Sprintf("topic %s: %d in %.0f s, the farthest %.2f m", topic, leaps,
			s[len(s)-1].Stamp-s[0].Stamp, farthest),
			"are markers swapped or reflected, or is it a camera that closes loops?")
	}
	return f
}

// poses says what the learner's gate has to know of a source: how often poses come, how old nine of ten of them are
// then, and what they err by. It says nothing where that cannot be: then rate, delay or attitudes are to be mended.
func poses(topic string, s []Sample, off []misfit, noise float64) []Finding {
	old, hertz := delays(s), rate(s)
	late := old[len(old)*9/10]
	turns := scatterOf(off, func(m *misfit) so3.Vec3 { return m.turn })
	if old[len(old)/2] < 0 || late > mostLatency || !(hertz >= leastHertz && hertz <= mostHertz) || math.IsNaN(turns) {
		return nil
	}
	return []Finding{fine("judge.poses", fmt.Sprintf("topic %s: for background_learner rate: %.1f, latency: %.3f, "+
		"position: %.4f, attitude: %.4f", topic, hertz, late, noise, turns))}
}

// measured reports whether samples bring velocities of their own.
func measured(s []Sample) bool {
	return slices.ContainsFunc(s, func(x Sample) bool { return x.Moves })
}

// teaches says whether a source is good enough to learn from.
func teaches(topic string, velocity float64, leaps int) Finding {
	const name = "good to learn from"
	switch {
	case velocity > poorVelocity:
		return wrong(name, fmt.Sprintf("topic %s: no, velocities err too much", topic), "see noise")
	case leaps > 0:
		return fine(name, fmt.Sprintf("topic %s: yes, with smoothing; flights are cut where poses jump for good",
			topic))
	case velocity > quietVelocity:
		return fine(name, fmt.Sprintf("topic %s: yes, with smoothing: keep it on", topic))
	}
	return fine(name, fmt.Sprintf("topic %s: yes", topic))
}

// Drift judges positions of a robot that was put down or held still now and then: those of its stillest second walk
// where its source does.
func Drift(topic string, s []Sample) []Finding {
	const span = 1.0 // s
	least := math.Inf(1)
	for i, j := 0, 0; j < len(s); j++ {
		for s[j].Stamp-s[i].Stamp > span {
			i++
		}
		if s[j].Stamp-s[i].Stamp > 0.9*span && j-i >= 20 {
			least = math.Min(least, walk(s[i:j+1]))
		}
	}
	if math.IsInf(least, 1) {
		return nil
	}
	detail := fmt.Sprintf("topic %s: in its stillest second the robot moves by %.1f mm/s", topic, 1000*least)
	if least > stillSpeed {
		return []Finding{wrong("drift", detail, fmt.Sprintf("expected less than %.0f mm/s: leave the robot on the "+
			"floor for two seconds. Where it drifts there, too, nobody can hold or learn by this source",
			1000*stillSpeed))}
	}
	return []Finding{fine("drift", detail)}
}

// walk is the speed of positions by a line fitted to them, m/s.
func walk(s []Sample) float64 {
	var t, tt float64
	var p, tp so3.Vec3
	n := float64(len(s))
	for _, x := range s {
		at := x.Stamp - s[0].Stamp
		t, tt, p, tp = t+at, tt+at*at, p.Add(x.P), tp.Add(x.P.Scale(at))
	}
	return tp.Scale(n).Sub(p.Scale(t)).Norm() / (n*tt - t*t)
}

// misfit is by how much a pose differs from what the three before it lead to by a parabola.
type misfit struct {
	at   int      // of the sample
	off  so3.Vec3 // m
	turn so3.Vec3 // the same of attitudes, rad
	unit float64  // what off would be, root mean square on an axis, if positions scattered by 1 m
	may  float64  // what it may be by a jerk of the robot and by a stamp that is off, m
}

// misfits of samples in a row whose stamps go on.
func misfits(s []Sample) (all []misfit) {
	for i := 3; i < len(s); i++ {
		w := s[i-3 : i+1]
		if !(w[3].Stamp-w[0].Stamp < farApart && w[0].Stamp < w[1].Stamp && w[1].Stamp < w[2].Stamp &&
			w[2].Stamp < w[3].Stamp) {
			continue
		}
		turned := func(x *Sample) so3.Vec3 { return so3.Log(w[2].Q.Conj().Mul(x.Q).Normalize()) }
		m, square, bent := misfit{at: i, off: w[3].P, turn: turned(&w[3])}, 1.0, mostJerk/6
		for j := range 3 {
			share := 1.0 // Lagrange's
			for k := range 3 {
				if k != j {
					share *= (w[3].Stamp - w[k].Stamp) / (w[j].Stamp - w[k].Stamp)
				}
			}
			m.off, square = m.off.Sub(w[j].P.Scale(share)), square+share*share
			m.turn = m.turn.Sub(turned(&w[j]).Scale(share))
			bent *= w[3].Stamp - w[j].Stamp
		}
		m.unit, m.may = math.Sqrt(square), bent+stampSlack*w[2].P.Sub(w[0].P).Norm()
		if m.off.Finite() {
			all = append(all, m)
		}
	}
	return all
}

// scatter is the noise of a position on an axis, m, by the middle of its misfits: jumps do not count.
func scatter(all []misfit) float64 { return scatterOf(all, func(m *misfit) so3.Vec3 { return m.off }) }

// scatterOf is that of a part of misfits.
func scatterOf(all []misfit, part func(m *misfit) so3.Vec3) float64 {
	const middle = 1.538 // length of three normal numbers, the median
	sizes := make([]float64, len(all))
	for i := range all {
		sizes[i] = part(&all[i]).Norm() / all[i].unit
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2] / middle
}

// jumps are how often positions leap as no robot does, and the farthest of these leaps, m. One that goes on as it leapt
// has begun to move.
func jumps(s []Sample, all []misfit, noise float64) (n int, farthest float64) {
	last := -len(s)
	for _, m := range all {
		most := m.may + math.Max(leastJump, surely*noise*m.unit)
		if m.off.Norm() < most || m.at == len(s)-1 || s[m.at+1].goesOn(&s[m.at], &s[m.at-1], most) {
			continue
		}
		if m.at-last > 3 { // else it is still of the same one
			n++
		}
		last = m.at
		farthest = math.Max(farthest, s[m.at].P.Sub(s[m.at-1].P).Norm())
	}
	return n, farthest
}

// goesOn reports whether the way to a sample is like that between the two before, within some metres.
func (x *Sample) goesOn(before, first *Sample, within float64) bool {
	ratio := (x.Stamp - before.Stamp) / (before.Stamp - first.Stamp)
	return x.P.Sub(before.P).Sub(before.P.Sub(first.P).Scale(ratio)).Norm() < within
}

// velocityNoise is what velocities fitted to the poses of a robot at rest would err by, root mean square, m/s; 0 where
// none are fitted.
func velocityNoise(s []Sample, noise float64, p estimator.Params) float64 {
	e, err := estimator.New(p)
	if err != nil || measured(s) {
		return 0
	}
	draw, sum, n := rand.New(rand.NewPCG(1, 2)), 0.0, 0
	for _, x := range s {
		at := so3.Vec3{X: draw.NormFloat64(), Y: draw.NormFloat64(), Z: draw.NormFloat64()}.Scale(noise)
		if state, outcome := e.Add(estimator.Pose{T: x.Stamp, P: at, Q: so3.Identity()}); outcome == estimator.Ready {
			sum, n = sum+state.V.Dot(state.V), n+1
		}
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}
