package guard

// Mode is a state of the supervisor.
type Mode uint8

// Modes of the supervisor; docs/safety-states.svg draws what leads from one to the next.
const (
	Disarmed     Mode = iota // commands are not followed, and the robot stands or has not been seen
	Ready                    // it stands and commands are followed: least thrust
	TakingOff                // the law climbs
	Flying                   // the policy flies
	Holding                  // the law holds a place
	Landing                  // the law descends
	Autopilot                // in the air, the autopilot has it: commands are not followed, or not sent any more
	BlindLanding             // no usable state, no autopilot that lands by itself: the law descends on dead reckoning
	Landed                   // it stands after a landing: least thrust, until a take-off or a reset
	modeCount
)

var modeNames = [modeCount]string{"disarmed", "ready", "taking off", "flying", "holding", "landing", "autopilot has it",
	"blind landing", "landed"}

// String names the mode.
func (m Mode) String() string {
	if m < modeCount {
		return modeNames[m]
	}
	return "unknown"
}

// LawFlies reports whether the guard's control law flies the robot.
func (m Mode) LawFlies() bool {
	return m == TakingOff || m == Holding || m == Landing || m == BlindLanding
}

// Aloft reports whether commands of the guard or the policy keep the robot in the air.
func (m Mode) Aloft() bool { return m == Flying || m.LawFlies() }

// Event is what leads from one mode to another.
type Event uint8

// Events. Each is a condition of a tick; event.holds tests it.
const (
	Unfollowed    Event = iota // the autopilot does not follow commands; the robot is in the air
	UnfollowedLow              // the same; the robot stands, or has not been seen
	Standing                   // commands are followed; the robot stands
	Fault                      // something is wrong, or a trip was asked for, in the air
	FaultLow                   // something is wrong on the ground
	Well                       // in the air, nothing is wrong
	LandAsked                  // a landing was asked for in the air
	TakeOffAsked               // a take-off was asked for on the ground
	Climbed                    // the height of the take-off was held for return_after
	Lost                       // no states for longer than blind; the autopilot lands by itself
	LostAlone                  // no usable state for longer than blind_hold; in a landing, for longer than max_age
	Found                      // there is a usable state again
	FoundSoon                  // the same, before the autopilot can have noticed that no commands come
	FoundAgain                 // either, in a landing, on the ground or for the third time in ten seconds
	WellAgain                  // nothing was wrong for return_after, and the cause may be forgiven
	HeldLong                   // for longer than hold, or the source drifts and the robot has stopped
	AtRest                     // not moving, on the ground
	Falls                      // it falls freely after a landing that no state showed
	FollowedSoon               // commands are followed again at once, low
	eventCount
)

var eventWords = [eventCount]string{"commands not followed, in the air", "commands not followed, on the ground",
	"commands followed, on the ground", "fault in the air", "fault on the ground",
	"commands followed, in the air, all well", "land", "take off",
	"at takeoff_height for return_after", "states silent for blind, autopilot lands",
	"no true state for blind_hold, landing: max_age",
	"state again", "state again, before the autopilot noticed",
	"state again, in a landing, low, or the third time in 10 s",
	"all well for return_after, forgiven", "held for hold, or the source drifts",
	"at rest on the ground", "falls after an unseen landing", "commands followed again at once, low"}

// String says in words what happened.
func (e Event) String() string {
	if e < eventCount {
		return eventWords[e]
	}
	return "unknown"
}

// Transition leads from one mode to another.
type Transition struct {
	From Mode
	On   Event
	To   Mode
}

//go:generate go run generate.go

