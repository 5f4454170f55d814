package inertial

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// pushed is a robot on a path, in a wind that no command tells of, with poses at 200 Hz that come late.
type pushed struct {
	e     *CommandEstimator
	rng   *rand.Rand
	late  float64                        // s
	noise float64                        // m; attitudes err by five times as many rad
	wind  so3.Vec3                       // m/s²
	slow  float64                        // s by which turns come later than commands tell
	shake float64                        // rad, at 4 Hz
	lasts float64                        // s for which what positions err by lasts
	errs  so3.Vec3                       // that, m
	spoil func(at float64, z *Pose) bool // false: it does not come
	now   float64
	z     Pose // the newest

	stands bool // and flies no path
}

const poseEvery = 0.005 // s

func newPushed(noise float64) *pushed {
	p := &pushed{rng: rand.New(rand.NewPCG(5, 1)), late: 0.04, noise: noise, wind: so3.Vec3{X: 2, Y: -1}}
	p.e = NewCommandEstimator(func(_ *quad.State, from, to float64) (rates, force so3.Vec3) {
		a, b, dt := p.truth(from+p.slow), p.truth(to+p.slow), to-from
		turn := so3.Log(a.Q.Conj().Mul(b.Q))
		gained := b.V.Sub(a.V).Scale(1 / dt).Sub(p.wind).Add(so3.Vec3{Z: quad.Gravity})
		return turn.Scale(1 / dt), a.Q.Mul(so3.Exp(turn.Scale(0.5))).Conj().Rotate(gained)
	})
	return p
}

func (p *pushed) truth(at float64) quad.State {
	s := truthAt(at)
	if p.stands {
		s = standing(at)
	}
	s.Q = s.Q.Mul(so3.Exp(so3.Vec3{X: p.shake * math.Sin(8*math.Pi*at)}))
	return s
}

func (p *pushed) normal() so3.Vec3 {
	return so3.Vec3{X: p.rng.NormFloat64(), Y: p.rng.NormFloat64(), Z: p.rng.NormFloat64()}
}

// fly moves on by some seconds, and has each pose's time looked at.
func (p *pushed) fly(seconds float64, look func(found quad.State, ok bool)) {
	for range int(seconds / poseEvery) {
		p.now += poseEvery
		at := p.now - p.late
		s := p.truth(at)
		keep := math.Exp(-poseEvery / max(p.lasts, 1e-9))
		p.errs = p.errs.Scale(keep).Add(p.normal().Scale(p.noise * math.Sqrt(1-keep*keep)))
		p.z = Pose{T: at, P: s.P.Add(p.errs), Q: s.Q.Mul(so3.Exp(p.normal().Scale(5 * p.noise)))}
		if p.spoil == nil || p.spoil(p.now, &p.z) {
			p.e.AddPose(p.z, p.now)
		}
		if found, ok := p.e.At(p.now); look != nil {
			look(found, ok)
		}
	}
}

// errors are the RMS errors of a second and a half: m, m/s, rad; and the share of its ticks with a state.
func (p *pushed) errors() (place, velocity, turn, known float64) {
	n := 0.0
	p.fly(1.5, func(x quad.State, ok bool) {
		s := truthAt(p.now)
		if n++; ok {
			known++
		}
		off, speed, turned := x.P.Sub(s.P), x.V.Sub(s.V), so3.Log(x.Q.Conj().Mul(s.Q))
		place, velocity, turn = place+off.Dot(off), velocity+speed.Dot(speed), turn+turned.Dot(turned)
	})
	return math.Sqrt(place / n), math.Sqrt(velocity / n), math.Sqrt(turn / n), known / n
}

// keepsTo flies on, where there is always a state, and it errs by so many m at most.
func (p *pushed) keepsTo(t *testing.T, most float64) {
	t.Helper()
	if place, _, _, known := p.errors(); place > most || known != 1 {
		t.Errorf("errs by %.4f m, known %.2f of the time", place, known)
	}
}

// TestCommandsAreTheMotion: noise of up to 15 mm and 75 mrad, 40 ms late, amid a figure-eight of 4.5 m/s in a wind: the
// state is that of now, and what poses err by is found.
func TestCommandsAreTheMotion(t *testing.T) {
	for _, noise := range []float64{0.0003, 0.003, 0.015} {
		p := newPushed(noise)
		p.fly(2, nil)
		place, velocity, turn, known := p.errors()
		if place > 0.005+2*noise || velocity > 0.1+2*noise || turn > 0.02+noise || known != 1 {
			t.Errorf("%g m: errs by %.4f m, %.3f m/s, %.4f rad, known %.2f", noise, place, velocity, turn, known)
		}
		s := p.e.noise.spread()
		if a, b := s.Position.X/noise, s.Attitude.X/(5*noise); math.Abs(a-1) > 0.2 || math.Abs(b-1) > 0.2 {
			t.Errorf("%g m: found %.2f of the noise of positions, %.2f of attitudes", noise, a, b)
		}
	}
}

