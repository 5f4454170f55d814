package ros

import (
	"errors"
	"sync"
	"sync/atomic"

	builtin "vnd/msgs/builtin_interfaces"
	lifecyclemsgs "vnd/msgs/lifecycle_msgs"
	lyrical "vnd/msgs/lyrical/lifecycle_msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/lifecycle"
)

// Callbacks of a managed node, one for each transition; nil is a callback that succeeds.
// After an error the node stays in its state, but a failed shutdown is still a shutdown.
// An error made by Fatal leads to OnError. If OnError succeeds, the node is unconfigured;
// otherwise it is finalized.
type Callbacks struct {
	OnConfigure, OnCleanup, OnActivate, OnDeactivate, OnShutdown, OnError func() error
}

// Fatal marks a callback's error as one that needs error processing.
func Fatal(err error) error { return fatalError{err} }

type fatalError struct{ error }

func (f fatalError) Unwrap() error { return f.error }

// LifecycleNode is a managed node. Its publishers send only while it is active. It changes
// between the states of package lifecycle by Change or by its services, as ros2 lifecycle
// calls them.
type LifecycleNode struct {
	*Node
	callbacks Callbacks
	active    atomic.Bool
	publish   func(Time, lifecycle.Transition) error // publishes a transition

	changes sync.Mutex // held during a transition
	machine *lifecycle.Machine
	state   atomic.Uint32
}

