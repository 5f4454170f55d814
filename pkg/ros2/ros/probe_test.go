package ros_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	builtin "vnd/msgs/builtin_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/qos"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/ros2/ros/tf"
)

// probe is a program that uses every convention of ROS which the tests check.
func probe() {
	ros.MainContext(ros.Options{Args: os.Args[1:]}, func(_ context.Context, c *ros.Context) error {
		n, err := c.NewNode("probe", ros.LoggerService())
		if err != nil {
			return err
		}
		static, err1 := tf.NewStaticBroadcaster(n)
		_, err2 := params.Bind[tuning](n.Parameters(), nil)
		_, err3 := diagnostics.New(n, "cf2")
		_, err4 := ros.NewPublisher[stdmsgs.String](n, "imu", ros.SensorDataQoS(),
			ros.Overridable(qos.Overridable{Policies: qos.DefaultPolicies}))
		now, err5 := ros.NewPublisher[builtin.Time](n, "now", ros.DefaultQoS())
		for _, err := range []error{err1, err2, err3, err4, err5} {
			if err != nil {
				return err
			}
		}
		if err := static.Send(geometrymsgs.TransformStamped{ChildFrameID: "imu"}); err != nil {
			return err
		}
		if _, err := n.NewTimer(10*time.Millisecond, func() {
			m := n.Now().Msg()
			if err := now.Publish(&m); err != nil {
				n.Log().Error().Err(err).Send()
			}
		}); err != nil {
			return err
		}
		n.Post(func() { os.Stdout.WriteString("spinning\n") })
		_, err = ros.NewService(n, "say", func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
			n.Log().Debug().Msg("in detail")
			n.Log().Warn().Msg("in short")
			r.Success = true
		})
		return err
	})
}

// startProbe starts a probe in an environment; it ends with the test.
func startProbe(t *testing.T, env []string, args ...string) (stdout, stderr *rostest.Console) {
	t.Helper()
	stdout, stderr = new(rostest.Console), new(rostest.Console)
	p := exec.Command(os.Args[0], args...)
	p.Env = append(append(append(os.Environ(), rostest.Environ()...), programVariable+"=probe",
		"ROS_LOG_DIR="+t.TempDir()),
		env...)
	p.Stdout, p.Stderr = stdout, stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Signal(os.Interrupt)
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
	})
	return stdout, stderr
}

// watch is a node of this process.
func watch(t *testing.T) *ros.Node { return newNode(t, overTheWire(t), "watcher") }

// collect returns a channel of a topic's messages.
func collect[T any, P ros.Message[T]](t *testing.T, n *ros.Node, topic string, q ros.QoS) <-chan T {
	t.Helper()
	ch := make(chan T, 1000)
	must(ros.NewSubscription[T, P](n, topic, q, func(m *T, _ ros.Info) {
		kept := *m
		*m = *new(T) // whose lists the next message would be read into
		select {
		case ch <- kept:
		default: // the test has what it wants
		}
	}))(t)
	return ch
}

// find waits for a message that is wanted.
func find[T any](t *testing.T, ch <-chan T, wanted func(T) bool) T {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if v := receive(t, ch); wanted(v) {
			return v
		}
	}
	t.Fatal("it did not come")
	panic("not reached")
}

// ask calls a service when it is available.
func ask[Req, Resp any, P ros.Message[Req], R ros.Message[Resp]](t *testing.T, n *ros.Node, service string,
	q *Req) *Resp {
	t.Helper()
	c := must(ros.NewClient[Req, Resp, P, R](n, service))(t)
	if err := c.WaitForService(within(t)); err != nil {
		t.Fatalf("%s: %v", service, err)
	}
	return must(c.Call(within(t), q))(t)
}

func seen(t *testing.T, n *ros.Node, name string) {
	t.Helper()
	err := n.Context().WaitForGraph(within(t), func(g rmw.Graph) bool { return hasNode(g, name) })
	if err != nil {
		t.Fatalf("%v: %v", err, n.Context().Graph().Nodes())
	}
}

func hasNode(g rmw.Graph, name string) bool {
	return slices.ContainsFunc(g.Nodes(), func(n rmw.NodeName) bool { return n.Name == name })
}