// TestPushThatSetsIn: a wind that turns about is known a tenth of a second after poses show it. So it is soon after a
// beginning in fast flight.
func TestPushThatSetsIn(t *testing.T) {
	for _, since := range []float64{0.8, 2} {
		p := newPushed(0.0005)
		p.fly(since, nil)
		p.wind = so3.Vec3{X: -3, Y: 2}
		p.fly(p.late+0.1, nil)
		worst := 0.0
		p.fly(0.3, func(x quad.State, _ bool) { worst = max(worst, x.V.Sub(truthAt(p.now).V).Norm()) })
		if worst > 0.1 {
			t.Errorf("after %g s: errs by %.3f m/s", since, worst)
		}
	}
}

// TestPushStaysInTheWorld while the body rolls by 0.6 rad to and fro: the velocity errs by its noise alone.
func TestPushStaysInTheWorld(t *testing.T) {
	p := newPushed(0.0005)
	p.wind, p.shake = so3.Vec3{Y: 4}, 0.6
	p.fly(2, nil)
	if _, velocity, _, _ := p.errors(); velocity > 0.03 {
		t.Errorf("errs by %.3f m/s", velocity)
	}
}

// TestNoPushSetsIn where poses err as they always did, for a while too, where a few of them err by five times as much,
// and where a robot that shakes turns later than commands tell.
func TestNoPushSetsIn(t *testing.T) {
	for _, c := range []struct {
		slow, shake, tails, lasts float64
		most                      int // of 2000 poses
	}{
		{}, {tails: 5, most: 2}, {lasts: 0.05, most: 2}, {lasts: 0.2, most: 2},
		{slow: 0.02, shake: 0.2}, {slow: 0.04, shake: 0.1}, {slow: 0.06, shake: 0.1},
	} {
		p := newPushed(0.0005)
		p.slow, p.shake, p.lasts = c.slow, c.shake, c.lasts
		p.spoil = func(_ float64, z *Pose) bool {
			if p.rng.IntN(40) == 0 {
				z.P = z.P.Add(p.normal().Scale(c.tails * p.noise))
			}
			return true
		}
		p.fly(1, nil)
		before, sets := p.e.filter.present.cov.block(atAccel, atAccel), 0
		p.fly(10, func(quad.State, bool) {
			now := p.e.filter.present.cov.block(atAccel, atAccel)
			if now[0][0] > before[0][0]+anewPush*anewPush/2 {
				sets++
			}
			before = now
		})
		if sets > c.most {
			t.Errorf("%+v: %d pushes set in", c, sets)
		}
	}
}

// TestReflectionsDoNotMoveIt: poses that are off by 5 cm for 50 ms are left out. Others that stay off are no state to
// fly by, until it begins anew there.
func TestReflectionsDoNotMoveIt(t *testing.T) {
	p := newPushed(0.0005)
	p.fly(2, nil)
	from, way := p.now, so3.Vec3{X: 0.05}
	p.spoil = func(at float64, z *Pose) bool {
		if at-from < 0.05 {
			z.P = z.P.Add(way)
		}
		return true
	}
	p.keepsTo(t, 0.01)
	p.spoil = func(at float64, z *Pose) bool {
		z.P, z.Q = z.P.Add(way.Scale(20*math.Sin(40*at))), so3.FromEuler(1, 0, 0)
		return true
	}
	unknown := 0
	p.fly(0.3, func(_ quad.State, ok bool) {
		if !ok {
			unknown++
		}
	})
	if want := int((0.3 - unbelieved) / poseEvery); unknown < want-1 || unknown > want+1 {
		t.Errorf("no state at %d ticks, expected %d", unknown, want)
	}
	p.spoil = nil
	p.fly(2.5, nil)
	p.keepsTo(t, 0.005)
}

// TestLeapsAreTheSources: where poses that follow closely are elsewhere for good, their source has leapt, and the state
// goes on where it was.
func TestLeapsAreTheSources(t *testing.T) {
	p := newPushed(0.0005)
	p.fly(2, nil)
	p.spoil = func(_ float64, z *Pose) bool {
		z.P = z.P.Add(so3.Vec3{X: 0.2})
		return true
	}
	p.fly(1, func(x quad.State, ok bool) {
		if off := x.P.Sub(truthAt(p.now).P).Norm(); !ok || off > 0.05 {
			t.Errorf("%.2f s: %.3f m off", p.now, off)
		}
	})
}

// TestCommandsGoneAstrayAreNoLeap: a robot that is thrown about leaves what commands tell step by step. Poses are right
// then: the state that is flown by keeps to them.
func TestCommandsGoneAstrayAreNoLeap(t *testing.T) {
	p := newPushed(0.0005)
	p.fly(2, nil)
	from, off := p.now, so3.Vec3{}
	p.spoil = func(at float64, z *Pose) bool {
		off = so3.Vec3{X: 0.4 * (1 - math.Cos(6*(at-from))), Y: 0.2 * (1 - math.Cos(9*(at-from)))}
		z.P = z.P.Add(off)
		return true
	}
	p.fly(4, func(x quad.State, ok bool) {
		if err := x.P.Sub(truthAt(p.now).P).Sub(off).Norm(); ok && err > 0.6 {
			t.Errorf("%.3f s: %.3f m from the poses is flown by", p.now-from, err)
		}
	})
	if n := p.e.filter.counts.Events[Jumped]; n != 0 {
		t.Errorf("%d leaps", n)
	}
}