// Transitions are those of the supervisor; of several that are due the first is taken. docs/safety-states.svg draws
// them.
var Transitions = [...]Transition{
	{Disarmed, Unfollowed, Autopilot}, {Disarmed, FollowedSoon, Landing}, {Disarmed, Standing, Ready},
	{Disarmed, LandAsked, Landing},
	{Disarmed, Fault, Holding}, {Disarmed, Well, Flying},

	{Autopilot, UnfollowedLow, Disarmed}, {Autopilot, FollowedSoon, Landing}, {Autopilot, Standing, Ready},
	{Autopilot, LandAsked, Landing},
	{Autopilot, Fault, Holding}, {Autopilot, Well, Flying}, {Autopilot, FoundAgain, Landing},
	{Autopilot, FoundSoon, Holding},

	{Ready, Unfollowed, Autopilot}, {Ready, UnfollowedLow, Disarmed}, {Ready, TakeOffAsked, TakingOff},

	{TakingOff, Unfollowed, Autopilot}, {TakingOff, UnfollowedLow, Disarmed}, {TakingOff, LandAsked, Landing},
	{TakingOff, Lost, Autopilot}, {TakingOff, LostAlone, BlindLanding}, {TakingOff, Fault, Landing},
	{TakingOff, FaultLow, Landed}, {TakingOff, Climbed, Flying},

	{Flying, Unfollowed, Autopilot}, {Flying, UnfollowedLow, Disarmed}, {Flying, LandAsked, Landing},
	{Flying, Fault, Holding}, {Flying, FaultLow, Landed}, {Flying, AtRest, Landed},

	{Holding, Unfollowed, Autopilot}, {Holding, UnfollowedLow, Disarmed}, {Holding, Lost, Autopilot},
	{Holding, LostAlone, BlindLanding}, {Holding, LandAsked, Landing}, {Holding, AtRest, Landed},
	{Holding, WellAgain, Flying}, {Holding, HeldLong, Landing},

	{Landing, Unfollowed, Autopilot}, {Landing, UnfollowedLow, Disarmed}, {Landing, Lost, Autopilot},
	{Landing, LostAlone, BlindLanding}, {Landing, AtRest, Landed},

	{BlindLanding, Unfollowed, Autopilot}, {BlindLanding, UnfollowedLow, Disarmed}, {BlindLanding, AtRest, Landed},
	{BlindLanding, FoundAgain, Landing}, {BlindLanding, Found, Holding},

	{Landed, Unfollowed, Autopilot}, {Landed, UnfollowedLow, Disarmed}, {Landed, Falls, Holding},
	{Landed, TakeOffAsked, TakingOff},
}

// supervise takes the first transition that is due.
func (g *Guard) supervise(in *Input) {
	for i := range Transitions {
		if t := &Transitions[i]; t.From == g.mode && g.holds(t.On, in) {
			g.enter(t.To, t.On)
			break
		}
	}
	if g.takeOffAsked { // for this tick, and it is not taken up
		g.takeOffAsked = false
		if g.violation != None { // else commands are not followed any more, which is no trip
			g.cause = g.violation
		}
	}
}

// holds reports whether an event is there in this tick.
func (g *Guard) holds(e Event, in *Input) bool {
	flying, followed := g.flying(), !in.NotOffboard && !g.released
	mayFly := flying || g.mode == TakingOff && g.mayRise()
	stands := !mayFly && !g.belief.unproven
	switch e {
	case Unfollowed:
		return in.NotOffboard && mayFly
	case UnfollowedLow:
		return in.NotOffboard && !mayFly
	case Standing:
		return followed && !flying && g.belief.known
	case Fault:
		return followed && !stands && (g.violation != None && !g.climbsAlone() || g.tripAsked)
	case FaultLow:
		return followed && stands && g.violation != None
	case Well:
		return followed && flying && g.violation == None
	case LandAsked:
		return followed && g.landAsked
	case TakeOffAsked:
		return followed && !flying && g.takeOffAsked && g.violation == None
	case Climbed:
		return g.wellFor >= g.config.ReturnAfter && g.climbed()
	case Lost:
		return g.blindFor > g.config.Blind && g.mayLeave(in)
	case LostAlone:
		return g.blindFor > g.config.BlindHold ||
			g.blindFor > g.config.MaxAge && g.mode == Landing && !(g.mayLeave(in) && g.high())
	case Found:
		return g.blindFor == 0
	case FoundSoon:
		return g.released && g.blindFor == 0 && g.inMode < noticeTime
	case FoundAgain:
		found := Found
		if g.mode == Autopilot {
			found = FoundSoon
		}
		return g.holds(found, in) && (g.lostLanding || !flying || g.now-g.foundAt[maxFound-1] < foundMemory)
	case WellAgain:
		return g.wellFor >= g.config.ReturnAfter && g.forgivable() && !g.belief.unproven &&
			g.belief.state.V.Norm() < returnSpeed
	case HeldLong:
		return g.inMode >= g.config.Hold || g.drifts() && g.holdsInDrift()
	case AtRest:
		return g.atRest()
	case Falls:
		return followed && g.falls
	case FollowedSoon:
		return followed && !flying && g.belief.known && g.since(g.leftAt) < noticeTime
	}
	return false
}

