package guard

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Input is what a tick hands to the guard. All times are of one clock, in s.
type Input struct {
	Now         float64
	Stamp       float64 // of State; −Inf while there is none
	State       quad.State
	Command     quad.Command // what the policy asks for
	NoCommand   bool         // the policy is not heard: Command says nothing
	NoRates     bool         // the vehicle flies by body rates, and none are measured
	FrameAge    float64      // of the newest frame that shows the policy its landmarks; 0 where it sees positions
	NotOffboard bool         // the command that goes out is not followed: the autopilot flies by itself, or stands

	// NotReady says that no policy can take over from State: the robot stands, or is far from its task reference. It
	// counts until commands are followed, and in the first tick in which they are.
	NotReady bool

	// TwoSources says that states of another source come between, and are left out.
	TwoSources bool

	// AttitudeLeapt says that the attitude leapt as no robot turns, and stays there.
	AttitudeLeapt bool

	// AutopilotLands says that the autopilot lands by itself, without a position from here, once no commands come.
	AutopilotLands bool
}

// Guard decides, tick for tick, which command goes out: a supervisor with the modes and transitions of supervisor.go,
// tests of state and command, and a control law. It is for one goroutine and allocates nothing after New.
type Guard struct {
	config   Config
	limits   quad.Limits
	fence    box
	law      *Law
	belief   belief
	detector detector
	returns  returns

	mode         Mode
	released     bool // commands are no longer sent: the autopilot lands
	landAsked    bool
	tripAsked    bool
	takeOffAsked bool
	blindFor     float64 // time without a usable state, s
	doubted      bool    // the newest state was not believed, whatever has been silent since
	limited      bool    // the policy's command was cut
	beyond       float64 // by how much further it would have tilted the robot by now, rad
	uncut        bool    // it was sent as it is, in a recorded tick
	notOffboard  bool    // the command was not followed
	saturatedFor float64 // time for which the policy asked for the limits, s

	now           float64 // of the last tick, NaN before the first, s
	inMode        float64 // time in the mode, s
	lawFlew       bool    // in the mode before
	wellFor       float64 // time without a fault, s
	cause         Cause   // of the trip
	violation     Cause   // of the last tick
	counts        [causeCount]uint64
	sampled       float64           // stamp of the newest sample looked at, s
	suspected     Cause             // of the source of states
	attitudeLeapt bool              // the newest attitude had leapt
	hiddenDelay   float64           // by which stamps are younger than states, s
	leaps         int               // samples in a row that leapt ahead to where the robot is
	leaptAt       float64           // when such a leap ended it, s
	promptSince   float64           // when it was over, s
	driftedAt     float64           // when the position last drifted, s
	kinkAt        float64           // when its newest kink was found first, s
	driftUp       float64           // m/s by which the source drifts upwards, or the robot was pushed, before that
	kinkUp        float64           // m/s more of it since then
	twistedAt     float64           // when velocities last contradicted positions, s
	lostLanding   bool              // the state was lost in a landing, which goes on where there is one again
	leftAt        float64           // when commands were not followed any more of a robot that may fly, s
	foundAt       [maxFound]float64 // when the law went on from a state that was there again, the newest first, s

	holdPoint  so3.Vec3 // where the law holds
	yaw        float64
	descentZ   float64 // height of the descending reference, m
	climbZ     float64 // height of the climbing reference, m
	lift       lift
	restingFor float64 // time at rest on the way down, s
	unseen     bool    // it landed on dead reckoning
	shownFor   float64 // time with fresh states since then, s
	falls      bool    // and had not
	sent       quad.Command
}

// inset is how far inside the geofence the law holds, m.
const inset = 0.3

