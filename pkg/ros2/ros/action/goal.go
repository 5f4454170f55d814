package action

import (
	"fmt"

	actionmsgs "vnd/msgs/action_msgs"
)

// Status is where a goal stands, as action_msgs/msg/GoalStatus numbers it.
type Status int8

// The states of a goal.
const (
	Unknown   = Status(actionmsgs.GoalStatusStatusUnknown)
	Accepted  = Status(actionmsgs.GoalStatusStatusAccepted)
	Executing = Status(actionmsgs.GoalStatusStatusExecuting)
	Canceling = Status(actionmsgs.GoalStatusStatusCanceling)
	Succeeded = Status(actionmsgs.GoalStatusStatusSucceeded)
	Canceled  = Status(actionmsgs.GoalStatusStatusCanceled)
	Aborted   = Status(actionmsgs.GoalStatusStatusAborted)
)

var statusNames = []string{"UNKNOWN", "ACCEPTED", "EXECUTING", "CANCELING", "SUCCEEDED", "CANCELED", "ABORTED"}

// String is the state's name, as ROS' command line prints it.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("STATUS_%d", int8(s))
	}
	return statusNames[s]
}

// Ended says whether the goal is no longer pursued.
func (s Status) Ended() bool { return s == Succeeded || s == Canceled || s == Aborted }

// from are the states from which a goal may come into a state (rcl_action's goal state machine).
var from = map[Status][]Status{
	Executing: {Accepted},
	Canceling: {Accepted, Executing},
	Succeeded: {Executing, Canceling},
	Aborted:   {Executing, Canceling},
	Canceled:  {Canceling},
}
