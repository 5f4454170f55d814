package ros_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	lifecyclemsgs "vnd/msgs/lifecycle_msgs"
	lyrical "vnd/msgs/lyrical/lifecycle_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/ros2/ros/rostest"
)

// managed is a managed node and another process that manages it.
type managed struct {
	l      *ros.LifecycleNode
	boss   *ros.Node
	change *ros.Client[lifecyclemsgs.ChangeStateRequest, lifecyclemsgs.ChangeStateResponse]
	events chan string
}

func newManaged(t *testing.T, callbacks ros.Callbacks) *managed {
	t.Helper()
	d := inproc.NewDomain()
	l, err := join(t, d, nil).NewLifecycleNode("lc", callbacks)
	if err != nil {
		t.Fatal(err)
	}
	m := &managed{l: l, boss: newNode(t, join(t, d, nil), "boss"), events: make(chan string, 100)}
	m.change = must(ros.NewClient[lifecyclemsgs.ChangeStateRequest, lifecyclemsgs.ChangeStateResponse](m.boss,
		"/lc/change_state"))(t)
	sub := must(ros.NewSubscription(m.boss, "/lc/transition_event", ros.DefaultQoS(),
		func(e *lifecyclemsgs.TransitionEvent, _ ros.Info) {
			m.events <- fmt.Sprintf("%s[%d]: %s[%d] > %s[%d]", e.Transition.Label, e.Transition.ID,
				e.StartState.Label, e.StartState.ID, e.GoalState.Label, e.GoalState.ID)
		}))(t)
	if err := ros.WaitForMatched(within(t), sub, 1); err != nil {
		t.Fatal(err)
	}
	if err := m.change.WaitForService(within(t)); err != nil {
		t.Fatal(err)
	}
	spin(t, l.Context(), 0)
	spin(t, m.boss.Context(), 0)
	return m
}

