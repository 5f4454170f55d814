package control

import (
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

const leapOnset = 100 // sample at which an attitude leaps

// turnedBy are attitudes about a slanting axis.
func turnedBy(angle float64) so3.Quat { return so3.Exp(so3.Vec3{X: 0.6, Y: 0.8}.Scale(angle)) }

// leapFor is a leap that lasts for so many samples.
func leapFor(angle float64, samples int) func(k int) so3.Quat {
	return func(k int) so3.Quat {
		if k >= leapOnset && k < leapOnset+samples {
			return turnedBy(angle)
		}
		return turnedBy(0)
	}
}

// toAndFro turns by 8 rad/s, 0.1 s each way: rates follow by a fifth in 5 ms.
func toAndFro(k int) so3.Quat {
	by, w := 0., 0.
	for i := range k {
		want := 8.
		if i%40 >= 20 {
			want = -8
		}
		w += 0.2 * (want - w)
		by += 0.005 * w
	}
	return turnedBy(by)
}

// Attitudes that leap and stay are found; those of a reflection, of a robot that is hit, of much noise or of few
// samples are not. In none of them many samples are left out.
func TestTurnLeap(t *testing.T) {
	for name, c := range map[string]struct {
		spacing int64 // ms
		noise   float64
		at      func(k int) so3.Quat
		from    int // the first and the last sample of those that are found; -1: none
		to      int
		left    int // at most
	}{
		"a turn to and fro": {5, 0.002, toAndFro, -1, -1, 0},
		"a leap for 0.2 s":  {5, 0.002, leapFor(0.09, 40), leapOnset + 4, leapOnset + 39, 4},
		"a leap for ever":   {5, 0.002, leapFor(0.09, 1000), leapOnset + 4, leapOnset + 118, 4},
		"a reflection":      {5, 0.002, leapFor(0.2, 2), -1, -1, 2},
		"a hit": {5, 0.002, func(k int) so3.Quat { return turnedBy(25 * 0.005 * float64(max(k-leapOnset, 0))) },
			-1, -1, 2},
		"noise":       {5, 0.02, leapFor(0, 0), -1, -1, 0},
		"few samples": {20, 0.002, leapFor(0.3, 1000), -1, -1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, left := findLeap(c.spacing, c.noise, c.at)
			if from != c.from || to != c.to || left > c.left {
				t.Errorf("found from %d to %d, expected %d to %d; %d left out", from, to, c.from, c.to, left)
			}
		})
	}
}

// findLeap returns which samples are the first and the last of those that are found, and how many are left out.
func findLeap(spacing int64, noise float64, at func(k int) so3.Quat) (from, to, left int) {
	var x turnLeap
	rng := rand.New(rand.NewPCG(1, 1))
	from, to = -1, -1
	for k := range 300 {
		by := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(noise)
		stamp := spacing * 1e6 * int64(k+1)
		if x.add(at(k).Mul(so3.Exp(by)), stamp) {
			left++
		}
		if !x.found(stamp) {
			continue
		}
		if to = k; from < 0 {
			from = k
		}
	}
	return from, to, left
}

// An attitude that leaps by 0.11 rad, by poses and by odometry, is not flown by: the guard holds within three ticks.
// Once it is back the policy flies again.
func TestSmallLeapOfTheAttitudeIsFound(t *testing.T) {
	for _, source := range []string{FromPose, FromOdometry} {
		for k := range 4 {
			c := defaults()
			c.Source = source
			f := newClosed(t, c, "a.vnd")
			f.loop.SetReference(taskReference(t, "track"))
			f.advance(6+0.9*float64(k), nil)
			flown, n := len(f.ticks), 0
			f.advance(0.25, func(m *Sample) bool {
				m.State.Q = m.State.Q.Mul(so3.Exp(so3.Vec3{X: 0.08, Y: -0.07, Z: 0.03}))
				return true
			})
			for n < len(f.ticks)-flown && f.ticks[flown+n].Stage.PolicyFlies() {
				n++
			}
			last := f.ticks[len(f.ticks)-1]
			if n > 4 || last.Cause != guard.Jump {
				t.Errorf("%s, phase %d: the policy flies by it for %d ticks, %v", source, k, n, last.Cause)
			}
			f.advance(4, nil)
			if last := f.ticks[len(f.ticks)-1]; f.sim.Crashed() || !last.Stage.PolicyFlies() {
				t.Errorf("%s, phase %d: 4 s later %v for %v", source, k, last.Stage, last.Cause)
			}
		}
	}
}
