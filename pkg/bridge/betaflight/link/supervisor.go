package link

import (
	"errors"
	"fmt"
	"strings"

	"vnd/pkg/bridge/betaflight/msp"
)

// State is what a Supervisor does.
type State uint8

// States.
const (
	Unknown State = iota // the board has not told whether it is armed: nothing is sent
	Foreign              // it was armed by someone else, who flies it: nothing is sent
	Idle                 // disarmed: sticks at rest, so that the receiver does not count as lost
	Prearm               // the switch for prearming is on
	Arming               // the switch for arming is on, the throttle low
	Flying               // commands are followed
	Silent               // commands are old: nothing is sent, so that the board's failsafe acts
	ByHand               // the operator's sticks fly; those of commands go out, but the board does not take them
	Resting              // commands are old, and MSP overrides the operator: the board would keep the last sticks
)

var stateNames = [...]string{"waits for the board", "armed by someone else: nothing is sent", "disarmed", "prearms",
	"arms", "follows commands", "silent: commands are old", "the pilot flies: MSP OVERRIDE is off",
	"commands are old: the throttle is low until the pilot switches MSP OVERRIDE off"}

// String is the state in words.
func (s State) String() string { return stateNames[s] }

// Times of the Supervisor.
type Times struct {
	CommandTimeout float64 `param:"command_timeout" default:"0.1" min:"0.02" max:"1" unit:"s" doc:"age of a command after which nothing is sent, so that the board's failsafe acts"`
	PrearmTime     float64 `param:"prearm_time" default:"0.2" min:"0.05" max:"5" unit:"s" doc:"time between the switches for prearming and arming"`
	ArmTimeout     float64 `param:"arm_timeout" default:"2.0" min:"0.1" max:"30" unit:"s" doc:"time that the board has to arm, beside prearm_time"`
}

// Fresh is how old what a board told may be, s.
const Fresh = 1.0

// Seen is what a Supervisor goes by.
type Seen struct {
	Now     float64 // s
	Command float64 // when the newest command came, s; before the first, −∞
	Known   bool    // the board has told within Fresh
	Armed   bool
	Why     msp.Flags // why it does not arm

	Override bool // the operator has MSP override the sticks
}

// Sends is what goes out.
type Sends struct {
	Frame       bool // at all
	Arm, Prearm bool // switches that are on
	Follow      bool // the sticks are those of the command, else at rest
}

// Supervisor decides what is sent to a board: when it is armed, and when nothing may go out.
type Supervisor struct {
	Times
	// Prearms has it use the switch for prearming.
	Prearms bool
	// Overrides has it leave arming to an operator, whose sticks count until a switch gives them over.
	Overrides bool

	state     State
	since     float64   // of the state, s
	ordered   bool      // to be armed
	orderedAt float64   // s
	locked    msp.Flags // when the board locked its switch during the order
	refusal   string    // why arming failed last
}

// State is the present one.
func (s *Supervisor) State() State { return s.state }

// Ordered reports whether the board is to be armed.
func (s *Supervisor) Ordered() bool { return s.ordered }

// Refusal is why arming failed last, "" if it did not.
func (s *Supervisor) Refusal() string { return s.refusal }

// Arm orders the board to be armed. It is refused unless the board is known to be disarmed, and commands come.
func (s *Supervisor) Arm(x *Seen) error {
	switch {
	case s.Overrides:
		return errors.New("arming is refused: the pilot arms, and gives over by the switch of MSP OVERRIDE")
	case s.state == Flying:
		return nil
	case s.state != Idle:
		return fmt.Errorf("arming is refused: the bridge %s", s.state)
	case !x.Known || x.Armed:
		return errors.New("arming is refused: the board does not say that it is disarmed")
	case !s.fresh(x):
		return fmt.Errorf("arming is refused: no command for %.2g s", s.CommandTimeout)
	}
	s.ordered, s.orderedAt, s.refusal, s.locked = true, x.Now, "", 0
	return nil
}

// Disarm orders the motors off.
func (s *Supervisor) Disarm() { s.ordered = false }

