package ros_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

func arm(t testing.TB, n *ros.Node, name string, options ...ros.Option) {
	t.Helper()
	must(ros.NewService(n, name, func(q *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
		r.Success, r.Message = q.Data, fmt.Sprintf("armed: %v", q.Data)
	}, options...))(t)
}

type armClient = ros.Client[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse]

func newArmClient(t testing.TB, n *ros.Node, name string) *armClient {
	t.Helper()
	return must(ros.NewClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](n, name))(t)
}

func call(t testing.TB, c *armClient, on bool) {
	t.Helper()
	r, err := c.Call(within(t), &stdsrvs.SetBoolRequest{Data: on})
	if err != nil {
		t.Error(err)
	} else if want := fmt.Sprintf("armed: %v", on); r.Success != on || r.Message != want {
		t.Errorf("%+v, want %s", r, want)
	}
}

// Calls from many goroutines, with and without a Spin of the client's context.
func TestService(t *testing.T) {
	for _, spun := range []bool{true, false} {
		t.Run(fmt.Sprintf("spun=%v", spun), func(t *testing.T) {
			d := inproc.NewDomain()
			server := newNode(t, join(t, d, nil, "--ros-args", "-r", "arm:=power"), "server")
			client := newNode(t, join(t, d, nil), "client")
			c := newArmClient(t, client, "power")
			if c.Available() {
				t.Error("available before there was a server")
			}
			arm(t, server, "arm")
			spin(t, server.Context(), 0)
			if spun {
				spin(t, client.Context(), 0)
			}
			if err := c.WaitForService(within(t)); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() { callTwenty(t, c, i) })
			}
			all.Wait()
		})
	}
}

func callTwenty(t *testing.T, c *armClient, first int) {
	for j := range 20 {
		call(t, c, (first+j)%2 == 0)
	}
}

// A callback may call a service of its own process.
func TestCallInCallback(t *testing.T) {
	for threads := range 3 {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			d := inproc.NewDomain()
			n := newNode(t, join(t, d, nil), "caller")
			other := newNode(t, join(t, d, nil), "server")
			arm(t, other, "arm")
			spin(t, other.Context(), 0)
			c := newArmClient(t, n, "arm")
			if err := c.WaitForService(within(t)); err != nil {
				t.Fatal(err)
			}
			done := make(chan string, 10)
			must(ros.NewSubscription(n, "go", ros.DefaultQoS(), func(m *stdmsgs.String, _ ros.Info) {
				call(t, c, true)
				done <- m.Data
			}))(t)
			pub := publisher(t, n, "go")
			for i := range 10 {
				if err := pub.Publish(&stdmsgs.String{Data: fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
			spin(t, n.Context(), threads)
			for i := range 10 { // what came while a call waited is neither lost nor out of order
				if got := receive(t, done); got != fmt.Sprint(i) {
					t.Fatalf("message %s, want %d", got, i)
				}
			}
		})
	}
}

func TestSend(t *testing.T) {
	n := alone(t)
	arm(t, n, "~/arm")
	c := newArmClient(t, n, "~/arm")
	if c.Name() != "/test/arm" {
		t.Error(c.Name())
	}
	spin(t, n.Context(), 0)
	if err := c.WaitForService(within(t)); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	err := c.Send(&stdsrvs.SetBoolRequest{Data: true}, func(r *stdsrvs.SetBoolResponse, err error) {
		got <- fmt.Sprint(r.Message, err)
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := receive(t, got); s != "armed: true<nil>" {
		t.Error(s)
	}
}

func TestNoServer(t *testing.T) {
	n := alone(t)
	c := newArmClient(t, n, "arm")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("tired"))
	err := c.WaitForService(ctx)
	if want := "service /arm is not available: tired"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = c.Call(ctx, &stdsrvs.SetBoolRequest{})
	if want := "service /arm: no response: tired"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// Closing the client ends the calls that wait.
	spin(t, n.Context(), 0)
	ended := make(chan error, 1)
	if err := c.Send(&stdsrvs.SetBoolRequest{},
		func(_ *stdsrvs.SetBoolResponse, err error) { ended <- err }); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, ended); !errors.Is(err, rmw.ErrClosed) {
		t.Error(err)
	}
	if _, err := c.Call(within(t), &stdsrvs.SetBoolRequest{}); !errors.Is(err, rmw.ErrClosed) {
		t.Error(err)
	}
}

func TestServiceOfTwoTypes(t *testing.T) {
	_, err := ros.NewService(alone(t), "x", func(*stdsrvs.SetBoolRequest, *stdsrvs.TriggerResponse) {})
	if err == nil || !strings.Contains(err.Error(),
		"service /x: std_srvs/srv/SetBool_Request and std_srvs/srv/Trigger_Response, expected the request and the "+
			"response of one type") {
		t.Error(err)
	}
}

// A client of a type that is known at run time alone calls as others do.
func TestDynamicClient(t *testing.T) {
	d := inproc.NewDomain()
	server := newNode(t, join(t, d, nil), "server")
	arm(t, server, "arm")
	spin(t, server.Context(), 0)
	c := must(ros.NewDynamicClient(newNode(t, join(t, d, nil), "client"), "arm", "std_srvs/srv/SetBool",
		func() cdr.Message { return new(stdsrvs.SetBoolResponse) }))(t)
	if err := c.WaitForService(within(t)); err != nil {
		t.Fatal(err)
	}
	r := must(c.Call(within(t), &ros.Dynamic{Message: &stdsrvs.SetBoolRequest{Data: true}}))(t)
	if got := r.Message.(*stdsrvs.SetBoolResponse); !got.Success || got.Message != "armed: true" {
		t.Errorf("%+v", got)
	}
}
