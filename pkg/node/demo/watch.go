package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"vnd/msgs"
	"vnd/pkg/node"
	"vnd/pkg/node/operator"
	"vnd/pkg/ros2/ros"
)

// begin readies a demo of a robot that learns in stretches, in a namespace, with programs beside recorder and learner.
func (o Options) begin(space string, programs ...string) (*demo, error) {
	d, err := newDemo(o, space, append(programs, learner, recorder))
	if err != nil {
		return nil, err
	}
	if !(o.Seconds > 0) {
		return nil, fmt.Errorf("a demo of %g s, expected more than none", o.Seconds)
	}
	return d, d.settle()
}

// finish ends a demo, in which an error may have been.
func (d *demo) finish(w *watch, err error) error {
	w.end()
	if stopping := d.fleet.stop(); err == nil {
		err = stopping
	}
	return err
}

// firstBundle starts recorder and learner, and waits for a first bundle.
func (d *demo) firstBundle(ctx context.Context, w *watch) error {
	d.Say(fmt.Sprintf("nodes in the namespace %s, on ROS_DOMAIN_ID=%s ROS_LOCALHOST_ONLY=1", d.namespace,
		d.env["ROS_DOMAIN_ID"]))
	directory := "directory:=" + d.dir
	err := errors.Join(d.node(recorder, directory), d.node(learner, directory, fmt.Sprintf("seed:=%d", d.Seed)))
	if err != nil {
		return err
	}
	return w.wait(ctx, slowest, "a first bundle", func() bool { return len(w.bundles) > 0 })
}

// watch is one more node of the graph, which keeps and reports what the others say of learning.
type watch struct {
	*operator.Operator
	end    func()
	say    func(string)
	failed failures
	moves  func() string // what a robot that moves does

	mu       sync.Mutex // of what follows, and of what watches around it have
	begun    int64      // stamp with which a policy began to command; 0: none did
	stamp    int64      // of the newest state
	bundles  []string   // that were published, oldest first
	learning msgs.LearnerStatus
	refused  int
	said     time.Time
}

// join has a watch join the graph.
func (d *demo) join(w *watch) (err error) {
	w.say, w.failed = d.Say, d.failed
	w.Operator, w.end, err = operator.Join(operator.Options{Namespace: d.namespace, Patience: silence,
		Ros: ros.Options{Getenv: func(key string) string { return d.env[key] }}})
	if err != nil {
		return err
	}
	_, bundles := ros.NewSubscription(w.Operator, d.namespace+"/bundle", node.LatchedQoS(), w.onBundle)
	_, status := ros.NewSubscription(w.Operator, d.namespace+"/learner/status", node.LatchedQoS(), w.onLearning)
	if err := errors.Join(bundles, status); err != nil {
		w.end()
		return err
	}
	return nil
}

// seconds since a policy commands.
func (w *watch) seconds() float64 {
	if w.begun == 0 {
		return 0
	}
	return float64(w.stamp-w.begun) / 1e9
}

// wait waits until holds; ctx ends it, and a child that failed, and silence.
func (w *watch) wait(ctx context.Context, silence time.Duration, what string, holds func() bool) error {
	const often = 50 * time.Millisecond
	newest, at := int64(-1), time.Now()
	for {
		w.mu.Lock()
		done, stamp := holds(), w.stamp
		w.present()
		w.mu.Unlock()
		if done {
			return nil
		}
		if stamp != newest {
			newest, at = stamp, time.Now()
		}
		if time.Since(at) > silence {
			return fmt.Errorf("nothing came for %v, waiting for %s", silence, what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-w.failed:
			return err
		case <-time.After(often):
		}
	}
}

func (w *watch) onBundle(m *msgs.Bundle, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bundles = append(w.bundles, m.ID)
}

func (w *watch) onLearning(m *msgs.LearnerStatus, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.Message != w.learning.Message && m.Message != "" {
		w.report("learner: %s", brief(m.Message))
		if strings.Contains(m.Message, " is refused: ") {
			w.refused++
		}
	}
	if w.learning.Phase == gating && m.Phase != gating && m.BundleID == "" {
		w.failed.report(errors.New("there is no bundle to begin with: " + m.Message))
	}
	w.learning = *m
}

// report says an event, with its time.
func (w *watch) report(format string, args ...any) {
	when := strings.Repeat(" ", 8)
	if w.begun != 0 {
		when = fmt.Sprintf("%6.1f s", w.seconds())
	}
	w.say(when + "  " + fmt.Sprintf(format, args...))
}

// present says how it is, every five seconds.
func (w *watch) present() {
	const every = 5 * time.Second
	if time.Since(w.said) < every {
		return
	}
	w.said = time.Now()
	doing := w.learning.Phase
	if x := w.learning.Progress; x > 0 && x < 1 {
		doing += fmt.Sprintf(" %.0f %%", 100*x)
	}
	switch {
	case w.begun != 0:
		w.report("%s  learner: %s", w.moves(), doing)
	case doing != "":
		w.report("learner: %s", doing)
	}
}
