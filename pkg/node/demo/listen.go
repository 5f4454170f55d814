package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd/bundle"
)

// space is the namespace of the robot.
const space = "/quad"

// listener is one more node of the graph: it keeps what the others say, and reports it as it comes.
type listener struct {
	context *ros.Context
	ended   chan error
	stop    context.CancelFunc
	reset   *ros.Client[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse]
	say     func(string)
	now     func() time.Time

	mu       sync.Mutex
	changed  *sync.Cond
	r        Record
	newest   Learning // the learner's present state
	share    float64  // of its phase
	pending  string   // condition whose first truth has not come
	failed   failures
	trips    []string // of the guard: when, and why
	tripped  bool     // it flies
	refusals int      // resets in a row that it refused
}

// listen joins the graph in an environment.
func listen(env map[string]string, say func(string), failed failures) (*listener, error) {
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Getenv: func(key string) string { return env[key] }, Stderr: io.Discard})
	if err != nil {
		return nil, err
	}
	l := &listener{context: c, ended: make(chan error, 1), say: say, failed: failed, now: time.Now}
	l.changed = sync.NewCond(&l.mu)
	l.r.sent, l.r.gauges = map[int64]int64{}, map[string]string{}
	if err := l.subscribe(); err != nil {
		c.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	go func() { l.ended <- c.Spin(ctx) }()
	return l, nil
}

// close leaves the graph.
func (l *listener) close() error {
	l.stop()
	err := <-l.ended
	if closing := l.context.Close(); err == nil {
		err = closing
	}
	return err
}

// deep is a QoS that holds some seconds of messages: nothing is to be lost where the machine is busy.
func deep(q ros.QoS) ros.QoS {
	q.Depth = 2000
	return q
}

func (l *listener) subscribe() error {
	n, err := l.context.NewNode("vnd_demo")
	if err != nil {
		return err
	}
	if l.reset, err = ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](n,
		space+"/"+controller+"/reset_guard"); err != nil {
		return err
	}
	latched := ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 100}
	for _, subscribe := range []func() error{
		receive(l, n, "/step", deep(node.StepQoS()), l.step),
		receive(l, n, "/mocap/pose", deep(node.MocapQoS()), l.sample),
		receive(l, n, "/command", deep(node.CommandQoS()), l.command),
		receive(l, n, "/"+simulator+"/ground_truth", deep(node.MocapQoS()), l.truth),
		receive(l, n, "/"+simulator+"/condition", node.LatchedQoS(), l.condition),
		receive(l, n, "/bundle", node.LatchedQoS(), l.bundle),
		receive(l, n, "/learner/status", latched, l.learning),
		receive(l, n, "/buffer", latched, func(*msgs.BufferSegment,
			ros.Info) {
			l.r.Segments = append(l.r.Segments, l.now())
		}),
	} {
		if err := subscribe(); err != nil {
			return err
		}
	}
	_, err = ros.NewSubscription(n, "/diagnostics", deep(ros.DefaultQoS()), locked(l, l.diagnostics))
	return err
}

// receive subscribes to a topic of the robot.
func receive[T any, P ros.Message[T]](l *listener, n *ros.Node, topic string, q ros.QoS,
	take func(*T, ros.Info)) func() error {
	return func() error {
		_, err := ros.NewSubscription[T, P](n, space+topic, q, locked(l, take))
		return err
	}
}

// locked makes a callback of what changes the record.
func locked[T any](l *listener, take func(*T, ros.Info)) func(*T, ros.Info) {
	return func(m *T, i ros.Info) {
		l.mu.Lock()
		take(m, i)
		l.mu.Unlock()
		l.changed.Broadcast()
	}
}

func (l *listener) step(m *msgs.Step, _ ros.Info) {
	s := FlownStep{Stamp: bridge.Nanoseconds(m.Header.Stamp), Seq: m.Seq, Bundle: m.BundleID,
		Guarded: guard.Stage(m.GuardState).HoldsAuthority()}
	if len(m.Reference) < 3 {
		return
	}
	s.Reference = so3.Vec3{X: m.Reference[0], Y: m.Reference[1], Z: m.Reference[2]}
	s.Latent = append([]float32(nil), m.Latent...)
	l.r.Steps = append(l.r.Steps, s)
	if n := len(l.r.Steps); n > 1 && l.r.Steps[n-2].Bundle == s.Bundle {
		return
	}
	for i := range l.r.Bundles {
		b := &l.r.Bundles[i]
		if b.ID == s.Bundle && b.Flew.IsZero() {
			b.Flew = l.now()
			l.report("bundle %.8s flies, from tick %d on", b.ID, s.Seq)
		}
	}
}

func (l *listener) sample(m *geometrymsgs.PoseStamped, i ros.Info) {
	l.r.sent[bridge.Nanoseconds(m.Header.Stamp)] = int64(i.Source)
}

func (l *listener) command(m *msgs.ThrustRates, i ros.Info) {
	l.r.commands = append(l.r.commands, command{bridge.Nanoseconds(m.Header.Stamp), int64(i.Source)})
}

