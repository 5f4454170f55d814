package interop

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/securitytest"
)

// A node of rclpy with keys of the same keystore: graph, topic, service. Without keys, its
// tools see nothing.
func TestSecured(t *testing.T) {
	p := withROS(t)
	lab := securitytest.New(t)
	lab.Enclave("/theirs", securitytest.Everything)
	lab.Enclave("/ours", securitytest.Everything)
	// ROS names the plugins without their folder, which Debian has apart.
	path := p.getenv("LD_LIBRARY_PATH")
	plugins, err := filepath.Glob("/usr/lib/*/libddsc*/libdds_security_auth.so")
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range plugins {
		path += ":" + filepath.Dir(plugin)
	}
	open := append(p.env, "LD_LIBRARY_PATH="+path)
	p.env = slices.Concat(open, lab.Environment("/theirs"))
	p.rclpy("talker")
	p.env = slices.Concat(open, lab.Environment("/ours"))
	n := p.node("listener")
	p.env = open
	chatter := collect[stdmsgs.String](t, n, "/drone1/chatter", ros.DefaultQoS())
	until(t, chatter, "chatter", func(m stdmsgs.String) bool { return strings.HasPrefix(m.Data, "n") })
	arm := must(ros.NewClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](n, "/drone1/arm"))(t)
	ctx := within(t)
	if err := arm.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	if r, err := arm.Call(ctx, &stdsrvs.SetBoolRequest{Data: true}); err != nil || !r.Success {
		t.Errorf("%+v, %v", r, err)
	}
	err = n.Context().WaitForGraph(ctx, func(g rmw.Graph) bool {
		of := g.Publishers("/drone1/chatter")
		return len(of) == 1 && of[0].Node.Name == "talker"
	})
	if err != nil {
		t.Errorf("%v: %+v", err, n.Context().Graph().Nodes())
	}
	if got := p.shell("ros2 topic list --no-daemon"); strings.Contains(got, "chatter") ||
		!strings.Contains(got, "/rosout") {
		t.Errorf("without keys: %s", got)
	}
}
