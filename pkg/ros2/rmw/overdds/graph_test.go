package overdds

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// replay feeds packets to a graph, as a participant that receives them all.
func replay(t testing.TB, g *graph, packets []recorded) {
	t.Helper()
	for _, r := range packets {
		switch {
		case r.sample == nil:
			g.apply(r.change)
		case r.change.GUID[14] == 4:
			m, err := parseInfo(r.sample)
			if err != nil {
				t.Fatal(err)
			}
			g.announce(m, r.change.GUID)
		}
	}
}

func still() *graph {
	g := newGraph(false)
	g.sync = func() {}
	return g
}

const msg, srv = "rcl_interfaces/msg/", "rcl_interfaces/srv/"

// talker is the output of "ros2 node info /drone1/talker" for the node of the recording.
func talker() rmw.NodeGraph {
	n := rmw.NodeGraph{
		Subscriptions: map[string][]string{"/drone1/cmd": {"std_msgs/msg/String"}},
		Publishers: map[string][]string{"/drone1/chatter": {"std_msgs/msg/String"},
			"/drone1/pose":      {"geometry_msgs/msg/PoseStamped"},
			"/parameter_events": {msg + "ParameterEvent"}, "/rosout": {msg + "Log"}},
		Servers: map[string][]string{"/drone1/arm": {"std_srvs/srv/SetBool"}, "/drone1/kick": {"std_srvs/srv/Trigger"}},
		Clients: map[string][]string{},
	}
	parameterServices(n.Servers, "/drone1/talker")
	return n
}

func parameterServices(m map[string][]string, node string) {
	for name, typ := range map[string]string{"describe_parameters": "DescribeParameters",
		"get_parameter_types": "GetParameterTypes",
		"get_parameters":      "GetParameters", "list_parameters": "ListParameters", "set_parameters": "SetParameters",
		"set_parameters_atomically": "SetParametersAtomically"} {
		m[node+"/"+name] = []string{srv + typ}
	}
}

