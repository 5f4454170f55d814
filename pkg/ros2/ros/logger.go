package ros

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/logging"
)

// newLog starts the process' log, configured by command line and environment.
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

// rosoutBlocking is how long the log's own goroutine waits for a reader of /rosout that
// does not keep up.
const rosoutBlocking = 100 * time.Millisecond

// startRosout publishes the node's log messages, unless the command line disables that.
func (n *Node) startRosout() error {
	if n.context.args.NoRosout {
		return nil
	}
	q := rmw.RosoutQoS()
	q.MaxBlocking = rosoutBlocking
	pub, err := NewPublisher[rclinterfaces.Log](n, "/rosout", q)
	if err != nil {
		return err
	}
	// Errors are dropped: the console and the file have the message.
	stop := n.context.log.Publish(n.name.LoggerName(), func(m *rclinterfaces.Log) { _ = pub.Publish(m) })
	return n.addCloser(closer(stop))
}

// closer is an io.Closer that calls a function.
type closer func()

func (c closer) Close() error {
	c()
	return nil
}

// throttle logs at most one warning per throttlePeriod.
type throttle struct {
	mu   sync.Mutex
	last time.Time
}

const throttlePeriod = time.Second

func (t *throttle) log(l *zerolog.Logger, format string, args ...any) {
	t.mu.Lock()
	now := time.Now()
	pass := t.last.IsZero() || now.Sub(t.last) >= throttlePeriod
	if pass {
		t.last = now
	}
	t.mu.Unlock()
	if pass {
		l.Warn().Msgf(format, args...)
	}
}