// climbsAlone reports whether a take-off goes on without the policy, which the law does not need. It then holds at its
// height until the policy was heard for return_after, for as long as it holds anywhere.
func (g *Guard) climbsAlone() bool {
	return g.mode == TakingOff && g.violation == Unheard &&
		g.inMode < g.config.TakeoffHeight/g.config.TakeoffSpeed+g.config.Hold
}

// mayLeave reports whether an autopilot would land, and knows that it does not see.
func (g *Guard) mayLeave(in *Input) bool { return in.AutopilotLands && silentSource(g.violation) }

// high reports whether a landing would not be over before an autopilot takes part in it.
func (g *Guard) high() bool {
	return g.belief.state.P.Z-g.floor() > g.config.BlindDescent*(g.config.Blind+noticeTime)
}

// silentSource reports whether states are missing, so that an autopilot knows that it does not see. States that lie may
// lie to it as well.
func silentSource(c Cause) bool { return c == Stale || c == Invalid || c == Missed }

// noticeTime is the time without commands for which an autopilot still follows, s: PX4's COM_OF_LOSS_T is 1 s, that of
// quad_sim 0.5 s.
const noticeTime = 0.4

// enter takes up a mode.
func (g *Guard) enter(to Mode, on Event) {
	from := g.mode
	g.mode, g.inMode, g.lawFlew = to, 0, from.LawFlies()
	if !to.LawFlies() && to != Autopilot {
		g.forgetLift()
	}
	if from == TakingOff && (to.LawFlies() || to == Autopilot) {
		g.endLift()
	}
	stood := from == TakingOff || g.restingFor > restingSoon
	if from.Aloft() && (on == Unfollowed || on == UnfollowedLow && !stood) {
		g.leftAt = g.now
	}
	g.belief.unproven = g.belief.unproven && to.Aloft()
	if g.lostLanding = from == Landing && (on == Lost || on == LostAlone); !g.lostLanding {
		g.restingFor = 0
	}
	switch to {
	case Autopilot, Disarmed:
		g.released = on == Lost
	case Ready, Landed:
		g.landAsked, g.tripAsked, g.takeOffAsked = false, false, false
		g.belief.raised, g.driftUp, g.kinkUp = 0, 0, 0
		g.unseen, g.shownFor, g.falls = on == AtRest && g.blindFor > 0, 0, false
		if on == FaultLow {
			g.cause = g.violation
		}
	case TakingOff:
		g.takeOffAsked, g.cause = false, None
		g.law.Reset()
		g.hold()
		g.holdPoint, g.climbZ = g.belief.state.P, g.belief.state.P.Z
		g.lift.begin(&g.belief.state, g.now)
	case Flying:
		g.saturatedFor, g.landAsked, g.tripAsked = 0, false, false
		if on == WellAgain {
			g.forgive()
		}
		g.cause, g.driftUp, g.kinkUp = None, 0, 0
		g.hold() // what the law leads over from
	case Holding:
		if on == FoundSoon || on == Found || on == Falls {
			g.found()
			return
		}
		g.trip(g.causeNow())
	case Landing, BlindLanding:
		if on == FoundAgain {
			g.found()
		} else if !from.LawFlies() {
			g.trip(g.causeNow())
		} else if on == Fault || on == LandAsked && g.cause == None {
			g.cause = g.causeNow()
		}
		g.beginDescent(on)
	}
}

// beginDescent has the law land from where the robot is. The way back to where it should have stopped would make it
// quick, where the source drifts.
func (g *Guard) beginDescent(on Event) {
	if on == HeldLong && g.drifts() {
		g.hold()
	}
	g.descentZ = g.belief.state.P.Z
	g.holdPoint.Z = max(g.holdPoint.Z, g.descentZ) // a take-off began on the ground
}

// found has the law fly on from a state that is there again.
func (g *Guard) found() {
	copy(g.foundAt[1:], g.foundAt[:])
	g.foundAt[0], g.released = g.now, false
	g.takeOver()
}

// A source that comes and goes, or is believed by turns, ends in a landing: each time the law may be led elsewhere.
const (
	maxFound    = 2  // times that the law may hold again
	foundMemory = 10 // s
)

// causeNow is why control authority is taken from the policy in this tick.
func (g *Guard) causeNow() Cause {
	if g.violation != None {
		return g.violation
	}
	return Requested
}
