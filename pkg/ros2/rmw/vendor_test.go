package rmw_test

import (
	"maps"
	"testing"

	"vnd/pkg/ros2/rmw"
)

// drawn is a graph of one topic.
type drawn struct {
	rmw.Graph
	publishers, subscriptions []rmw.Endpoint
}

func (d drawn) Topics() map[string][]string {
	return map[string][]string{"/tf": {"tf2_msgs/msg/TFMessage"}}
}
func (d drawn) Publishers(string) []rmw.Endpoint    { return d.publishers }
func (d drawn) Subscriptions(string) []rmw.Endpoint { return d.subscriptions }

// Two middlewares in one graph are told by name.
func TestOtherMiddlewareIsNamed(t *testing.T) {
	node := func(name string) rmw.NodeName { return rmw.NodeName{Namespace: "/quad", Name: name} }
	end := func(name string, vendor byte) rmw.Endpoint {
		gid := rmw.GID{1, vendor, 7}
		return rmw.Endpoint{Node: node(name), GID: gid, Foreign: rmw.OtherMapping(gid)}
	}
	got := rmw.OtherMiddleware(drawn{publishers: []rmw.Endpoint{end("driver", 0x0f), end("ours", 0x10)},
		subscriptions: []rmw.Endpoint{end("rust", 0x12), {}, {Node: node("random"), GID: rmw.GID{2, 0x0f}}}})
	want := map[rmw.NodeName]string{node("driver"): "Fast DDS", node("rust"): "RustDDS"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}
