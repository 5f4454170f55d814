package ros

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/logging"
)

// newLog starts the process' log as the command line and the environment say.
func (c *Context) newLog(o Options) (*logging.Log, error) {
	log, err := logging.New(logging.Options{
		Level: c.args.Level, Settings: c.args.Settings,
		NoConsole: c.args.NoStdout, NoFile: c.args.NoFile, NoTopic: c.args.NoRosout,
		ConfigFile: c.args.LogConfigFile, FileName: c.args.LogFileName,
		Getenv: c.settings.Getenv, Stdout: o.Stdout, Stderr: o.Stderr,
	})
	if err != nil {
		return nil, err
	}
	for _, w := range c.args.Warnings {
		logger := log.Logger("rcl")
		logger.Warn().Msg(w)
	}
	return log, nil
}

// rosoutBlocking is how long the log's own goroutine waits for a reader of
// /rosout that does not keep up, before it goes on without.
const rosoutBlocking = 100 * time.Millisecond

// beginRosout has what the node logs published, unless the command line says no.
func (n *Node) beginRosout() error {
	if n.context.args.NoRosout {
		return nil
	}
	q := rmw.RosoutQoS()
	q.MaxBlocking = rosoutBlocking
	pub, err := NewPublisher[rclinterfaces.Log](n, "/rosout", q)
	if err != nil {
		return err
	}
	// An error here has nowhere to go: the console and the file have the message.
	stop := n.context.log.Publish(n.name.LoggerName(), func(m *rclinterfaces.Log) { _ = pub.Publish(m) })
	return n.own(&closer{stop})
}

// closer is a function to be called at the end.
type closer struct{ f func() }

func (c *closer) Close() error {
	c.f()
	return nil
}

// throttle lets a complaint through at most once in a while.
type throttle struct {
	mu   sync.Mutex
	last time.Time
}

// quiet is how long a throttle is silent after a complaint.
const quiet = time.Second

func (t *throttle) log(l *zerolog.Logger, format string, args ...any) {
	t.mu.Lock()
	now := time.Now()
	pass := t.last.IsZero() || now.Sub(t.last) >= quiet
	if pass {
		t.last = now
	}
	t.mu.Unlock()
	if pass {
		l.Warn().Msgf(format, args...)
	}
}