// TestItBeginsAtThePoses: after a leap it is off them until it yields, is lost or begins anew.
func TestItBeginsAtThePoses(t *testing.T) {
	for name, begin := range map[string]func(p *pushed){
		"yields":   func(p *pushed) { p.e.Yield() },
		"restarts": func(p *pushed) { p.e.Restart() },
		"a hole": func(p *pushed) {
			leap := p.spoil
			p.spoil = func(float64, *Pose) bool { return false }
			p.fly(0.2, nil)
			p.spoil = func(at float64, z *Pose) bool {
				z.P.Y += 0.3
				return leap(at, z)
			}
		},
	} {
		p := newPushed(0.0005)
		p.fly(2, nil)
		p.spoil = func(_ float64, z *Pose) bool {
			z.P.X += 0.5
			return true
		}
		p.fly(0.5, nil)
		begin(p)
		p.fly(1, nil)
		x, ok := p.e.At(p.now)
		if off := x.P.Sub(truthAt(p.now).P).X - 0.5; !ok || math.Abs(off) > 0.02 {
			t.Errorf("%s: a state: %v, %.3f m off the poses", name, ok, off)
		}
	}
}

// TestALeapAtTheBeginning: it is no noise of the poses, and keeps nobody from a state for long.
func TestALeapAtTheBeginning(t *testing.T) {
	p := newPushed(0.0005)
	p.spoil = func(at float64, z *Pose) bool {
		if at < 2.5*poseEvery {
			z.P.X += 2
		}
		return true
	}
	p.fly(1, nil)
	p.keepsTo(t, 0.005)
}

// TestHolesAreBridged: without poses for 0.2 s there is a state, by what was commanded.
func TestHolesAreBridged(t *testing.T) {
	p := newPushed(0.0005)
	p.fly(3, nil)
	from := p.now
	p.spoil = func(at float64, _ *Pose) bool { return at-from > 0.2 }
	p.keepsTo(t, 0.01)
	from = p.now
	p.spoil = func(at float64, z *Pose) bool { // they are elsewhere after it: what commands told was wrong
		z.P = z.P.Add(so3.Vec3{X: 0.3})
		return at-from > 0.2
	}
	p.fly(0.6, func(x quad.State, ok bool) {
		if off := x.P.Sub(truthAt(p.now).P).X; ok && p.now > from+0.205 && math.Abs(off-0.3) > 0.05 {
			t.Errorf("%.3f s after the hole: %.3f m off is flown by", p.now-from-0.2, off-0.3)
		}
	})
}

// TestOddPosesAndClocks: what is no pose, comes again or is of another clock does no harm.
func TestOddPosesAndClocks(t *testing.T) {
	p := newPushed(0.0005)
	p.fly(2, nil)
	odd := Pose{T: p.now, P: so3.Vec3{X: math.NaN()}, Q: so3.Identity()}
	p.e.AddPose(odd, p.now)
	odd.P, odd.T = so3.Vec3{}, math.Inf(1)
	p.e.AddPose(odd, p.now)
	good := truthAt(p.now - p.late)
	for range 3 {
		p.e.AddPose(Pose{T: p.now - p.late, P: good.P, Q: good.Q}, p.now)
	}
	p.keepsTo(t, 0.005)
	p.now += 100 // set forward; the path has a period of 4 s, but for the heading
	if _, ok := p.e.At(p.now); ok {
		t.Error("there is a state after 100 s without a pose")
	}
	p.fly(2, nil)
	p.now -= 100
	p.fly(2, nil)
	p.keepsTo(t, 0.005)
}

// TestMostPosesOfAFastSourceAreLeftOut: they would cost more than they bring.
func TestMostPosesOfAFastSourceAreLeftOut(t *testing.T) {
	p := newPushed(0.0005)
	p.fly(2, nil)
	from := p.e.filter.counts.Events[Fused]
	for i := range 1000 {
		at := p.now + 0.001*float64(i)
		s := truthAt(at - p.late)
		p.e.AddPose(Pose{T: at - p.late, P: s.P, Q: s.Q}, at)
	}
	if n := p.e.filter.counts.Events[Fused] - from; n < 400 || n > 510 {
		t.Errorf("%d poses of 1000 in a second are taken", n)
	}
}

// TestCommandEstimatorAllocatesNothing: neither do poses, nor looks.
func TestCommandEstimatorAllocatesNothing(t *testing.T) {
	p := newPushed(0.0005)
	p.fly(2, nil)
	if n := testing.AllocsPerRun(100, func() { p.fly(0.05, nil) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
