package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// check tests everything, tripped or not, and returns the first thing that is wrong: missed ticks, then the sample, the
// motion, the command, the place of a hand-over.
func (g *Guard) check(in *Input, dt float64, missed bool) Cause {
	found := g.checkState(in, dt)
	if missed {
		found = Missed
	}
	if found == None {
		found = g.checkMotion(in)
	}
	if asked := g.checkCommand(in, dt); found == None {
		found = asked
	}
	if found == None && in.NotReady && (g.mode == Disarmed || g.mode == Autopilot) {
		found = NotReady
	}
	if found != None && found != g.violation {
		g.counts[found]++
	}
	return found
}

// checkState brings the belief up to date: by the state given or, where that cannot be used, by dead reckoning.
func (g *Guard) checkState(in *Input, dt float64) Cause {
	b := &g.belief
	wrong := Grounded
	if !g.lift.unseen { // else it looks at another body
		wrong = g.checkSample(in)
	}
	if wrong == None {
		g.findFall(in, dt)
	}
	if wrong == None && g.risesUnseen(in, dt) {
		wrong = Grounded
	}
	if wrong == None {
		if in.Stamp < b.stamp-g.config.MaxAge { // the clock was set back
			b.stamp, b.at = in.Stamp, in.Stamp
			b.past.cut(in.Stamp)
		} else if in.Stamp > b.stamp {
			g.updateBelief(in)
		}
		if b.rejected {
			wrong = Jump
		}
	}
	if wrong == None {
		g.blindFor, g.doubted = 0, false
		return None
	}
	g.doubted = g.doubted || wrong != Stale
	g.blindFor += dt
	if b.known && g.mode.Aloft() {
		b.deadReckon(g.now)
	}
	return wrong
}

// checkSample tests the newest sample by itself and beside those before it.
func (g *Guard) checkSample(in *Input) Cause {
	switch age := in.Now - in.Stamp; {
	case !(math.Abs(age-g.hiddenDelay) <= g.config.MaxAge):
		return Stale
	case !valid(&in.State):
		return Invalid
	}
	fresh := false
	if in.Stamp != g.sampled {
		g.sampled = in.Stamp
		if in.AttitudeLeapt != g.attitudeLeapt { // what came before says nothing of turns
			g.detector.begin(&in.State, in.Stamp, &g.belief.plant)
		} else {
			fresh = g.detector.add(&in.State, in.Stamp, &g.belief.plant)
		}
		g.attitudeLeapt = in.AttitudeLeapt
	}
	flying := g.flying()
	if !flying && !g.lifted() || !g.mode.Aloft() && !g.config.Flying(&in.State) { // it stands
		if fresh && !g.mode.Aloft() {
			g.detector.stands()
		}
		return None
	}
	if flying {
		g.findTwist(in)
	}
	cause, since := g.suspect(in)
	if fresh && flying && cause == None && !in.NotOffboard && !g.belief.rejected {
		g.detector.learnBias(&g.belief.plant)
	}
	if cause != None && cause != g.suspected && g.belief.known {
		g.belief.rewind(since-misledFor(cause), in.Now)
	}
	g.suspected = cause
	return cause
}

// lifted reports whether a robot that is low and slow may be in the air. Where no pose of one that stands comes twice,
// it need not have been seen to rise: the source may have frozen before.
func (g *Guard) lifted() bool {
	switch d := &g.detector; {
	case g.mode == Landing || g.suspected == Frozen && g.mode.Aloft():
		return true
	case g.mode.LawFlies():
		return d.pose.noisy() || g.mode == TakingOff && g.rises()
	}
	return false
}

// misledFor is for how long before the evidence began the belief may have been led astray, s.
func misledFor(c Cause) float64 {
	if c == Frozen {
		return historySpacing
	}
	return 0.3
}

// suspect says what is wrong with the source of states, and since when.
func (g *Guard) suspect(in *Input) (Cause, float64) {
	d := &g.detector
	if since, found := d.frozen(in.Stamp); found {
		d.stuck()
		return Frozen, since
	}
	if in.NotOffboard || !g.flying() || g.mayTouch() { // commands are not what moves it
		return None, 0
	}
	if since, found := d.disobeyed(); found {
		return Disobeyed, since
	}
	return None, 0
}