func (s *Supervisor) fresh(x *Seen) bool { return x.Now-x.Command <= s.CommandTimeout }

// Step decides for what is seen now.
func (s *Supervisor) Step(x *Seen) Sends {
	if next := s.next(x); next != s.state {
		s.state, s.since = next, x.Now
	}
	if s.Overrides {
		return Sends{Frame: s.state != Unknown, Follow: s.state != Unknown && s.fresh(x)}
	}
	switch s.state {
	case Idle:
		return Sends{Frame: true}
	case Prearm:
		return Sends{Frame: true, Prearm: true}
	case Arming:
		return Sends{Frame: true, Prearm: s.Prearms, Arm: true}
	case Flying:
		return Sends{Frame: true, Prearm: s.Prearms, Arm: true, Follow: true}
	}
	return Sends{}
}

// next is the state that follows.
func (s *Supervisor) next(x *Seen) State {
	if s.Overrides {
		return s.overriding(x)
	}
	elapsed := x.Now - s.since
	switch s.state {
	case Unknown, Foreign:
		if !x.Known {
			return s.state
		}
		if x.Armed {
			return Foreign
		}
		return Idle
	case Idle:
		switch {
		case x.Known && x.Armed && elapsed >= Fresh: // before, the board may tell of the time before
			s.ordered = false
			return Foreign
		case s.ordered && !s.over(x):
			return s.preparing(x, elapsed)
		}
	case Prearm:
		if !s.ordered || s.over(x) {
			return Idle
		}
		if elapsed >= s.PrearmTime {
			return Arming
		}
	case Arming:
		return s.arming(x)
	case Flying, Silent:
		return s.flying(x)
	}
	return s.state
}

// overriding is the state that follows where an operator may have MSP override the sticks. Unless the board tells, it
// is as it was.
func (s *Supervisor) overriding(x *Seen) State {
	switch {
	case !x.Known && (s.state == Unknown || s.state == ByHand):
		return s.state
	case x.Known && !x.Override:
		return ByHand
	case !s.fresh(x):
		return Resting
	}
	return Flying
}

// over gives an order up whose time has passed, or during which commands have ended.
func (s *Supervisor) over(x *Seen) bool {
	allowed := s.ArmTimeout
	if s.Prearms {
		allowed += s.PrearmTime
	}
	switch {
	case !s.fresh(x):
		s.ordered, s.refusal = false, fmt.Sprintf("no command for %.2g s", s.CommandTimeout)
	case x.Now-s.orderedAt >= allowed:
		s.refuse(x)
	}
	return !s.ordered
}

// preparing waits until nothing but the switch for prearming keeps the board from arming. A board that finds something
// else while its other switch is on locks that switch, until it is off.
func (s *Supervisor) preparing(x *Seen, elapsed float64) State {
	const pause = 0.2 // s, from a lock to the next try
	switch {
	case !x.Known || x.Armed || x.Why&^msp.NoPrearm != 0 || s.locked != 0 && elapsed < pause:
		return Idle
	case s.Prearms:
		return Prearm
	}
	return Arming
}

// refuse gives the order up.
func (s *Supervisor) refuse(x *Seen) {
	s.ordered, s.refusal = false, "the board does not arm"
	if words := (x.Why | s.locked).Words(); len(words) > 0 {
		s.refusal += ": " + strings.Join(words, "; ")
	}
}

// arming waits until the board is armed. A board that has stopped its motors by itself is not asked again.
func (s *Supervisor) arming(x *Seen) State {
	switch {
	case !s.ordered || s.over(x):
		return Idle
	case x.Known && x.Armed:
		return Flying
	case x.Known && x.Why&msp.ArmSwitch != 0:
		if s.locked |= x.Why; x.Why&(msp.RunawayTakeoff|msp.CrashDetected) != 0 {
			s.refuse(x)
		}
		return Idle
	}
	return Arming
}

func (s *Supervisor) flying(x *Seen) State {
	switch {
	case !s.ordered, x.Known && !x.Armed:
		s.ordered = false
		return Idle
	case !s.fresh(x):
		return Silent
	}
	return Flying
}
