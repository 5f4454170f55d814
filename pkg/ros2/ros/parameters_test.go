package ros_test

import (
	"errors"
	"slices"
	"testing"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/qos"
)

// tuning holds the parameters of a node.
type tuning struct {
	Gain float64 `param:"gain" default:"1.5" min:"0" max:"10" doc:"of position"`
	Name string  `param:"name" default:"cf" doc:"of the robot"`
}

// The services that ros2 param uses, called by another process.
func TestParametersOverTheWire(t *testing.T) {
	d := inproc.NewDomain()
	n := newNode(t, join(t, d, nil, "--ros-args", "-p", "gain:=2.5", "-r", "__ns:=/drone1"), "talker")
	bound := must(params.Bind[tuning](n.Parameters(), nil))(t)
	if bound.Load().Gain != 2.5 {
		t.Error(bound.Load())
	}
	spin(t, n.Context(), 0)
	tool := newNode(t, join(t, d, nil), "ros2cli")
	spin(t, tool.Context(), 0)
	events := make(chan rclinterfaces.ParameterEvent, 10)
	sub := must(ros.NewSubscription(tool, "/parameter_events", rmw.ParameterEventsQoS(),
		func(m *rclinterfaces.ParameterEvent, _ ros.Info) {
			if m.Node == "/drone1/talker" {
				events <- rclinterfaces.ParameterEvent{Node: m.Node,
					ChangedParameters: slices.Clone(m.ChangedParameters)}
			}
		}))(t)
	ctx := within(t)
	if err := ros.WaitForMatched(ctx, sub, 2); err != nil {
		t.Fatal(err)
	}
	get := must(ros.NewClient[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](tool,
		"/drone1/talker/get_parameters"))(t)
	set := must(ros.NewClient[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse](tool,
		"/drone1/talker/set_parameters"))(t)
	list := must(ros.NewClient[rclinterfaces.ListParametersRequest, rclinterfaces.ListParametersResponse](tool,
		"/drone1/talker/list_parameters"))(t)
	if err := errors.Join(get.WaitForService(ctx), set.WaitForService(ctx), list.WaitForService(ctx)); err != nil {
		t.Fatal(err)
	}
	if r := must(list.Call(ctx, &rclinterfaces.ListParametersRequest{}))(t); !slices.Equal(r.Result.Names,
		[]string{"gain", "name", "use_sim_time"}) {
		t.Errorf("%+v", r)
	}
	change := func(x float64) rclinterfaces.SetParametersResult {
		r := must(set.Call(ctx, &rclinterfaces.SetParametersRequest{Parameters: []rclinterfaces.Parameter{
			{Name: "gain", Value: rclinterfaces.ParameterValue{Type: 3, DoubleValue: x}}}}))(t)
		return r.Results[0]
	}
	if r := change(11); r.Successful || r.Reason == "" {
		t.Errorf("out of range: %+v", r)
	}
	if r := change(3.5); !r.Successful || bound.Load().Gain != 3.5 {
		t.Errorf("%+v, %+v", r, bound.Load())
	}
	e := receive(t, events)
	if e.Node != "/drone1/talker" || len(e.ChangedParameters) != 1 || e.ChangedParameters[0].Value.DoubleValue != 3.5 {
		t.Errorf("%+v", e)
	}
	if r := must(get.Call(ctx, &rclinterfaces.GetParametersRequest{Names: []string{"gain"}}))(t); len(r.Values) != 1 ||
		r.Values[0].DoubleValue != 3.5 {
		t.Errorf("%+v", r)
	}
}

