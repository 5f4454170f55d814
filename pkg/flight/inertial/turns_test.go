package inertial

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// otherTurn is a source whose attitudes are not as commanded.
type otherTurn struct {
	seen     func(q so3.Quat, since float64) so3.Quat // attitude of the poses, where it should be q
	every    int                                      // pose comes
	shake    float64                                  // rad, of the robot, as commanded
	strays   float64                                  // m/s
	seconds  float64
	stands   bool
	believed bool
}

// fly has attitudes at the newest pose be as seen, or as they should be.
func (c *otherTurn) fly(t *testing.T) {
	p := newPushed(0.0005)
	p.shake, p.stands = c.shake, c.stands
	n, every := 0, max(1, c.every)
	p.spoil = func(float64, *Pose) bool { n++; return n%every == 0 }
	p.fly(2, nil)
	from, seen := p.now, p.z.Q
	p.spoil = func(at float64, z *Pose) bool {
		if n++; n%every != 0 {
			return false
		}
		seen = c.seen(z.Q, at-from)
		z.Q, z.P = seen, z.P.Add(so3.Vec3{X: c.strays * (at - from)})
		return true
	}
	p.fly(c.seconds-poseEvery, func(_ quad.State, ok bool) {
		want := p.truth(p.now - p.late).Q
		if c.believed {
			want = seen
		}
		off := so3.Log(p.e.filter.past.Q.Conj().Mul(want)).Norm()
		if !ok || n%every == 0 && off > 0.08 {
			t.Fatalf("%.3f s: an attitude errs by %.3f rad, known: %v", p.now-from, off, ok)
		}
	})
}

// TestTurnsThatAreNotAsCommanded: a robot whose motors saturate turns otherwise by several rad/s, for long. Attitudes
// that come steadily are believed. Those that leap or stand still are not, nor those of a source that is elsewhere.
func TestTurnsThatAreNotAsCommanded(t *testing.T) {
	swing := func(q so3.Quat, s float64) so3.Quat { // up to 9 rad/s
		return q.Mul(so3.Exp(so3.Vec3{X: 0.4 * math.Sin(20*s), Y: 0.3 * math.Sin(14*s)}))
	}
	about := func(rate float64) func(q so3.Quat, s float64) so3.Quat {
		return func(q so3.Quat, s float64) so3.Quat { return q.Mul(so3.Exp(so3.Vec3{Z: rate * s})) }
	}
	var still so3.Quat
	for name, c := range map[string]otherTurn{
		"steadily":                    {seen: swing, seconds: 0.5, believed: true},
		"about the thrust, for long":  {seen: about(8), seconds: 5, stands: true, believed: true},
		"so, of a source of 67 poses": {seen: about(5), every: 3, seconds: 5, stands: true, believed: true},
		"leaps to and fro": {seconds: 0.5, seen: func(q so3.Quat, s float64) so3.Quat {
			return q.Mul(so3.Exp(so3.Vec3{X: 0.5 * float64(int(100*s)%2)}))
		}},
		"leaps for good": {seconds: 0.1, seen: func(q so3.Quat, _ float64) so3.Quat {
			return q.Mul(so3.Exp(so3.Vec3{X: 0.2}))
		}},
		"one pose in ten": {seconds: 2, seen: func(q so3.Quat, s float64) so3.Quat {
			return q.Mul(so3.Exp(so3.Vec3{X: 0.09 * float64(max(0, int(math.Round(s/poseEvery))%10-8))}))
		}},
		"stands still": {shake: 0.6, seconds: unbelieved, seen: func(q so3.Quat, s float64) so3.Quat {
			if s < 1.5*poseEvery {
				still = q
			}
			return still.Mul(so3.Exp(so3.Vec3{Y: 1e-6 * math.Sin(1e4*s)}))
		}},
		"elsewhere as well": {seconds: unbelieved, seen: swing, strays: 3},
	} {
		t.Run(name, func(t *testing.T) { c.fly(t) })
	}
}

// TestTurnsWithoutAGyroscope are none where there is one: with an IMU an attitude that comes otherwise is left out.
func TestTurnsWithoutAGyroscope(t *testing.T) {
	r := newRig(t, params(), 1)
	r.truth, r.poseRate = standing, 100
	r.spoilPose = func(at float64, z *Pose) bool {
		z.Q = z.Q.Mul(so3.Exp(so3.Vec3{X: 4 * max(0, at-5)}))
		return true
	}
	r.fly(5.25, nil)
	if off := r.e.Estimate().State.Q.Tilt(); off > 0.2 {
		t.Errorf("errs by %.3f rad", off)
	}
}