// New returns a guard that has seen nothing. The error names the parameter at fault.
func New(c Config, l quad.Limits) (*Guard, error) {
	law, err := NewLaw(c.Gains, l)
	if err != nil {
		return nil, err
	}
	fence, err := newBox(c.FenceMin, c.FenceMax)
	if err != nil {
		return nil, err
	}
	if !(c.Ground+minFlightHeight < fence.hi.Z-inset) {
		return nil, fmt.Errorf("ground is at %g m, expected below the geofence's top at %g m", c.Ground, fence.hi.Z)
	}
	never := math.Inf(-1)
	return &Guard{config: c, limits: l, fence: fence, law: law, belief: newBelief(&c), now: math.NaN(),
		sampled: math.NaN(), driftedAt: never, kinkAt: never, twistedAt: never, leaptAt: never, promptSince: never,
		leftAt: never, foundAt: [maxFound]float64{never, never}, sent: hoverCommand}, nil
}

// Tick returns the command that goes out, unless the guard is Silent: always finite and within the limits.
func (g *Guard) Tick(in *Input) quad.Command {
	dt, missed := g.elapse(in.Now)
	if g.hiddenDelay > 0 && math.Abs(in.Now-in.Stamp) <= g.config.MaxAge { // found out by now
		late := *in
		late.Stamp -= g.hiddenDelay
		in = &late
	}
	if g.contradicted() || g.since(g.leaptAt) < leapMisled { // its positions are believed, not its velocities
		own := *in
		own.State.V = g.ownVelocity(in)
		in = &own
	}
	if g.notOffboard != in.NotOffboard {
		g.detector.reset()
	}
	g.violation = g.check(in, dt, missed)
	g.notOffboard = in.NotOffboard
	g.count(dt)
	g.supervise(in)
	g.sent = g.command(in, dt)
	acts := g.sent
	if in.NotOffboard { // not what was sent
		acts = hoverCommand
	}
	if !g.Silent() {
		g.belief.plant.send(g.now, acts)
	}
	return g.sent
}

// count lets the supervisor's timers go on.
func (g *Guard) count(dt float64) {
	g.inMode += dt
	if g.violation == None {
		g.wellFor += dt
	} else {
		g.wellFor = 0
	}
	if g.mode == Autopilot && g.inMode > noticeTime { // it has flown it elsewhere
		g.forgetLift()
	}
	g.rest(dt)
}

// elapse returns the time since the last tick, at most MaxGap, and whether it was longer or the clock went back.
func (g *Guard) elapse(now float64) (dt float64, missed bool) {
	last := g.now
	if now*0 == 0 {
		g.now = now
	}
	if math.IsNaN(last) { // the first tick
		return 0, false
	}
	dt = now - last
	if !(dt >= 0) || dt > longStall {
		g.ShiftTimes(dt, now)
		g.belief.stalled = g.belief.known && !g.doubted && dt > longStall
	}
	if !(dt >= 0) {
		return 0, true
	}
	if dt > g.config.MaxGap && dt <= longStall {
		g.belief.pause(now)
	}
	return min(dt, g.config.MaxGap), dt > g.config.MaxGap
}

// longStall is the time over which the motion before says nothing any more, s; or a clock was set forward.
const longStall = 0.5

// Ahead is where the guard's model carries a measured state from one time to a later one, s, under what was sent.
func (g *Guard) Ahead(s *quad.State, from, to float64) quad.State {
	return g.belief.plant.ahead(s, from, to, g.belief.wind)
}

// Mode is that of the supervisor.
func (g *Guard) Mode() Mode { return g.mode }

// Silent reports whether no command is to go out, so that the autopilot notices, and lands.
func (g *Guard) Silent() bool { return g.released }

// Stage says who was in charge of the last tick.
func (g *Guard) Stage() Stage {
	switch {
	case g.notOffboard || g.released:
		return NotOffboard
	case g.mode == Flying && g.limited:
		return Limited
	case g.mode == Flying:
		return Policy
	case g.mode.LawFlies() && g.blindFor > 0:
		return Blind
	case g.mode == Holding || g.mode == TakingOff:
		return Hold
	case g.mode == Landing || g.mode == BlindLanding:
		return Land
	}
	return Off
}

// Tripped is why the policy does not fly, or would not if commands were followed; None while it does.
func (g *Guard) Tripped() Cause {
	switch {
	case g.mode == Flying:
		return None
	case g.mode == Disarmed || g.mode == Autopilot && !g.released:
		if g.landAsked || g.tripAsked {
			return Requested
		}
		return g.violation
	case g.cause == None && (g.mode == Ready || g.mode == Landed):
		return NotReady
	case g.cause == None:
		return Requested
	}
	return g.cause
}