// updateBelief hands the belief a new state.
func (g *Guard) updateBelief(in *Input) {
	if g.catchUp(in) {
		return
	}
	before, lostFor, stalled := g.belief.state.P, g.blindFor, g.belief.stalled
	velocity := in.State.V
	if !in.NotOffboard { // commands are what acts
		velocity = g.velocity(in, velocity)
	}
	low := g.mode.Aloft() && g.low(&in.State)
	g.belief.attitudeLeapt = in.AttitudeLeapt && g.flying()
	believed := g.belief.update(&in.State, velocity, in.Stamp, low, g.mode == Landing && g.drifts(),
		g.upDrift())
	if late, found := g.lateSinceGap(); found && !in.NotOffboard && g.config.Flying(&in.State) {
		g.setDelay(g.hiddenDelay+late, in)
		believed = true
	}
	if g.belief.struck && g.mode.Aloft() { // it stays there
		g.landAsked = true
	}
	g.belief.struck = false
	switch {
	case !g.mode.Aloft() || g.belief.state.P.Z > g.config.Ground+minFlightHeight: // not by its velocity: it may bounce
		g.belief.unproven = false
	case stalled && believed && !g.flying():
		g.belief.unproven = true
	}
	if believed && g.stands(&in.State) { // what the ground bears is no wind
		g.belief.wind, g.belief.state.V = so3.Vec3{}, in.State.V
	}
	if in.NotOffboard { // commands are not what acts
		g.belief.acting = hoverCommand
	}
	switch {
	case !believed || lostFor == 0 && !stalled || !g.mode.LawFlies():
	case in.State.P.Sub(before).Norm() > g.config.Jump:
		g.hold() // elsewhere: the law goes on from there
	case g.mode == Holding && lostFor > hardlyBraked:
		g.holdAgain()
	}
}

// stands reports whether the ground bears a robot: it is low, and neither falls nor climbs. One that lands may slide.
func (g *Guard) stands(s *quad.State) bool {
	return (!g.config.Flying(s) || g.down(s)) && math.Abs(s.V.Z) < maxRestSpeed
}

// mayTouch reports whether a robot that lands hardly sinks: it may have met the floor, wherever that is.
func (g *Guard) mayTouch() bool {
	s := &g.belief.state
	return g.mode == Landing && s.V.Z > -touchSpeed*g.descent() && g.descentZ < s.P.Z-touchMargin
}

// low reports whether the ground may bear a robot.
func (g *Guard) low(s *quad.State) bool { return s.P.Z <= g.config.Ground+minFlightHeight }

// down reports whether a robot that lands has come to rest on the floor, along which it may slide.
func (g *Guard) down(s *quad.State) bool {
	return g.mode == Landing && g.restingFor > restingSoon && s.P.Z < g.config.Ground+restHeight
}

// checkMotion tests the robot's motion.
func (g *Guard) checkMotion(in *Input) Cause {
	s := &g.belief.state
	switch {
	case !g.belief.known:
		return Stale
	case !g.fence.contains(s.P):
		return Fence
	case s.Q.Tilt() > g.config.MaxTilt || g.beyond > mostBeyond:
		return Tilt
	case s.V.Norm() > g.config.MaxSpeed:
		return Speed
	}
	return g.checkSource(in)
}

// checkSource tests what shows in the motion only by and by: hidden delay and drift.
func (g *Guard) checkSource(in *Input) Cause {
	if g.notOffboard || !g.flying() {
		return None
	}
	if in.TwoSources {
		return Jump
	}
	// Of a leap the next sample decides. Contradictions hide a new delay, not the end of a known one.
	if g.leaps == 0 && !g.leaves() && !g.mayTouch() && (g.hiddenDelay > 0 || !g.contradicted()) {
		g.findDelay(in)
	}
	if g.contradicted() {
		return Inconsistent
	}
	if g.hiddenDelay > 0 {
		return Delayed
	}
	g.findDrift()
	if g.drifts() {
		return Drifting
	}
	return None
}

// findTwist looks for velocities that contradict positions. From then on the belief is made of positions alone: a slow
// robot hides the contradiction for long, and what was believed meanwhile is not true.
func (g *Guard) findTwist(in *Input) {
	if _, found := g.detector.twisted(); !found || in.NotOffboard {
		return
	}
	if g.detector.comesAgain() { // which says nothing of its velocity
		return
	}
	before := g.contradicted()
	g.twistedAt = g.now
	if before || !g.belief.known {
		return
	}
	g.belief.rewind(in.Stamp-misledByTwist, in.Stamp) // for the wind
	s := in.State
	s.V = g.ownVelocity(in)
	g.belief.begin(&s, in.Stamp)
}

