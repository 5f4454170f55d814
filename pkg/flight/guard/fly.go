package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// command is what goes out in the present mode. While nobody follows the policy's, it goes out in the air alone: who
// follows a moment later, or did not report that he does, would have a robot that stands rise.
func (g *Guard) command(in *Input, dt float64) quad.Command {
	g.limited = false
	policy := g.mode == Flying || g.mode == Autopilot && g.notOffboard && g.violation == None && !g.landAsked &&
		!g.tripAsked
	if g.mode != Flying { // nobody follows it
		g.beyond = 0
	}
	switch {
	case policy:
		c := g.leadOver(g.upright(g.limits.Clip(in.Command), dt), dt)
		g.limited = c != in.Command
		return c
	case g.mode == Autopilot: // where the robot is, should commands be followed from now on
		g.law.Reset()
		g.hold()
	case !g.mode.LawFlies():
		return g.limits.Clip(quad.Command{})
	case g.leavesSoon(in, dt):
		return g.farewell()
	}
	return g.fly(dt)
}

// leavesSoon reports whether this command is the last that an autopilot gets before it lands, or nearly so. A landing
// on dead reckoning goes on to the floor.
func (g *Guard) leavesSoon(in *Input, dt float64) bool {
	return g.mode != BlindLanding && g.mayLeave(in) && g.blindFor > g.config.Blind-1.5*dt
}

// leadOver is the policy's command c, or one between the law's and c in the first moments after the law flew. A policy
// that brakes may turn the robot by several rad/s at once. Should the controller stop just then, as it did before, an
// autopilot goes on with that for half a second.
func (g *Guard) leadOver(c quad.Command, dt float64) quad.Command {
	share := g.inMode / leadOverTime
	if g.mode != Flying || !g.lawFlew || share >= 1 {
		return c
	}
	from := g.fly(dt)
	return quad.Command{Thrust: from.Thrust + share*(c.Thrust-from.Thrust),
		Rates: from.Rates.Add(c.Rates.Sub(from.Rates).Scale(share))}
}

// leadOverTime is how long the way from the law's commands to the policy's takes, s.
const leadOverTime = 0.5

// farewell is the last command before the guard falls silent. An autopilot holds it for half a second or more, so that
// it turns slowly: to where thrust and wind are in balance.
func (g *Guard) farewell() quad.Command {
	m := g.belief.present(g.now)
	c := g.law.Track(g.now, &m.state, &quad.Reference{P: m.state.P, V: m.state.V, Yaw: m.state.Q.Yaw()})
	c.Rates = c.Rates.Scale(farewellGain / g.law.gains.Tilt)
	return c
}

// farewellGain is the body rate for an error in the direction of thrust, 1/s.
const farewellGain = 1.0

// fly is the law's command.
func (g *Guard) fly(dt float64) quad.Command {
	m := g.belief.present(g.now)
	s := &m.state
	r := quad.Reference{P: g.holdPoint, Yaw: g.yaw}
	switch g.mode {
	case TakingOff:
		r.P.Z, r.V.Z = g.climb(dt)
	case Landing, BlindLanding:
		r.P.Z, r.V.Z = g.sink(dt, s)
		if g.restingFor > restingSoon { // whatever the place says, it is not pushed along the floor
			r.P, r.V, g.law.integral = s.P, s.V, so3.Vec3{}
		}
	case Holding:
		if g.belief.unproven {
			r.P, g.law.integral = s.P, so3.Vec3{}
		}
		r.V = g.midway()
		g.holdPoint.Z += r.V.Z * dt
	}
	gently := g.gently(s)
	g.law.gains.MaxTilt = g.mostTilt(gently)
	c := g.law.Track(g.now, s, &r)
	c.Thrust = min(c.Thrust, g.settling(s))
	if g.leaves() {
		c.Thrust = g.liftThrust()
	}
	if (g.blindFor > 0 || gently) && s.Q.Tilt() < slowTilts*g.config.BlindMaxTilt {
		c.Rates = c.Rates.Shorten(slowTurn)
	}
	return c
}

// Of an autopilot's quick turns the model knows little: they fall short of what is commanded, and they lift. Nobody
// sees that without states, so that the law turns slowly, unless the robot is tilted far. So it does in a landing and
// in a gentle hold, which nothing hurries: should states end then, the attitude is known the better.
const (
	slowTurn  = 1.6 // rad/s, at most
	slowTilts = 2   // times blind_max_tilt
)