// Violation is what was wrong at the last tick, tripped already or not.
func (g *Guard) Violation() Cause { return g.violation }

// Count is how often something went wrong: from a tick without it to one with it.
func (g *Guard) Count(c Cause) uint64 { return g.counts[c] }

// Trip takes control authority from the policy on request: the law holds, then lands.
func (g *Guard) Trip() { g.tripAsked = true }

// ShiftTimes has all times follow a clock that was set by so many seconds, and reads now.
func (g *Guard) ShiftTimes(by, now float64) {
	g.belief.shift(by, now)
	g.lift.free.at += by
	g.sampled = math.NaN()
	g.detector.reset()
}

// Redate says that stamps follow another clock from now on: the next state may come as if no time had passed.
func (g *Guard) Redate() { g.belief.pause(g.now) }

// Recall has the guard be as it was in a recorded tick, whatever it finds by itself.
func (g *Guard) Recall(was Stage) {
	g.uncut, g.beyond = was == Policy, 0
	switch {
	case was.PolicyFlies() && g.mode != Flying:
		g.enter(Flying, Well)
	case was.HoldsAuthority() && !g.mode.LawFlies():
		g.enter(Holding, Fault)
	}
}

// TakingOff reports whether a take-off goes on, from the request for it to its height.
func (g *Guard) TakingOff() bool { return g.takeOffAsked || g.mode == TakingOff }

// Land makes the law land, or once commands are followed.
func (g *Guard) Land() { g.landAsked = true }

// TakeOff makes the law take off at the next tick, or never where anything is wrong then. It refuses anywhere but on
// the ground, and while anything is wrong.
func (g *Guard) TakeOff() error {
	switch {
	case !g.belief.known:
		return errors.New("no take-off: there is no state")
	case g.mode != Ready && g.mode != Landed:
		return fmt.Errorf("no take-off: the robot is %v, expected ready on the ground", g.mode)
	case g.violation != None && g.violation != NotReady:
		return fmt.Errorf("no take-off: %v", g.violation)
	case g.flying():
		return errors.New("no take-off: the robot moves, or is above the ground, expected it to stand there")
	case g.hiddenDelay > 0: // nothing shows it on the ground, and in the air the law would land at once
		return fmt.Errorf("no take-off: %v, found in flight; ~/reset_guard forgets that", Delayed)
	}
	g.takeOffAsked, g.landAsked, g.tripAsked = true, false, false // what was asked of a robot that stood is done
	return nil
}

// Reset returns control authority to the policy from the next tick on, or once commands are followed. A robot that
// stands stays there. It refuses while anything is wrong, but for the place of a hand-over, which is looked at when
// that comes.
func (g *Guard) Reset() error {
	switch {
	case !g.belief.known:
		return errors.New("the guard stays: there is no state")
	case g.violation != None && g.violation != NotReady && g.violation != Delayed && g.violation != Drifting &&
		g.violation != Inconsistent:
		return fmt.Errorf("the guard stays: %v", g.violation)
	case g.mode == TakingOff && !g.flying() && g.mayRise():
		return errors.New("the guard stays: the robot takes off")
	case g.mode.LawFlies() && !g.flying() && (g.restingFor <= restingSoon || g.belief.unproven):
		// least thrust would drop it
		return errors.New("the guard stays: the robot is about to touch down")
	}
	g.landAsked, g.tripAsked, g.released = false, false, false
	g.hiddenDelay, g.leaps, g.belief.elsewhere = 0, 0, false
	g.driftedAt, g.twistedAt, g.leaptAt, g.promptSince = math.Inf(-1), math.Inf(-1), math.Inf(-1), math.Inf(-1)
	g.driftUp, g.kinkUp = 0, 0
	g.detector.reset()
	switch {
	case g.mode == Disarmed || g.mode == Autopilot:
	case g.flying() || g.mode == Flying:
		g.enter(Flying, Well)
	default:
		g.enter(Ready, Standing)
	}
	return nil
}
