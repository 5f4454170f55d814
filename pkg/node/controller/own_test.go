package controller

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/ros2/ros/rostest"
)

// labsOwn is an autopilot that remembers.
type labsOwn struct {
	commands chan quad.Command
	follows  atomic.Bool
	closed   atomic.Int32
}

func (o *labsOwn) Topic() string { return "a serial line" }
func (o *labsOwn) Follows() bool { return o.follows.Load() }
func (o *labsOwn) Close() error  { o.closed.Add(1); return nil }
func (o *labsOwn) Send(_ int64, c quad.Command) error {
	select {
	case o.commands <- c:
	default:
	}
	return nil
}

// startOwn starts a controller with an autopilot of a lab's own, and a node beside it.
func startOwn(t *testing.T, connect Connect) (*Controller, *ros.Node) {
	t.Helper()
	d := inproc.NewDomain()
	ctx, stop := context.WithCancel(context.Background())
	c := must(ros.NewContext(ros.Options{Backend: ros.InProcess(d), Stderr: io.Discard,
		Getenv: func(string) string { return "" }, Args: []string{"--ros-args", "--disable-external-lib-logs",
			"-p", "bundle_file:=" + path("a.vnd"), "-p", "task:=hover"}}))(t)
	rostest.SpinWith(ctx, stop, t, c, 3)
	n := must(New(ctx, c, WithAutopilot(connect)))(t)
	return n, must(c.NewNode("tester"))(t)
}

func TestListsFewOfManyPublishers(t *testing.T) {
	for want, names := range map[string][]string{"/a, /b": {"/a", "/b"},
		"/a, /a, /a, /a, /a and 995 more": slices.Repeat([]string{"/a"}, 1000)} {
		if got := listed(names); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestOwnAutopilotTakesTheCommands(t *testing.T) {
	own := &labsOwn{commands: make(chan quad.Command, 1)}
	own.follows.Store(true)
	c, n := startOwn(t, func(ros.Host, *Params) (Autopilot, error) { return own, nil })
	for _, id := range []lifecycle.ID{lifecycle.Configure, lifecycle.Activate} {
		if err := c.Change(id); err != nil {
			t.Fatal(err)
		}
	}
	if topic := c.commandTopic(); topic != "a serial line" {
		t.Errorf("commands go to %q", topic)
	}
	if err := c.arm(context.Background()); !errors.Is(err, errNoAutopilot) {
		t.Errorf("armed by vnd: %v", err)
	}
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "mocap/pose", node.MocapQoS()))(t)
	var m geometrymsgs.PoseStamped
	for deadline := time.Now().Add(long); ; {
		now := time.Now().UnixNano()
		at := so3.Vec3{X: 1e-9 * float64(now%1e5), Z: 1} // no tracker sends a pose twice
		bridge.PutPoseStamped(&m, now, "map", quad.State{P: at, Q: so3.Identity()})
		if err := pub.Publish(&m); err != nil {
			t.Fatal(err)
		}
		select {
		case command := <-own.commands:
			if !(command.Thrust > 0) {
				t.Errorf("sent %+v", command)
			}
		case <-time.After(5 * time.Millisecond):
			if time.Now().After(deadline) {
				t.Fatal("no command was sent")
			}
			continue
		}
		break
	}
	if a := c.autopilot(); a.notOffboard() {
		t.Error("it follows, and counts as not in offboard")
	} else if own.follows.Store(false); !a.notOffboard() {
		t.Error("it does not follow, and counts as in offboard")
	}
	for _, id := range []lifecycle.ID{lifecycle.Deactivate, lifecycle.Cleanup} {
		if err := c.Change(id); err != nil {
			t.Fatal(err)
		}
	}
	if n := own.closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
	if n := len(n.Context().Graph().Publishers("/command")); n != 0 {
		t.Errorf("%d publishers of command", n)
	}
}

func TestOwnAutopilotThatFailsIsNotConfigured(t *testing.T) {
	for name, connect := range map[string]Connect{
		"error":         func(ros.Host, *Params) (Autopilot, error) { return nil, errors.New("no such device") },
		"neither of it": func(ros.Host, *Params) (Autopilot, error) { return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := startOwn(t, connect)
			if err := c.configure(); err == nil || !strings.Contains(err.Error(), "the lab's own autopilot: ") {
				t.Errorf("configured: %v", err)
			}
		})
	}
}