// mostTilt is how far the law may tilt the robot, rad.
func (g *Guard) mostTilt(gently bool) float64 {
	most, gentle := g.config.Gains.MaxTilt, gentleTilt*g.config.BlindMaxTilt
	against := math.Atan(g.sideWind() / quad.Gravity)
	switch {
	case g.blindFor > 0:
		return min(most, gentle+against, g.config.BlindMaxTilt)
	case gently:
		return min(most, gentle+against)
	}
	return most
}

// gently reports whether nothing hurries the law: it lands, or holds where states were missing or wrong for a moment
// and may be so again, and the fence is far enough.
func (g *Guard) gently(s *quad.State) bool {
	from := *s
	switch {
	case g.mode == Landing: // ordered in any flight: the slow turn comes first
		from.P = s.P.Add(s.V.Scale((s.Q.Tilt() + gentleTilt*g.config.BlindMaxTilt) / slowTurn))
	case g.mode != Holding || g.cause.OfPolicy():
		return false
	}
	_, far := g.gentleStop(&from)
	return far
}

// gentleStop is where a robot comes to rest that brakes by no more tilt than without states, and whether the fence is
// far enough.
func (g *Guard) gentleStop(s *quad.State) (stop so3.Vec3, ok bool) {
	brakes := quad.Gravity * math.Tan(gentleTilt*g.config.BlindMaxTilt)
	stop = s.P.Add(s.V.Scale(g.config.Reaction + s.V.Norm()/(2*brakes)))
	return stop, g.fence.inside(stop, inset) == stop
}

// settling is the most thrust, m/s², of a robot that may stand. In a wind, one that stands in its full thrust slides
// away, and on a pad the cushion of air lifts it again. One that did not stand falls, and gets its thrust back at once.
func (g *Guard) settling(s *quad.State) float64 {
	landing, seen := g.mode == BlindLanding || g.mode == Landing, g.blindFor == 0
	felt := seen && g.hiddenDelay == 0
	switch low := s.P.Z <= g.floor()+settlingHeight; {
	case g.belief.unproven || g.lift.unseen && s.V.Z < 0:
		return settlingThrust * quad.Gravity
	case landing && (low && !felt && g.restingFor > 0 || seen && g.restingFor > restingSoon):
		return standingThrust * quad.Gravity
	case landing && low && g.blindFor > 0:
		fall := gentleFall + windyFall*g.sideWind()
		return (quad.Gravity - g.belief.wind.Z - fall) / max(s.Q.ZAxis().Z, math.Cos(g.config.BlindMaxTilt))
	case landing && low && !felt:
		return settlingThrust * quad.Gravity
	}
	return math.Inf(1)
}

// sideWind is the wind's push along the floor, m/s².
func (g *Guard) sideWind() float64 { return math.Hypot(g.belief.wind.X, g.belief.wind.Y) }

// belowFloor is how far below the floor a robot without states is to be believed before its motors stop, m. It may be
// higher than believed, by the square of the time without them, and would fall. Where it is not, it stands in nearly
// its full thrust until then, and a wind pushes it along.
func (g *Guard) belowFloor() float64 {
	blind := min(g.blindFor/longBlind, 1)
	return max((mostBelowFloor-belowInWind*g.sideWind())*blind*blind, leastBelowFloor)
}

// sink lowers the descending reference, and returns its height and speed.
func (g *Guard) sink(dt float64, s *quad.State) (z, v float64) {
	v = g.descent()
	if g.mode == BlindLanding {
		v = g.config.BlindDescent
	}
	g.descentZ = max(g.descentZ-v*dt, s.P.Z-1.25*touchdownMargin)
	return g.descentZ, -v
}

// trip takes control authority from the policy, or from an autopilot that hands over.
func (g *Guard) trip(c Cause) {
	g.cause = c
	g.takeOver()
}

// takeOver has the law hold where the robot is, in the wind that is known.
func (g *Guard) takeOver() {
	g.law.Reset()
	g.law.integral = g.belief.wind.Scale(-1).Shorten(g.config.Gains.MaxIntegral)
	g.hold()
}

// minFlightHeight is the height above the ground, m, and minFlightSpeed the speed, m/s, from which on a robot flies.
// Under the policy it does from guardedSpeed on, m/s: a hard touch-down's less what it gains until the law acts.
const (
	minFlightHeight = 0.2
	minFlightSpeed  = 0.5
	guardedSpeed    = 0.3
)

func (g *Guard) flying() bool {
	s := &g.belief.state
	return g.lift.unseen || g.belief.known && (g.config.Flying(s) || g.mode == Flying && s.V.Norm() > guardedSpeed)
}

// Flying reports whether a robot is in the air, as far as its height and its speed tell.
func (c *Config) Flying(s *quad.State) bool {
	return s.P.Z > c.Ground+minFlightHeight || s.V.Norm() > minFlightSpeed
}