// The entities that ros2 node info lists, of a node and of a managed node.
func TestNodeInfo(t *testing.T) {
	d := inproc.NewDomain()
	c := join(t, d, nil)
	l, err := c.NewLifecycleNode("lc", ros.Callbacks{})
	if err != nil {
		t.Fatal(err)
	}
	g := must(c.Graph().Of(rmw.NodeName{Namespace: "/", Name: l.Name(), Enclave: "/"}))(t)
	keys := func(m map[string][]string) (all []string) {
		for name, types := range m {
			all = append(all, name+": "+types[0])
		}
		slices.Sort(all)
		return all
	}
	for what, got := range map[string][2][]string{
		"publishers": {keys(g.Publishers), {"/lc/transition_event: lifecycle_msgs/msg/TransitionEvent",
			"/parameter_events: rcl_interfaces/msg/ParameterEvent", "/rosout: rcl_interfaces/msg/Log"}},
		"subscriptions": {keys(g.Subscriptions), nil},
		"clients":       {keys(g.Clients), nil},
		"servers": {keys(g.Servers), {"/lc/change_state: lifecycle_msgs/srv/ChangeState",
			"/lc/describe_parameters: rcl_interfaces/srv/DescribeParameters",
			"/lc/get_available_states: lifecycle_msgs/srv/GetAvailableStates",
			"/lc/get_available_transitions: lifecycle_msgs/srv/GetAvailableTransitions",
			"/lc/get_parameter_types: rcl_interfaces/srv/GetParameterTypes",
			"/lc/get_parameters: rcl_interfaces/srv/GetParameters",
			"/lc/get_state: lifecycle_msgs/srv/GetState",
			"/lc/get_transition_graph: lifecycle_msgs/srv/GetAvailableTransitions",
			"/lc/list_parameters: rcl_interfaces/srv/ListParameters",
			"/lc/set_parameters: rcl_interfaces/srv/SetParameters",
			"/lc/set_parameters_atomically: rcl_interfaces/srv/SetParametersAtomically"}},
	} {
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("%s\n got %v\nwant %v", what, got[0], got[1])
		}
	}
}

// use_sim_time may change while the node runs.
func TestUseSimTimeAtRunTime(t *testing.T) {
	d := inproc.NewDomain()
	n, world := newNode(t, join(t, d, nil), "n"), newNode(t, join(t, d, nil), "world")
	clock := must(ros.NewPublisher[rosgraphmsgs.Clock](world, "/clock", ros.DefaultQoS()))(t)
	spin(t, n.Context(), 0)
	wall := n.Now()
	if n.Clock().Simulated() || wall == 0 {
		t.Error("simulated without being asked to")
	}
	for range 2 {
		set(t, n, true)
		if err := ros.WaitForMatched(within(t), clock, 1); err != nil {
			t.Fatal(err)
		}
		if now := n.Now(); now != 0 {
			t.Errorf("%d before the first /clock", now)
		}
		if _, ok := n.Clock().SinceUpdate(); ok {
			t.Error("a /clock that never spoke is not silent")
		}
		if err := clock.Publish(&rosgraphmsgs.Clock{Clock: (5 * ms).Msg()}); err != nil {
			t.Fatal(err)
		}
		if err := n.Clock().SleepUntil(within(t), 5*ms); err != nil {
			t.Fatal(err)
		}
		if _, ok := n.Clock().SinceUpdate(); !ok || n.Now() != 5*ms {
			t.Error(n.Now())
		}
		set(t, n, false)
		if n.Now() < wall {
			t.Errorf("back on the system's time it is %d", n.Now())
		}
		err := n.Context().WaitForGraph(within(t),
			func(g rmw.Graph) bool { return len(g.Subscriptions("/clock")) == 0 })
		if err != nil {
			t.Error("still subscribed to /clock: ", err)
		}
	}
}

func set(t *testing.T, n *ros.Node, sim bool) {
	t.Helper()
	if err := n.Parameters().SetAtomically(params.Parameter{Name: "use_sim_time", Value: sim}); err != nil {
		t.Fatal(err)
	}
}

func TestQoSOverrides(t *testing.T) {
	d := inproc.NewDomain()
	c := join(t, d, nil, "--ros-args", "-p", "qos_overrides./x.publisher.reliability:=best_effort", "-p",
		"qos_overrides./y.publisher.depth:=-1")
	n := newNode(t, c, "n")
	open := ros.Overridable(qos.Overridable{Policies: qos.DefaultPolicies})
	for _, topic := range []string{"x", "z"} {
		if _, err := ros.NewRawPublisher(n, topic, "std_msgs/msg/String", ros.DefaultQoS(), open); err != nil {
			t.Fatal(err)
		}
	}
	publisher(t, n, "closed")
	got := map[string]dds.Reliability{}
	for _, topic := range []string{"/x", "/z", "/closed"} {
		got[topic] = c.Graph().Publishers(topic)[0].QoS.Reliability
	}
	if got["/x"] != dds.BestEffort || got["/z"] != dds.Reliable || got["/closed"] != dds.Reliable {
		t.Error(got)
	}
	if n.Parameters().Has("qos_overrides./closed.publisher.depth") ||
		!n.Parameters().Has("qos_overrides./z.publisher.depth") {
		t.Error(n.Parameters().Names())
	}
	if _, err := ros.NewRawPublisher(n, "y", "std_msgs/msg/String", ros.DefaultQoS(), open); err == nil {
		t.Error("a depth of -1")
	}
}
