// Package lifecycle is the state machine of ROS 2 managed nodes, with the ids
// and labels of lifecycle_msgs and the table of rcl_lifecycle. It knows no
// messages and no node.
package lifecycle

import (
	"errors"
	"fmt"
)

// State of a managed node; its number is the id in lifecycle_msgs/msg/State.
type State uint8

// Primary states, in which a node rests, and the transition states, in which
// one of its callbacks runs.
const (
	Unknown         State = 0
	Unconfigured    State = 1
	Inactive        State = 2
	Active          State = 3
	Finalized       State = 4
	Configuring     State = 10
	CleaningUp      State = 11
	ShuttingDown    State = 12
	Activating      State = 13
	Deactivating    State = 14
	ErrorProcessing State = 15
)

var stateLabels = map[State]string{
	Unknown: "unknown", Unconfigured: "unconfigured", Inactive: "inactive", Active: "active",
	Finalized: "finalized", Configuring: "configuring", CleaningUp: "cleaningup",
	ShuttingDown: "shuttingdown", Activating: "activating", Deactivating: "deactivating",
	ErrorProcessing: "errorprocessing",
}

// String is the label that ROS tools show.
func (s State) String() string {
	if l, ok := stateLabels[s]; ok {
		return l
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// primary reports whether a node rests in s until it is told otherwise.
func (s State) primary() bool { return s < Configuring }

// States are all states in the order in which get_available_states lists them.
func States() []State {
	return []State{Unknown, Unconfigured, Inactive, Active, Finalized,
		Configuring, CleaningUp, ShuttingDown, Activating, Deactivating, ErrorProcessing}
}

// ID numbers a transition as lifecycle_msgs/msg/Transition does.
type ID uint8

// The transitions that may be asked for; shutdown has an id for each state
// that it begins in. Ids 10 … 62 say how a callback ended.
const (
	Configure            ID = 1
	Cleanup              ID = 2
	Activate             ID = 3
	Deactivate           ID = 4
	UnconfiguredShutdown ID = 5
	InactiveShutdown     ID = 6
	ActiveShutdown       ID = 7
)

// Transition is one arrow of the graph.
type Transition struct {
	ID          ID
	Label       string
	Start, Goal State
}

// How a callback ended, as labels of the transition that follows.
const (
	successLabel = "transition_success"
	failureLabel = "transition_failure"
	errorLabel   = "transition_error"
)

// graph is the table of rcl_lifecycle's default state machine, in its order.
var graph = []Transition{
	{Configure, "configure", Unconfigured, Configuring},
	{10, successLabel, Configuring, Inactive},
	{11, failureLabel, Configuring, Unconfigured},
	{12, errorLabel, Configuring, ErrorProcessing},
	{Cleanup, "cleanup", Inactive, CleaningUp},
	{20, successLabel, CleaningUp, Unconfigured},
	{21, failureLabel, CleaningUp, Inactive},
	{22, errorLabel, CleaningUp, ErrorProcessing},
	{Activate, "activate", Inactive, Activating},
	{30, successLabel, Activating, Active},
	{31, failureLabel, Activating, Inactive},
	{32, errorLabel, Activating, ErrorProcessing},
	{Deactivate, "deactivate", Active, Deactivating},
	{40, successLabel, Deactivating, Inactive},
	{41, failureLabel, Deactivating, Active},
	{42, errorLabel, Deactivating, ErrorProcessing},
	{UnconfiguredShutdown, "shutdown", Unconfigured, ShuttingDown},
	{InactiveShutdown, "shutdown", Inactive, ShuttingDown},
	{ActiveShutdown, "shutdown", Active, ShuttingDown},
	{50, successLabel, ShuttingDown, Finalized},
	{51, failureLabel, ShuttingDown, Finalized},
	{52, errorLabel, ShuttingDown, ErrorProcessing},
	{60, successLabel, ErrorProcessing, Unconfigured},
	{61, failureLabel, ErrorProcessing, Finalized},
	{62, errorLabel, ErrorProcessing, Finalized},
}

// Transitions is the whole graph, in the order of get_transition_graph.
func Transitions() []Transition { return append([]Transition(nil), graph...) }

// From are the transitions that begin in s.
func From(s State) []Transition {
	var out []Transition
	for _, t := range graph {
		if t.Start == s {
			out = append(out, t)
		}
	}
	return out
}

// ByLabel finds the transition that begins in s and is called label: shutdown
// has one name and three ids.
func ByLabel(s State, label string) (Transition, bool) {
	for _, t := range graph {
		if t.Start == s && t.Label == label {
			return t, true
		}
	}
	return Transition{}, false
}

// ErrNoTransition: the present state has no such transition.
var ErrNoTransition = errors.New("no such transition")

// Result of a callback.
type Result uint8

// Results: after Failure most callbacks leave the node where it was, Error
// leads through error processing.
const (
	Success Result = iota
	Failure
	Error
)

func (r Result) label() string {
	switch r {
	case Success:
		return successLabel
	case Failure:
		return failureLabel
	}
	return errorLabel
}

// Machine is a node's place in the graph. It is not safe for concurrent use.
type Machine struct{ state State }

// New is the machine of a node that has just been made: unconfigured.
func New() *Machine { return &Machine{Unconfigured} }

// State is where the node is now.
func (m *Machine) State() State { return m.state }

// Change makes the transition with the callbacks that follow from it: run is
// called in every transition state on the way, and event after every arrow. It
// returns what the transition's own callback returned; where that was Error,
// error processing has been run as well and decided the state that follows. A
// transition that does not begin in the present state is ErrNoTransition, and
// nothing happens.
func (m *Machine) Change(id ID, run func(State) Result, event func(Transition)) (Result, error) {
	t, ok := m.find(func(t Transition) bool { return t.ID == id })
	if !ok || !m.state.primary() {
		return Error, fmt.Errorf("%w: %d in state %s, expected %s", ErrNoTransition, id, m.state, asked(m.state))
	}
	m.follow(t, event)
	result := m.callback(run, event)
	if m.state == ErrorProcessing {
		m.callback(run, event)
	}
	return result, nil
}

// callback runs the present transition state's callback and follows its result.
func (m *Machine) callback(run func(State) Result, event func(Transition)) Result {
	result := run(m.state)
	t, _ := m.find(func(t Transition) bool { return t.Label == result.label() })
	m.follow(t, event)
	return result
}

func (m *Machine) follow(t Transition, event func(Transition)) {
	m.state = t.Goal
	event(t)
}

func (m *Machine) find(is func(Transition) bool) (Transition, bool) {
	for _, t := range graph {
		if t.Start == m.state && is(t) {
			return t, true
		}
	}
	return Transition{}, false
}

// asked lists what may be asked for in s, for errors.
func asked(s State) string {
	if !s.primary() {
		return "its callback to end"
	}
	list := ""
	for i, t := range From(s) {
		if i > 0 {
			list += " or "
		}
		list += fmt.Sprintf("%s (%d)", t.Label, t.ID)
	}
	if list == "" {
		return "none: it is the last one"
	}
	return list
}