// contradicted reports whether positions alone are believed.
func (g *Guard) contradicted() bool { return g.since(g.twistedAt) < twistMemory }

// since is the time from another one until now, s; +Inf after the clock was set back behind it.
func (g *Guard) since(at float64) float64 {
	if g.now < at {
		return math.Inf(1)
	}
	return g.now - at
}

// ownVelocity is that of the positions measured of late, or the one believed.
func (g *Guard) ownVelocity(in *Input) so3.Vec3 { return g.velocity(in, g.belief.state.V) }

// velocity is that of the positions measured of late, or another one where there are too few.
func (g *Guard) velocity(in *Input, other so3.Vec3) so3.Vec3 {
	free := in.State.P.Z > g.config.Ground+restHeight
	if v, ok := g.detector.velocity(in.State.P, in.Stamp, g.belief.wind, free); ok {
		return v
	}
	return other
}

const (
	misledByTwist = 0.8  // s for which a wrong velocity may have led the belief astray
	twistMemory   = 10.0 // s for which a contradiction is not forgiven
)

// findDelay looks for hidden delay and, once there is some, for what it is off by: not far, for under a motion that
// repeats itself a delay can be told from that of a period later by where it is looked for alone.
func (g *Guard) findDelay(in *Input) {
	d, known := &g.detector, g.hiddenDelay > 0
	if known && d.n > 1 && d.over(int(math.Round(g.hiddenDelay/d.spacing()))) {
		g.setDelay(0, in)
		return
	}
	from, to := minDelay, maxDelay
	if known {
		from, to = -delayTrim, delayTrim
	}
	k, found := d.delayed(from, to)
	if !found && !known {
		k, found = d.delayedByGap()
	}
	if !found {
		return
	}
	spacing := d.spacing()
	late := min(g.hiddenDelay+float64(k)*spacing, max(maxDelay*spacing, g.hiddenDelay))
	if late < (minDelay-0.5)*spacing { // no fault
		late = 0
	}
	g.setDelay(late, in)
}

// setDelay has states be reckoned with as late by so many seconds, from the one of this tick on.
func (g *Guard) setDelay(late float64, in *Input) {
	before, d := g.hiddenDelay, &g.detector
	if g.hiddenDelay = late; late == 0 {
		g.promptSince = g.now
	}
	d.reset()
	g.belief.begin(&in.State, in.Stamp-(late-before))
	d.bias, g.belief.plant.bias = so3.Vec3{}, so3.Vec3{} // learned of turns that were compared too early
	d.timing, g.belief.plant.lead = timing{}, 0
}

// checkCommand tests the policy's command.
func (g *Guard) checkCommand(in *Input, dt float64) Cause {
	c := in.Command
	if in.NoCommand {
		g.saturatedFor = 0
		return Unheard
	}
	if in.NoRates {
		g.saturatedFor = 0
		return Unmeasured
	}
	if !c.Finite() {
		return NotFinite
	}
	if g.mode != Flying || !g.atLimit(c) {
		g.saturatedFor = 0
	} else if g.saturatedFor += dt; g.saturatedFor > g.config.Saturation {
		return Saturated
	}
	switch {
	case !g.flying():
		return None
	case g.needsFrames() && !(math.Abs(in.FrameAge) <= g.config.MaxFrameAge):
		return Unseen
	}
	return g.recoverable(g.limits.Clip(c), g.now)
}

// needsFrames reports whether a policy that flies by landmarks has to see them: not on its way to where it begins.
func (g *Guard) needsFrames() bool { return g.mode != TakingOff || g.climbed() }

// climbed reports whether the robot is where a take-off ends.
func (g *Guard) climbed() bool {
	return g.belief.state.P.Z >= g.config.Ground+0.9*g.config.TakeoffHeight
}

// atLimit reports whether a command is at a limit of the airframe or beyond it.
func (g *Guard) atLimit(c quad.Command) bool {
	l := &g.limits
	at := func(x, most float64) bool { return math.Abs(x) >= most*(1-1e-6) }
	return c.Thrust <= l.MinThrust || at(c.Thrust, l.MaxThrust) || at(c.Rates.X, l.MaxTiltRate) ||
		at(c.Rates.Y, l.MaxTiltRate) || at(c.Rates.Z, l.MaxYawRate)
}