// ask requests a transition by label, or by id without a label.
func (m *managed) ask(t *testing.T, id uint8, label string) bool {
	t.Helper()
	r, err := m.change.Call(within(t), &lifecyclemsgs.ChangeStateRequest{Transition: lifecyclemsgs.Transition{ID: id,
		Label: label}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Success
}

func (m *managed) expect(t *testing.T, events ...string) {
	t.Helper()
	for _, want := range events {
		if got := receive(t, m.events); got != want {
			t.Errorf("event %s\n want %s", got, want)
		}
	}
}

func TestLifecycleNode(t *testing.T) {
	var called []string
	note := func(name string) func() error {
		return func() error { called = append(called, name); return nil }
	}
	m := newManaged(t, ros.Callbacks{OnConfigure: note("configure"), OnActivate: note("activate"),
		OnDeactivate: note("deactivate"), OnCleanup: note("cleanup"), OnShutdown: note("shutdown")})
	if m.l.State() != lifecycle.Unconfigured {
		t.Error(m.l.State())
	}
	if m.ask(t, 3, "") || m.ask(t, 0, "activate") {
		t.Error("an unconfigured node was activated")
	}
	if !m.ask(t, 1, "") || !m.ask(t, 0, "activate") || m.l.State() != lifecycle.Active {
		t.Error(m.l.State())
	}
	if !m.ask(t, 4, "deactivate") || !m.ask(t, 2, "cleanup") || !m.ask(t, 99, "shutdown") ||
		m.l.State() != lifecycle.Finalized {
		t.Error(m.l.State())
	}
	m.expect(t, "configure[1]: unconfigured[1] > configuring[10]",
		"transition_success[10]: configuring[10] > inactive[2]",
		"activate[3]: inactive[2] > activating[13]", "transition_success[30]: activating[13] > active[3]",
		"deactivate[4]: active[3] > deactivating[14]", "transition_success[40]: deactivating[14] > inactive[2]",
		"cleanup[2]: inactive[2] > cleaningup[11]", "transition_success[20]: cleaningup[11] > unconfigured[1]",
		"shutdown[5]: unconfigured[1] > shuttingdown[12]", "transition_success[50]: shuttingdown[12] > finalized[4]")
	if want := []string{"configure", "activate", "deactivate", "cleanup", "shutdown"}; !slices.Equal(called, want) {
		t.Errorf("called %v, want %v", called, want)
	}
}

func TestLifecycleErrors(t *testing.T) {
	var configure, cure error
	m := newManaged(t, ros.Callbacks{
		OnConfigure: func() error { return configure },
		OnError:     func() error { return cure },
	})
	configure = errors.New("no bundle")
	if m.ask(t, 1, "") {
		t.Error("configured")
	}
	m.expect(t, "configure[1]: unconfigured[1] > configuring[10]",
		"transition_failure[11]: configuring[10] > unconfigured[1]")
	configure = fmt.Errorf("on fire: %w", ros.Fatal(errors.New("smoke")))
	if m.ask(t, 1, "") {
		t.Error("configured")
	}
	m.expect(t, "configure[1]: unconfigured[1] > configuring[10]",
		"transition_error[12]: configuring[10] > errorprocessing[15]",
		"transition_success[60]: errorprocessing[15] > unconfigured[1]")
	cure = errors.New("burnt down")
	if err := m.l.Change(lifecycle.Configure); err == nil || err.Error() != "on fire: smoke" {
		t.Error(err)
	}
	m.expect(t, "configure[1]: unconfigured[1] > configuring[10]",
		"transition_error[12]: configuring[10] > errorprocessing[15]",
		"transition_failure[61]: errorprocessing[15] > finalized[4]")
	err := m.l.Change(lifecycle.Configure)
	if !errors.Is(err, lifecycle.ErrNoTransition) || !strings.HasPrefix(err.Error(), "node /lc: ") {
		t.Error(err)
	}
}

// The services return the states and transitions of the machine.
func TestLifecycleQueries(t *testing.T) {
	m := newManaged(t, ros.Callbacks{})
	ctx := within(t)
	list := func(name string) string {
		c := must(ros.NewClient[lifecyclemsgs.GetAvailableTransitionsRequest,
			lifecyclemsgs.GetAvailableTransitionsResponse](m.boss, name))(t)
		if err := c.WaitForService(ctx); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range must(c.Call(ctx, &lifecyclemsgs.GetAvailableTransitionsRequest{}))(t).AvailableTransitions {
			ids = append(ids, fmt.Sprint(d.StartState.ID, "-", d.Transition.ID, "-", d.GoalState.ID))
		}
		return strings.Join(ids, " ")
	}
	if s := list("/lc/get_available_transitions"); s != "1-1-10 1-5-12" {
		t.Error(s)
	}
	if s := list("/lc/get_transition_graph"); len(strings.Fields(s)) != 25 {
		t.Error(s)
	}
	states := must(ros.NewClient[lifecyclemsgs.GetAvailableStatesRequest, lifecyclemsgs.GetAvailableStatesResponse](
		m.boss, "/lc/get_available_states"))(t)
	state := must(ros.NewClient[lifecyclemsgs.GetStateRequest, lifecyclemsgs.GetStateResponse](m.boss,
		"/lc/get_state"))(t)
	if err := errors.Join(states.WaitForService(ctx), state.WaitForService(ctx)); err != nil {
		t.Fatal(err)
	}
	if r := must(states.Call(ctx, &lifecyclemsgs.GetAvailableStatesRequest{}))(t); len(r.AvailableStates) != 11 {
		t.Error(r)
	}
	m.l.Autostart()
	for m.l.State() != lifecycle.Active {
		receive(t, m.events)
	}
	r := must(state.Call(ctx, &lifecyclemsgs.GetStateRequest{}))(t)
	if r.CurrentState != (lifecyclemsgs.State{ID: 3, Label: "active"}) {
		t.Error(r)
	}
}

// A managed publisher sends only while the node is active.
func TestManagedPublisher(t *testing.T) {
	var pub *ros.Publisher[stdmsgs.String]
	say := func(text string) func() error {
		return func() error { return pub.Publish(&stdmsgs.String{Data: text}) }
	}
	m := newManaged(t, ros.Callbacks{OnActivate: say("first"), OnDeactivate: say("last"), OnCleanup: say("silent")})
	pub = must(ros.NewPublisher[stdmsgs.String](m.l, "words", ros.DefaultQoS()))(t)
	raw := must(ros.NewRawPublisher(m.l, "words", "std_msgs/msg/String", ros.DefaultQoS()))(t)
	received := listen(t, m.boss, "words")
	if err := ros.WaitForMatched(within(t), pub, 1); err != nil {
		t.Fatal(err)
	}
	steps := []lifecycle.ID{lifecycle.Configure, lifecycle.Activate, lifecycle.Deactivate, lifecycle.Cleanup,
		lifecycle.Configure, lifecycle.Activate}
	for i, id := range steps {
		if err := m.l.Change(id); err != nil {
			t.Fatal(err)
		}
		if err := say(fmt.Sprint(i))(); err != nil {
			t.Fatal(err)
		}
		if m.l.State() != lifecycle.Active {
			if err := raw.PublishBytes(must(cdr.Marshal(&stdmsgs.String{Data: "leaked"}))(t)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{"first", "1", "last", "first", "5"} {
		if got := receive(t, received); got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	}
}

// An error of a callback is one line of the log, whoever asked for the transition.
func TestErrorOfCallbackIsLoggedOnce(t *testing.T) {
	d, out := inproc.NewDomain(), new(rostest.Console)
	c := joinLogged(t, d, out, nil)
	l := must(c.NewLifecycleNode("lc", ros.Callbacks{OnConfigure: func() error { return errors.New("no bundle") }}))(t)
	boss := newNode(t, join(t, d, nil), "boss")
	change := must(ros.NewClient[lifecyclemsgs.ChangeStateRequest, lifecyclemsgs.ChangeStateResponse](boss,
		"/lc/change_state"))(t)
	ctx := within(t)
	l.Autostart()
	spin(t, c, 0)
	spin(t, boss.Context(), 0)
	if err := change.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	ask := &lifecyclemsgs.ChangeStateRequest{Transition: lifecyclemsgs.Transition{ID: uint8(lifecycle.Configure)}}
	if r := must(change.Call(ctx, ask))(t); r.Success {
		t.Error("configured")
	}
	c.Log().Sync()
	if n := strings.Count(out.String(), "no bundle"); n != 2 {
		t.Errorf("%d lines for two attempts:\n%s", n, out)
	}
}

// A managed node of Lyrical announces transitions with Lyrical's message, and describes it.
func TestTransitionEventOfLyrical(t *testing.T) {
	env := map[string]string{"ROS_DISTRO": "lyrical"}
	d := inproc.NewDomain()
	l := must(join(t, d, env).NewLifecycleNode("lc", ros.Callbacks{}))(t)
	boss := newNode(t, join(t, d, env), "boss")
	events := make(chan lyrical.TransitionEvent, 10)
	sub := must(ros.NewSubscription(boss, "/lc/transition_event", ros.DefaultQoS(),
		func(e *lyrical.TransitionEvent, _ ros.Info) { events <- *e }))(t)
	if err := ros.WaitForMatched(within(t), sub, 1); err != nil {
		t.Fatal(err)
	}
	spin(t, l.Context(), 0)
	spin(t, boss.Context(), 0)
	before := l.Now()
	if err := l.Change(lifecycle.Configure); err != nil {
		t.Fatal(err)
	}
	e := receive(t, events)
	if at := ros.TimeOf(e.Stamp); at < before || at > l.Now() || e.GoalState.Label != "configuring" {
		t.Errorf("%+v at %d, changed at %d", e, at, before)
	}
	want, _ := msgs.LookupIn("lyrical", e.TypeName())
	if got := boss.Context().Graph().Publishers("/lc/transition_event"); len(got) != 1 || got[0].Hash != want.Hash {
		t.Errorf("announced %+v", got)
	}
}
