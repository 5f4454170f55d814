package ros_test

import (
	"context"
	"io"
	"testing"
	"time"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

// patience is how long a test waits for something that must happen.
const patience = 30 * time.Second

// within is a context of the test with a timeout.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// join makes a Context in the domain; env is its whole environment.
func join(t testing.TB, d *inproc.Domain, env map[string]string, args ...string) *ros.Context {
	t.Helper()
	return joinLogged(t, d, io.Discard, env, args...)
}

// joinLogged is join with a console.
func joinLogged(t testing.TB, d *inproc.Domain, console io.Writer, env map[string]string, args ...string) *ros.Context {
	t.Helper()
	c, err := ros.NewContext(ros.Options{
		Args:    append([]string{"--ros-args", "--disable-external-lib-logs", "--"}, args...),
		Backend: ros.InProcess(d), Getenv: func(key string) string { return env[key] }, Stderr: console,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func newNode(t testing.TB, c *ros.Context, name string) *ros.Node {
	t.Helper()
	n, err := c.NewNode(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// alone is a node in a domain of its own.
func alone(t testing.TB, args ...string) *ros.Node {
	t.Helper()
	return newNode(t, join(t, inproc.NewDomain(), nil, args...), "test")
}

// spin spins until the test ends, on n goroutines or, for 0, on one.
func spin(t testing.TB, c *ros.Context, n int) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		if n == 0 {
			ended <- c.Spin(ctx)
		} else {
			ended <- c.SpinThreads(ctx, n)
		}
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// receive waits for a value of ch.
func receive[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("not reached")
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func publisher(t testing.TB, h ros.Host, topic string) *ros.Publisher[stdmsgs.String] {
	t.Helper()
	return must(ros.NewPublisher[stdmsgs.String](h, topic, ros.DefaultQoS()))(t)
}

// listen subscribes and sends the messages to the channel.
func listen(t testing.TB, h ros.Host, topic string) <-chan string {
	t.Helper()
	ch := make(chan string, 100)
	must(ros.NewSubscription(h, topic, ros.DefaultQoS(), func(m *stdmsgs.String, _ ros.Info) { ch <- m.Data }))(t)
	return ch
}