// TestGraphGolden: the graph of a recorded run is the one that the ros2 tool printed.
func TestGraphGolden(t *testing.T) {
	g := still()
	replay(t, g, recording(t))
	daemon := rmw.NodeName{Namespace: "/", Name: "_ros2cli_daemon_77_836c7a6c5f490b870e7517c5c9241", Enclave: "/"}
	talkerName := rmw.NodeName{Namespace: "/drone1", Name: "talker", Enclave: "/"}
	nodes := g.Nodes()
	if len(nodes) != 2 || nodes[1] != talkerName || !strings.HasPrefix(nodes[0].Name, daemon.Name[:18]) ||
		!rmw.Hidden(nodes[0].Name) {
		t.Errorf("nodes %v", nodes)
	}
	got, err := g.Of(talkerName)
	if d := cmp.Diff(talker(), got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if d := cmp.Diff(map[string][]string{"/drone1/chatter": {"std_msgs/msg/String"},
		"/drone1/cmd":  {"std_msgs/msg/String"},
		"/drone1/pose": {"geometry_msgs/msg/PoseStamped"}, "/parameter_events": {msg + "ParameterEvent"},
		"/rosout": {msg + "Log"}}, g.Topics()); d != "" {
		t.Errorf("topic list -t: %s", d)
	}
	if d := cmp.Diff(talker().Servers, g.Services()); d != "" {
		t.Errorf("service list -t: %s", d)
	}
	want := []rmw.Endpoint{{Node: talkerName, Type: "std_msgs/msg/String",
		GID: gid(t, "011081eb4f547d01599b6ed500001403")}}
	if d := cmp.Diff(want, g.Publishers("/drone1/chatter")); d != "" {
		t.Errorf("topic info -v: %s", d)
	}
	if n := g.Subscriptions("/drone1/chatter"); len(n) != 0 {
		t.Errorf("subscriptions %v", n)
	}
}

// TestGraphWhileCalling: "ros2 service call" has a hidden node with a client while it runs, which
// is gone afterwards with all its endpoints.
func TestGraphWhileCalling(t *testing.T) {
	all := recording(t)
	announced := slices.IndexFunc(all, func(r recorded) bool { return r.sample != nil })
	g := still()
	replay(t, g, all[:announced+1])
	name := rmw.NodeName{Namespace: "/", Name: "_ros2cli_requester_std_srvs_SetBool", Enclave: "/"}
	if !slices.Contains(g.Nodes(), name) {
		t.Fatalf("nodes %v", g.Nodes())
	}
	of, err := g.Of(name)
	if err != nil || len(of.Servers) != 6 {
		t.Errorf("%v, servers %v", err, of.Servers)
	}
	if d := cmp.Diff(map[string][]string{"/drone1/arm": {"std_srvs/srv/SetBool"}}, of.Clients); d != "" {
		t.Error(d)
	}
	replay(t, g, all[announced+1:])
	if _, err := g.Of(name); !errors.Is(err, rmw.ErrNoNode) {
		t.Errorf("still there: %v", err)
	}
	for gid, e := range g.writers {
		if _, alive := g.participants[e.participant]; !alive {
			t.Errorf("writer %v of %s is left of a participant that went", gid, e.topic)
		}
	}
}

// TestGraphUnannounced: endpoints without announced nodes have the names that ROS' tools use.
func TestGraphUnannounced(t *testing.T) {
	g := still()
	for i, userData := range []string{"", "enclave=/x;", "any=thing;"} {
		p := rmw.GID{0: byte(i), 15: 0xc1}
		g.apply(dds.Change{Kind: dds.ParticipantKind, Alive: true, GUID: p, UserData: []byte(userData)})
		g.apply(dds.Change{Kind: dds.ReaderKind, Alive: true, GUID: rmw.GID{0: byte(i), 15: 4}, Participant: p,
			Topic: dds.Topic{Name: "rt/a", Type: "T"}, UserData: []byte("typehash=RIHS01_bad;"),
			QoS: dds.QoS{Depth: 3, UserData: []byte("x"), IgnoreLocal: true}})
	}
	bare := rmw.NodeName{Namespace: rmw.BareApp, Name: rmw.BareApp}
	want := []rmw.Endpoint{
		{Node: bare, Type: "T", GID: rmw.GID{0: 0, 15: 4}, QoS: rmw.QoS{Depth: 3}},
		{Node: bare, Type: "T", GID: rmw.GID{0: 2, 15: 4}, QoS: rmw.QoS{Depth: 3}},
		{Node: rmw.NodeName{Namespace: "_NODE_NAMESPACE_UNKNOWN_", Name: "_NODE_NAME_UNKNOWN_", Enclave: "/x"},
			Type: "T", GID: rmw.GID{0: 1, 15: 4}, QoS: rmw.QoS{Depth: 3}},
	}
	if d := cmp.Diff(want, g.Subscriptions("/a")); d != "" {
		t.Error(d)
	}
	if len(g.Nodes()) != 0 {
		t.Errorf("nodes %v", g.Nodes())
	}
}

// TestGraphUndiscovered: nodes are listed only with their participant, whichever comes first.
// Announcements by another participant are ignored, and forged ones are bounded.
func TestGraphUndiscovered(t *testing.T) {
	g := still()
	p := rmw.GID{0: 1, 15: 0xc1}
	alive := dds.Change{Kind: dds.ParticipantKind, Alive: true, GUID: p}
	say := func(gid rmw.GID, name string, writer rmw.GID) {
		g.announce(&info{gid: gid, nodes: []nodeInfo{{namespace: "/", name: name}}}, writer)
	}
	say(p, "early", rmw.GID{0: 1, 15: 3})
	if len(g.Nodes()) != 0 {
		t.Errorf("%v without a participant", g.Nodes())
	}
	g.apply(alive)
	if n := g.Nodes(); len(n) != 1 || n[0].Name != "early" {
		t.Errorf("%v", n)
	}
	say(p, "forged", rmw.GID{0: 2, 15: 3})
	if n := g.Nodes(); len(n) != 1 || n[0].Name != "early" {
		t.Errorf("%v after another spoke for it", n)
	}
	for i := range 10 * maxUndiscovered {
		say(rmw.GID{0: 9, 1: byte(i), 2: byte(i >> 8)}, fmt.Sprint("stranger", i), rmw.GID{})
	}
	if len(g.participants) > maxUndiscovered+1 || len(g.Nodes()) != 1 {
		t.Errorf("%d participants, nodes %v", len(g.participants), g.Nodes())
	}
	g.apply(dds.Change{Kind: dds.ParticipantKind, GUID: p})
	say(p, "late", rmw.GID{})
	if n := g.Nodes(); len(n) != 0 {
		t.Errorf("%v of a participant that went", n)
	}
}

// TestGraphOtherTypes: a topic may have several types, some of them not of ROS.
func TestGraphOtherTypes(t *testing.T) {
	g := still()
	for i, typ := range []string{"std_msgs::msg::dds_::String_", "Plain", "std_msgs::msg::dds_::Bool_", "Plain"} {
		g.apply(dds.Change{Kind: dds.WriterKind, Alive: true, GUID: rmw.GID{0: byte(i)},
			Topic: dds.Topic{Name: "rt/a", Type: typ}})
		g.apply(dds.Change{Kind: dds.WriterKind, Alive: true, GUID: rmw.GID{1: byte(i + 1)},
			Topic: dds.Topic{Name: "rq/sRequest", Type: typ}})
		g.apply(dds.Change{Kind: dds.WriterKind, Alive: true, GUID: rmw.GID{2: byte(i + 1)},
			Topic: dds.Topic{Name: "DCPSTopic", Type: typ}})
	}
	if d := cmp.Diff(map[string][]string{"/a": {"Plain", "std_msgs/msg/Bool", "std_msgs/msg/String"}},
		g.Topics()); d != "" {
		t.Error(d)
	}
	if s := g.Services(); len(s) != 0 {
		t.Errorf("services %v", s)
	}
	if len(g.writers) != 8 {
		t.Errorf("%d writers, DDS' own among them", len(g.writers))
	}
}

// Services of another vendor do not answer ours, but where the process shows that it knows
// our mapping, or where this one speaks its.
func TestForeign(t *testing.T) {
	fast, both := rmw.GID{1, 0x0f, 1}, rmw.GID{1, 0x0f, 2}
	for related, want := range map[bool][]string{false: {"Fast DDS", ""}, true: {"", ""}} {
		g := newGraph(related)
		g.sync = func() {}
		for i, p := range []rmw.GID{fast, both} {
			w := dds.Change{Kind: dds.WriterKind, Alive: true, GUID: p, Participant: p, Topic: dds.Topic{Name: "rt/x"}}
			w.GUID[15] = 3
			if p == both {
				w.UserData = []byte("serviceid=1;")
			}
			g.apply(dds.Change{Kind: dds.ParticipantKind, Alive: true, GUID: p})
			g.apply(w)
			if got := g.foreignWriter(w.GUID); got != want[i] {
				t.Errorf("identity of samples: %v: a writer of %v is of %q, expected %q", related, p, got, want[i])
			}
		}
		for i, e := range g.Publishers("/x") {
			if e.Foreign != want[i] {
				t.Errorf("%+v, expected %q", e, want[i])
			}
		}
	}
}

// What is half known is counted until announcements and discovery agree, whichever comes first.
func TestPendingGolden(t *testing.T) {
	packets := recording(t)
	announced := slices.DeleteFunc(slices.Clone(packets), func(r recorded) bool { return r.sample == nil })
	discovered := slices.DeleteFunc(slices.Clone(packets), func(r recorded) bool { return r.sample != nil })
	for name, order := range map[string][2][]recorded{
		"announced late":  {discovered, announced},
		"discovered late": {append(slices.Clone(announced), participants(discovered)...), discovered},
	} {
		t.Run(name, func(t *testing.T) {
			g := still()
			replay(t, g, order[0])
			half := g.Pending()
			replay(t, g, order[1])
			if whole := g.Pending(); half < 2 || whole != 0 {
				t.Errorf("%d of a part and %d of all, expected some and none", half, whole)
			}
		})
	}
}

// An endpoint of a node is half known until an announcement names it. What is not of ROS has no announcement.
func TestPendingUntilAnnounced(t *testing.T) {
	g := still()
	node, other, writer := rmw.GID{0: 1, 15: 0xc1}, rmw.GID{0: 2, 15: 0xc1}, rmw.GID{0: 1, 15: 3}
	pending := func(when string, want int) {
		t.Helper()
		if n := g.Pending(); n != want {
			t.Errorf("%d are pending %s, expected %d", n, when, want)
		}
	}
	announce := func(writers ...rmw.GID) {
		g.announce(&info{gid: node, nodes: []nodeInfo{{namespace: "/", name: "talker", writers: writers}}}, rmw.GID{})
	}
	discover := func(participant, guid rmw.GID, topic string) {
		g.apply(dds.Change{Kind: dds.WriterKind, Alive: true, GUID: guid, Participant: participant,
			Topic: dds.Topic{Name: topic, Type: "T"}})
	}
	g.apply(dds.Change{Kind: dds.ParticipantKind, Alive: true, GUID: node})
	g.apply(dds.Change{Kind: dds.ParticipantKind, Alive: true, GUID: other})
	announce()
	pending("where a node has no endpoint", 0)
	discover(other, rmw.GID{0: 2, 15: 3}, "rt/chatter")
	discover(node, rmw.GID{0: 1, 14: 1, 15: 3}, "plain")
	pending("beside endpoints that are not of ROS", 0)
	discover(node, writer, "rt/chatter")
	pending("before a publisher is announced", 1)
	announce(writer)
	pending("after it was announced", 0)
}

func participants(all []recorded) []recorded {
	return slices.DeleteFunc(slices.Clone(all), func(r recorded) bool { return r.change.Kind != dds.ParticipantKind })
}
