package guard

// Stage says whose command a tick sent. Step.guard_state holds its number, which Step.msg names: numbers never change,
// and their order means nothing.
type Stage uint8

// Stages. In Hold, Land, Blind and Off the guard holds control authority; in Hold it may hand back by itself.
const (
	Policy      Stage = 0 // the policy's command is sent as it is
	Limited     Stage = 1 // the policy's command is sent, cut to limits, of tilt too, or led over to from the law's
	Hold        Stage = 2 // the guard's control law holds a position, or climbs in a take-off
	Land        Stage = 3 // the guard's control law descends
	Blind       Stage = 4 // no usable state: the control law flies on dead reckoning, and soon descends
	Off         Stage = 5 // least thrust: ready on the ground, landed, or no state has come yet
	NotOffboard Stage = 6 // the autopilot does not follow commands, or the guard stopped them so that it lands
)

var stages = [...]string{Policy: "policy", Limited: "limited", Hold: "hold", Land: "land", Blind: "blind", Off: "off",
	NotOffboard: "not offboard"}

// String names the stage.
func (s Stage) String() string {
	if int(s) < len(stages) {
		return stages[s]
	}
	return "unknown"
}

// Offboard reports whether the autopilot followed the tick's command.
func (s Stage) Offboard() bool { return s.PolicyFlies() || s.HoldsAuthority() }

// PolicyFlies reports whether the policy's command was sent and followed, as it was or limited.
func (s Stage) PolicyFlies() bool { return s == Policy || s == Limited }

// HoldsAuthority reports whether the guard's own command was sent and followed: it has tripped, takes off, or the
// robot stands.
func (s Stage) HoldsAuthority() bool { return s == Hold || s == Land || s == Blind || s == Off }

// Flown reports whether the command was followed, from a measured state, by turning motors. A model of flight learns
// from such ticks alone.
func (s Stage) Flown() bool { return s.PolicyFlies() || s == Hold || s == Land }

// Cause is why a guard trips.
type Cause uint8

// Causes; where several are there at once, that which check finds first counts.
const (
	None         Cause = iota
	Missed             // ticks were missed, or the clock jumped
	Stale              // the state is too old, or from the future
	Invalid            // the state is no state: not finite, or its quaternion not of unit norm
	Frozen             // the state comes again and again under new stamps
	Inconsistent       // positions and velocities contradict each other
	Disobeyed          // the attitude does not turn as commanded
	Jump               // the state is not where the robot can be
	Fence              // the robot is outside the geofence, or could not stop inside it
	Tilt               // tilted further than allowed
	Speed              // faster than allowed
	Delayed            // states are older than their stamps say
	Drifting           // the position moves as no force moves a robot
	NotFinite          // the policy's command is not finite
	Saturated          // the policy asked for the limits or more for too long
	Unheard            // no command of the policy comes
	Unseen             // the policy flies by landmarks, and no fresh frame shows them
	Floor              // the law could not stop a descent above the floor any more
	Requested          // requested: Trip and Land
	NotReady           // handed over where no policy can take over
	Unmeasured         // motors are commanded, and no body rates come
	Grounded           // the robot does not leave the ground in a take-off
	causeCount
)

// OfPolicy reports whether it may have been the policy's doing.
func (c Cause) OfPolicy() bool {
	switch c {
	case Disobeyed, Fence, Tilt, Speed, NotFinite, Saturated, Floor:
		return true
	}
	return false
}

// String says in words what happened.
func (c Cause) String() string {
	if c < causeCount {
		return causeNames[c]
	}
	return "unknown"
}

var causeNames = [causeCount]string{
	"nothing", "ticks were missed or the clock jumped", "the state is too old",
	"the state is not finite or its quaternion not of unit norm",
	"the state is frozen", "positions and velocities contradict each other", "the attitude does not turn as commanded",
	"the state jumped", "outside the geofence, or no room to stop inside it", "the tilt is too large",
	"the speed is too large",
	"states are older than their stamps say", "the position drifts as no force moves a robot",
	"the policy's command is not finite", "the policy asked for the limits for too long", "the policy is not heard",
	"the policy sees no landmarks",
	"no room to stop above the floor", "on request",
	"handed over on the ground, or far from where the task begins",
	"no body rates come", "the robot does not leave the ground",
}
