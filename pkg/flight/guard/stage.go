package guard

// Stage says who is in charge; Step.guard_state holds its number.
type Stage uint8

// Stages. From Hold to Off the guard has tripped, and stays so until Reset.
const (
	Policy  Stage = iota // the policy's command goes out as it is
	Limited              // the policy's command goes out, cut to the limits
	Hold                 // the law holds a point
	Land                 // the law descends
	Blind                // no usable state: the law flies on dead reckoning, and soon descends
	Off                  // least thrust: landed, or no state came yet
	Aside                // commands are not followed: the autopilot flies by itself, or stands
)

// String names the stage.
func (s Stage) String() string {
	if int(s) < len(stages) {
		return stages[s]
	}
	return "unknown"
}

var stages = [...]string{"policy", "limited", "hold", "land", "blind", "off", "aside"}

// Flown reports whether a tick's command was followed, from a state that was measured, by motors that turned: only of such
// does a model of flight learn.
func (s Stage) Flown() bool { return s < Blind }

// Guarded reports whether the guard's own command went out to who follows commands: the guard has tripped.
func (s Stage) Guarded() bool { return Hold <= s && s <= Off }

// Cause is why a guard trips.
type Cause uint8

// Causes; where several are there at once the first of this order counts.
const (
	None      Cause = iota
	Missed          // ticks were missed, or the clock jumped
	Stale           // the state is too old, or from the future
	Invalid         // the state is no state: not finite, or its quaternion not of unit norm
	Jump            // the state is not where the robot can be
	Fence           // the robot could not stop inside the geofence
	Tilt            // tilted further than allowed
	Speed           // faster than allowed
	NotFinite       // the policy's command is not finite
	Saturated       // the policy asked for the limits or more for too long
	Asked           // someone asked for it: Trip and Land
	Unpoised        // handed over where no policy can take over
	causes
)

// String says in words what happened.
func (c Cause) String() string {
	if c < causes {
		return causeNames[c]
	}
	return "unknown"
}

var causeNames = [causes]string{
	"nothing", "ticks were missed or the clock jumped", "the state is too old",
	"the state is not finite or its quaternion not of unit norm",
	"the state jumped", "no room to stop inside the geofence", "the tilt is too large", "the speed is too large",
	"the policy's command is not finite", "the policy asked for the limits for too long", "on request",
	"handed over on the ground, or far from where the task begins",
}