// NewLifecycleNode makes a managed node, unconfigured.
func (c *Context) NewLifecycleNode(name string, callbacks Callbacks, options ...NodeOption) (*LifecycleNode, error) {
	n, err := c.NewNode(name, options...)
	if err != nil {
		return nil, err
	}
	l := &LifecycleNode{Node: n, callbacks: callbacks, machine: lifecycle.New()}
	l.state.Store(uint32(l.machine.State()))
	if err := l.startLifecycle(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return l, nil
}

func (l *LifecycleNode) startLifecycle() (err error) {
	if l.publish, err = l.events(); err != nil {
		return err
	}
	// Transitions run the user's callbacks and belong to the node's group. On several
	// threads, the state can be read during one.
	reads := []Option{InGroup(l.internal)}
	return runAll(
		func() error { return serve(l.Node, "~/change_state", l.changeState, nil) },
		func() error { return serve(l.Node, "~/get_state", l.getState, reads) },
		func() error { return serve(l.Node, "~/get_available_states", getAvailableStates, reads) },
		func() error { return serve(l.Node, "~/get_available_transitions", l.getAvailableTransitions, reads) },
		func() error { return serve(l.Node, "~/get_transition_graph", getTransitionGraph, reads) },
	)
}

func (l *LifecycleNode) publishing() *atomic.Bool { return &l.active }

// State is where the node is now.
func (l *LifecycleNode) State() lifecycle.State { return lifecycle.State(l.state.Load()) }

// Change makes a transition with its callbacks on the calling goroutine. A callback of a
// transition must not call it. The error is that of the transition's callback, which is
// logged, or ErrNoTransition.
func (l *LifecycleNode) Change(id lifecycle.ID) error {
	l.changes.Lock()
	defer l.changes.Unlock()
	var failed error
	_, err := l.machine.Change(id, func(s lifecycle.State) lifecycle.Result {
		err := l.callback(s)
		if err != nil {
			l.log.Error().Msgf("%s: %v", s, err)
		}
		if s != lifecycle.ErrorProcessing {
			failed = err
		}
		return resultOf(err)
	}, l.onTransition)
	if err != nil {
		return l.errorf("%w", err)
	}
	return failed
}

func resultOf(err error) lifecycle.Result {
	var fatal fatalError
	switch {
	case err == nil:
		return lifecycle.Success
	case errors.As(err, &fatal):
		return lifecycle.Error
	}
	return lifecycle.Failure
}

func (l *LifecycleNode) callback(s lifecycle.State) error {
	f := map[lifecycle.State]func() error{
		lifecycle.Configuring: l.callbacks.OnConfigure, lifecycle.CleaningUp: l.callbacks.OnCleanup,
		lifecycle.Activating: l.callbacks.OnActivate, lifecycle.Deactivating: l.callbacks.OnDeactivate,
		lifecycle.ShuttingDown: l.callbacks.OnShutdown, lifecycle.ErrorProcessing: l.callbacks.OnError,
	}[s]
	switch {
	case f != nil:
		return f()
	case s == lifecycle.ErrorProcessing: // fails without a callback, as in rclcpp
		return errors.New("no OnError")
	}
	return nil
}

// onTransition publishes a transition and switches the managed publishers. They send in
// state active, and while OnActivate, OnDeactivate and the OnShutdown of an active node run.
func (l *LifecycleNode) onTransition(t lifecycle.Transition) {
	l.state.Store(uint32(t.Goal))
	switch t.Goal {
	case lifecycle.Active, lifecycle.Activating, lifecycle.Deactivating:
		l.active.Store(true)
	case lifecycle.ShuttingDown: // as before
	default:
		l.active.Store(false)
	}
	if err := l.publish(l.Now(), t); err != nil {
		l.log.Warn().Msgf("%v", err)
	}
}

// events makes the publisher of transitions, with the QoS of rcl_publisher_get_default_options as in rcl_lifecycle.
// Lyrical has another message than distributions before it.
func (l *LifecycleNode) events() (func(Time, lifecycle.Transition) error, error) {
	const topic = "~/transition_event"
	if rmw.AfterKilted(l.distro()) {
		p, err := NewPublisher[lyrical.TransitionEvent](l.Node, topic, DefaultQoS())
		return func(now Time, t lifecycle.Transition) error {
			return p.Publish(&lyrical.TransitionEvent{Stamp: builtin.Time(now.Msg()),
				Transition: lyrical.Transition(transitionMessage(t)),
				StartState: lyrical.State(stateMessage(t.Start)), GoalState: lyrical.State(stateMessage(t.Goal))})
		}, err
	}
	p, err := NewPublisher[lifecyclemsgs.TransitionEvent](l.Node, topic, DefaultQoS())
	return func(now Time, t lifecycle.Transition) error {
		return p.Publish(&lifecyclemsgs.TransitionEvent{Timestamp: uint64(now),
			Transition: transitionMessage(t), StartState: stateMessage(t.Start), GoalState: stateMessage(t.Goal)})
	}, err
}

// Autostart configures and activates the node when the executor spins.
func (l *LifecycleNode) Autostart() {
	l.Post(func() {
		for _, id := range []lifecycle.ID{lifecycle.Configure, lifecycle.Activate} {
			if err := l.change(id, "autostart: "); err != nil {
				return
			}
		}
	})
}

func stateMessage(s lifecycle.State) lifecyclemsgs.State {
	return lifecyclemsgs.State{ID: uint8(s), Label: s.String()}
}

func transitionMessage(t lifecycle.Transition) lifecyclemsgs.Transition {
	return lifecyclemsgs.Transition{ID: uint8(t.ID), Label: t.Label}
}

// changeState finds the transition by its label if the request has one: shutdown has
// several ids.
func (l *LifecycleNode) changeState(q *lifecyclemsgs.ChangeStateRequest, r *lifecyclemsgs.ChangeStateResponse) {
	id := lifecycle.ID(q.Transition.ID)
	if label := q.Transition.Label; label != "" {
		t, ok := lifecycle.ByLabel(l.State(), label)
		if !ok {
			l.log.Warn().Msgf("no transition %.60q in state %s", label, l.State())
			return
		}
		id = t.ID
	}
	r.Success = l.change(id, "") == nil
}

// change is Change. It logs what that does not: a transition that there is none of.
func (l *LifecycleNode) change(id lifecycle.ID, who string) error {
	err := l.Change(id)
	if errors.Is(err, lifecycle.ErrNoTransition) {
		l.log.Warn().Msgf("%s%v", who, err)
	}
	return err
}

func (l *LifecycleNode) getState(_ *lifecyclemsgs.GetStateRequest, r *lifecyclemsgs.GetStateResponse) {
	r.CurrentState = stateMessage(l.State())
}

func getAvailableStates(_ *lifecyclemsgs.GetAvailableStatesRequest, r *lifecyclemsgs.GetAvailableStatesResponse) {
	for _, s := range lifecycle.States() {
		r.AvailableStates = append(r.AvailableStates, stateMessage(s))
	}
}

func (l *LifecycleNode) getAvailableTransitions(_ *lifecyclemsgs.GetAvailableTransitionsRequest,
	r *lifecyclemsgs.GetAvailableTransitionsResponse) {
	r.AvailableTransitions = descriptions(lifecycle.From(l.State()))
}

func getTransitionGraph(_ *lifecyclemsgs.GetAvailableTransitionsRequest,
	r *lifecyclemsgs.GetAvailableTransitionsResponse) {
	r.AvailableTransitions = descriptions(lifecycle.Transitions())
}

func descriptions(ts []lifecycle.Transition) []lifecyclemsgs.TransitionDescription {
	var out []lifecyclemsgs.TransitionDescription
	for _, t := range ts {
		out = append(out, lifecyclemsgs.TransitionDescription{
			Transition: transitionMessage(t), StartState: stateMessage(t.Start), GoalState: stateMessage(t.Goal),
		})
	}
	return out
}