func (l *listener) truth(m *navmsgs.Odometry, _ ros.Info) {
	t := Truth{Stamp: bridge.Nanoseconds(m.Header.Stamp), P: bridge.FromOdometry(m, bridge.PoseOptions{}).State.P}
	if n := len(l.r.Truth); n > 0 && t.Stamp <= l.r.Truth[n-1].Stamp {
		return
	}
	l.r.Truth = append(l.r.Truth, t)
	if l.pending != "" {
		l.r.Winds = append(l.r.Winds, Wind{t.Stamp, l.pending})
		l.pending = ""
	}
}

func (l *listener) condition(m *stdmsgs.String, _ ros.Info) {
	l.pending = m.Data
	what := "sets in"
	for _, w := range l.r.Winds {
		if w.Name == m.Data {
			what = "comes back"
		}
	}
	l.report("%s %s", m.Data, what)
}

func (l *listener) bundle(m *msgs.Bundle, _ ros.Info) { l.add(m.ID, m.Parent) }

// begin takes the bundle that nodes have from a file.
func (l *listener) begin(b *bundle.Bundle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(b.ID, b.Parent)
}

func (l *listener) add(id, parent string) {
	for _, b := range l.r.Bundles {
		if b.ID == id {
			return // an older one flies again
		}
	}
	l.r.Bundles = append(l.r.Bundles, Bundle{ID: id, Parent: parent, At: l.now()})
}

func (l *listener) learning(m *msgs.LearnerStatus, _ ros.Info) {
	now := Learning{At: l.now(), Phase: m.Phase, Rows: m.Transitions, Message: m.Message}
	if m.Message != l.newest.Message && m.Message != "" {
		l.report("learner: %s", brief(m.Message))
	}
	if l.newest.Phase == gating && m.Phase != gating && m.BundleID == "" {
		l.failed.report(errors.New("there is no bundle to fly with: " + m.Message))
	}
	if m.Phase != l.newest.Phase {
		l.r.Learning = append(l.r.Learning, now)
	}
	l.newest, l.share = now, float64(m.Progress)
}

// brief is the beginning of a sentence.
func brief(text string) string {
	const most = 140
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// How often the guard may trip, and how often in a row it may refuse to be reset, before the demo is given up.
const (
	mostTrips    = 20
	mostRefusals = 15
)

// diagnostics keeps the newest values, and has a tripped guard reset, as a person beside the arena would: its cause
// is reported.
func (l *listener) diagnostics(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
	for i := range m.Status {
		s := &m.Status[i]
		for _, v := range s.Values {
			l.r.gauges[s.Name+": "+v.Key] = v.Value
		}
		if s.Name != controller+": control" {
			continue
		}
		cause, tripped := strings.CutPrefix(s.Message, "the guard flies: ")
		if !tripped {
			l.tripped, l.refusals = false, 0
			continue
		}
		if !l.tripped {
			l.trips = append(l.trips, fmt.Sprintf("%.1f s: %s", l.seconds(), cause))
			l.report("guard: %s; it is reset", cause)
		}
		l.tripped = true
		if len(l.trips) == mostTrips {
			l.failed.report(fmt.Errorf("the guard tripped %d times, at last at %s", mostTrips, l.trips[mostTrips-1]))
		}
		if err := l.reset.Send(&stdsrvs.TriggerRequest{}, l.answered); err != nil {
			l.report("guard: %v", err)
		}
	}
}

// answered takes what the controller said to a reset.
func (l *listener) answered(a *stdsrvs.TriggerResponse, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || a.Success {
		return
	}
	if l.refusals++; l.refusals == mostRefusals {
		l.failed.report(fmt.Errorf("the policy cannot fly on: %s; it tripped at %s (--lockstep is for machines "+
			"that are busy with other things)",
			a.Message, strings.Join(l.trips, ", ")))
	}
}

// seconds of flight so far.
func (l *listener) seconds() float64 {
	if n := len(l.r.Truth); n > 0 && len(l.r.Winds) > 0 {
		return l.r.seconds(l.r.Truth[n-1].Stamp)
	}
	return 0
}

// report says an event, with its time.
func (l *listener) report(format string, args ...any) {
	when := fmt.Sprintf("%6.1f s", l.seconds())
	if len(l.r.Bundles) == 0 {
		when = strings.Repeat(" ", len(when))
	}
	l.say(when + "  " + fmt.Sprintf(format, args...))
}

// until waits until holds, which looks at the record; ctx ends it, and a child that failed, and silence.
func (l *listener) until(ctx context.Context, silence time.Duration, what string, holds func(*Record) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-l.failed:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	defer context.AfterFunc(ctx, l.changed.Broadcast)()
	watchdog := time.AfterFunc(silence, func() {
		cancel(fmt.Errorf("nothing was heard for %v, waiting for %s", silence,
			what))
	})
	defer watchdog.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	received := -1
	for !holds(&l.r) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if n := len(l.r.Steps) + len(l.r.Bundles); n != received {
			received = n
			watchdog.Reset(silence)
		}
		l.changed.Wait()
	}
	return nil
}

// record is what came so far.
func (l *listener) record() Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.r
	r.sent, r.gauges = maps.Clone(r.sent), maps.Clone(r.gauges)
	return r
}