// hold sets the law's hold point.
func (g *Guard) hold() {
	s := &g.belief.state
	g.holdPoint = g.placeToHold(s)
	g.yaw = s.Q.Yaw()
	g.descentZ = s.P.Z
}

// holdAgain sets the hold point anew where states are there again: without them the robot hardly braked, and the way
// back to where it should have stopped would tilt it far.
func (g *Guard) holdAgain() {
	g.hold()
	if stop, ok := g.gentleStop(&g.belief.state); ok && !g.cause.OfPolicy() {
		g.holdPoint.X, g.holdPoint.Y = stop.X, stop.Y
	}
}

// hardlyBraked is for how long states were not there, s, that the law holds anew.
const hardlyBraked = 0.05

// placeToHold is where a robot can stop, inside the fence and off the ground.
func (g *Guard) placeToHold(s *quad.State) so3.Vec3 {
	p := g.fence.inside(g.config.stoppingPoint(s), inset)
	p.Z = max(p.Z, min(g.config.Ground+2*minFlightHeight, g.fence.hi.Z-inset))
	return p
}

// Touch-down: the reference is well below the robot, and that does not move; or it stands so low that it cannot fly;
// or, blind, it is believed so far below the floor that it must be there.
const (
	touchdownMargin = 0.4  // m
	touchMargin     = 0.1  // m, from when on it may have met the floor
	touchSpeed      = 0.6  // of the speed of a descent, the same
	maxRestSpeed    = 0.15 // m/s
	mostDrift       = 0.8  // m/s at which one at rest may seem to rise, where the source drifts
	minRestTime     = 0.5  // s
	restingSoon     = 0.1  // s, from when on a robot is kept level on the floor
	restHeight      = 0.12 // m above the ground
	leastBelowFloor = 0.03 // m, at least
	mostBelowFloor  = 0.5  // m, in no wind, after longBlind
	belowInWind     = 0.12 // m less for each m/s² of wind
	longBlind       = 2.2  // s without states, as a descent from 1 m takes
	gentleFall      = 0.6  // m/s² downwards, where a descent without states should have met the floor
	windyFall       = 0.25 // more of it for each m/s² of wind
	settlingHeight  = 0.12 // m
	settlingThrust  = 0.85 // weights, where the robot should stand on the floor, or fly just above it
	standingThrust  = 0.5  // weights, where it has
	blindSlack      = 1.0  // s beyond the time that a blind descent takes
	gentleTilt      = 0.86 // of blind_max_tilt, beside the wind: attitudes overshoot by a seventh
)

// rest sees how long the robot has been at rest. One that may stand has less thrust than its weight: if it flew, it
// would sink, whatever a source that drifts up shows. Where no states come any more, one that touched the floor, or did
// not sink, stays there. Of a stall nobody knows whether it rested.
func (g *Guard) rest(dt float64) {
	s, unproven, landing := &g.belief.state, g.belief.unproven, g.mode == Landing
	ahead := landing && g.descentZ < s.P.Z-touchdownMargin
	low := s.P.Z < g.config.Ground+restHeight || ahead || unproven
	borne := math.Abs(s.V.Z) < maxRestSpeed || landing && g.drifts() && s.V.Z > 0 && s.V.Z < mostDrift ||
		ahead && g.sinksBeneath(s)
	still := s.V.Norm() < maxRestSpeed || (landing || unproven) && low && borne
	stays := g.restingFor > 0 && s.P.Z < g.config.Ground+restHeight || g.restingFor > 2*restingSoon+g.config.MaxAge
	if low && still && g.blindFor == 0 || stays && g.blindFor > 0 {
		g.restingFor += min(dt, restingSoon)
	} else {
		g.restingFor = 0
	}
}

// floor is how high the floor is where nothing shows that a robot has met it, m: with its frame it has moved down. That
// it has moved up nobody relies on, for motors would stop in the air.
func (g *Guard) floor() float64 { return g.config.Ground + min(g.belief.raised, 0) }

func (g *Guard) atRest() bool {
	switch {
	case g.lift.unseen:
		return g.blindFor > unseenDescent
	case g.blindFor > 0:
		s := &g.belief.state
		longest := (g.holdPoint.Z-g.floor()+leastBelowFloor)/g.config.BlindDescent + blindSlack
		below := s.P.Z < g.floor()-g.belowFloor() || g.mode == BlindLanding && g.inMode > longest
		return (below || g.restingFor >= minRestTime) && (g.mode == BlindLanding || g.mode == Landing)
	}
	lies := g.belief.unproven && g.belief.state.Q.Tilt() > slowTilts*g.config.BlindMaxTilt // it fell meanwhile
	return lies || g.restingFor >= minRestTime
}
