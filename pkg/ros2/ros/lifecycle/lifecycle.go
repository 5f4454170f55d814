// Package lifecycle is the state machine of ROS 2 managed nodes. It has the ids and labels
// of lifecycle_msgs and the transitions of rcl_lifecycle. It uses no messages and no node.
package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// State of a managed node; its number is the id in lifecycle_msgs/msg/State.
type State uint8

// Primary states, in which a node stays, and transition states, in which one of its
// callbacks runs.
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

// primary says whether a node stays in s until the next transition.
func (s State) primary() bool { return s < Configuring }

// States are all states in the order in which get_available_states lists them.
func States() []State {
	return []State{Unknown, Unconfigured, Inactive, Active, Finalized,
		Configuring, CleaningUp, ShuttingDown, Activating, Deactivating, ErrorProcessing}
}

// ID numbers a transition as lifecycle_msgs/msg/Transition does.
type ID uint8

// The transitions that may be requested. Shutdown has an id for each state that it begins
// in. Ids 10 … 62 are the results of callbacks.
const (
	Configure            ID = 1
	Cleanup              ID = 2
	Activate             ID = 3
	Deactivate           ID = 4
	UnconfiguredShutdown ID = 5
	InactiveShutdown     ID = 6
	ActiveShutdown       ID = 7
)

// Transition is one edge of the graph of states.
type Transition struct {
	ID          ID
	Label       string
	Start, Goal State
}

// Labels of the transitions that follow from a callback's result.
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
func Transitions() []Transition { return slices.Clone(graph) }

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

// ByLabel finds the transition that begins in s and has a label. Shutdown has one label and
// three ids.
func ByLabel(s State, label string) (Transition, bool) {
	return find(s, func(t Transition) bool { return t.Label == label })
}

func find(from State, is func(Transition) bool) (Transition, bool) {
	i := slices.IndexFunc(graph, func(t Transition) bool { return t.Start == from && is(t) })
	if i < 0 {
		return Transition{}, false
	}
	return graph[i], true
}

// ErrNoTransition: the present state has no such transition.
var ErrNoTransition = errors.New("no such transition")

// Result of a callback.
type Result uint8

// Results. After Failure of most callbacks the node stays in its state; Error leads to
// error processing.
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

// Machine is the state machine of one node. It is not safe for concurrent use.
type Machine struct{ state State }

// New is the machine of a new node, which is unconfigured.
func New() *Machine { return &Machine{Unconfigured} }

// State of the node.
func (m *Machine) State() State { return m.state }

// Change makes a transition. It calls run in every transition state, and event after every
// transition. It returns the result of the transition's own callback. After Error, error
// processing has run too, and its result decides the state. A transition that does not
// begin in the present state is ErrNoTransition, and the state stays.
func (m *Machine) Change(id ID, run func(State) Result, event func(Transition)) (Result, error) {
	t, ok := find(m.state, func(t Transition) bool { return t.ID == id })
	if !ok || !m.state.primary() {
		return Error, fmt.Errorf("%w: %d in state %s, expected %s", ErrNoTransition, id, m.state, available(m.state))
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
	t, _ := find(m.state, func(t Transition) bool { return t.Label == result.label() })
	m.follow(t, event)
	return result
}

func (m *Machine) follow(t Transition, event func(Transition)) {
	m.state = t.Goal
	event(t)
}

// available lists the transitions that may be requested in s, for errors.
func available(s State) string {
	if !s.primary() {
		return "its callback to end"
	}
	var list []string
	for _, t := range From(s) {
		list = append(list, fmt.Sprintf("%s (%d)", t.Label, t.ID))
	}
	if list == nil {
		return "none: the state is final"
	}
	return strings.Join(list, " or ")
}
