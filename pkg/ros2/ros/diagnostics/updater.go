// Package diagnostics publishes the state of a node on /diagnostics, as diagnostic_updater
// does.
package diagnostics

import (
	"math"
	"slices"
	"sync"
	"time"

	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
)

// Task reports the state of a part of the node. Without a Summary the state is an error.
type Task func(*Status)

// The updater's parameters, as diagnostic_updater's.
const (
	periodName = "diagnostic_updater.period"
	fqnName    = "diagnostic_updater.use_fqn"
)

// Updater publishes the status of its tasks, once a second unless the parameter
// diagnostic_updater.period says otherwise.
type Updater struct {
	n        *ros.Node
	hardware string
	prefix   string // of tasks' names
	pub      *ros.Publisher[diagnosticmsgs.DiagnosticArray]

	mu    sync.Mutex
	tasks []task
	timer *ros.Timer
}

type task struct {
	name string
	run  Task
}

// New makes a node's updater with a task that reports incompatible QoS. hardware is the
// hardware_id, the name of the robot or device; "none" without one.
func New(n *ros.Node, hardware string) (*Updater, error) {
	u := &Updater{n: n, hardware: hardware}
	period, err := n.Parameters().Declare(periodName, 1.0, params.Descriptor{
		Description:        "seconds between two messages on /diagnostics",
		FloatingPointRange: &rclinterfaces.FloatingPointRange{FromValue: 0.01, ToValue: math.MaxInt32},
	})
	if err != nil {
		return nil, err
	}
	fqn, err := n.Parameters().Declare(fqnName, false, params.Descriptor{
		Description: "name the node with its namespace", ReadOnly: true,
	})
	if err != nil {
		return nil, err
	}
	u.prefix = n.Name() + ": "
	if fqn == true {
		u.prefix = n.FullName() + ": "
	}
	// As diagnostic_updater: create_publisher("/diagnostics", 1).
	q := ros.DefaultQoS()
	q.Depth = 1
	if u.pub, err = ros.NewPublisher[diagnosticmsgs.DiagnosticArray](n, "/diagnostics", q); err != nil {
		return nil, err
	}
	if err := u.setPeriod(period.(float64)); err != nil {
		return nil, err
	}
	n.Parameters().AfterSet(func(set []params.Parameter) {
		for _, p := range set {
			if x, ok := p.Value.(float64); ok && p.Name == periodName {
				if err := u.setPeriod(x); err != nil {
					n.Log().Error().Err(err).Send()
				}
			}
		}
	})
	u.Add("QoS", u.qos)
	return u, nil
}

// setPeriod replaces the timer. It is a wall timer, so that a node whose simulated time
// stands still is reported.
func (u *Updater) setPeriod(seconds float64) error {
	t, err := u.n.NewWallTimer(time.Duration(seconds*float64(time.Second)), u.Force)
	if err != nil {
		return err
	}
	u.mu.Lock()
	old := u.timer
	u.timer = t
	u.mu.Unlock()
	if old != nil {
		return old.Close()
	}
	return nil
}

// Add adds a task and reports that it starts.
func (u *Updater) Add(name string, run Task) {
	u.mu.Lock()
	u.tasks = append(u.tasks, task{name, run})
	u.mu.Unlock()
	var s Status
	s.Summary(OK, "Node starting up")
	u.publish([]diagnosticmsgs.DiagnosticStatus{u.message(name, &s)})
}

// Force runs the tasks and publishes now.
func (u *Updater) Force() {
	u.report(func(t task) *Status {
		s := &Status{level: Error, message: "No message was set"}
		t.run(s)
		return s
	})
}

// Broadcast reports the same state for all tasks, for example at the end.
func (u *Updater) Broadcast(l Level, message string) {
	u.report(func(task) *Status { return &Status{level: l, message: message} })
}

// report publishes a status of every task.
func (u *Updater) report(status func(task) *Status) {
	u.mu.Lock()
	tasks := slices.Clone(u.tasks)
	u.mu.Unlock()
	var all []diagnosticmsgs.DiagnosticStatus
	for _, t := range tasks {
		all = append(all, u.message(t.name, status(t)))
	}
	u.publish(all)
}

func (u *Updater) message(name string, s *Status) diagnosticmsgs.DiagnosticStatus {
	return diagnosticmsgs.DiagnosticStatus{
		Level: uint8(s.level), Name: u.prefix + name, Message: s.message, HardwareID: u.hardware, Values: s.values,
	}
}

func (u *Updater) publish(all []diagnosticmsgs.DiagnosticStatus) {
	m := &diagnosticmsgs.DiagnosticArray{Status: all}
	m.Header.Stamp = u.n.Now().Msg()
	if err := u.pub.Publish(m); err != nil {
		u.n.Log().Warn().Err(err).Send()
	}
}

// qos reports an error for each endpoint that did not match a peer because of its QoS, with
// topic and policy.
func (u *Updater) qos(s *Status) {
	s.Summary(OK, "All QoS compatible")
	for _, i := range u.n.Incompatible() {
		s.Merge(Error, "%s of %s: incompatible %s", i.Side, i.Topic, i.Policy)
		s.Addf(i.Topic, "%s: %d refused, last for its %s", i.Side, i.Count, i.Policy)
	}
}
