// Package doctor listens to a robot's topics as policy_controller would, before that flies, and hands what came to
// package doctor. It publishes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/node"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/names"
)

// name of the node.
const name = "vnd_doctor"

// Examiner is the node. What it hears is kept until it is taken.
type Examiner struct {
	*ros.Node
	state, command named
	autopilot      autopilot

	mu       sync.Mutex
	samples  []preflight.Sample
	commands []preflight.Commanded
	faults   map[string]string // the last message of a topic that could not be read
}

// named is a topic with its type.
type named struct{ topic, typeName string }

// longest that is kept: ten minutes at 400 Hz.
const longest = 240_000

// Join joins the graph and listens in a robot's namespace until ctx is done or end is called, which leaves the graph.
func Join(ctx context.Context, namespace string, p *controller.File) (e *Examiner, end func(), err error) {
	space, err := names.Namespace(namespace)
	if err != nil {
		return nil, nil, err
	}
	args := []string{"--ros-args", "--disable-stdout-logs", "--disable-rosout-logs", "-r", "__ns:=" + space}
	if p.Simulated {
		args = append(args, "-p", "use_sim_time:=true")
	}
	c, err := ros.NewContext(ros.Options{Args: args, Stderr: io.Discard, Stdout: io.Discard})
	if err != nil {
		return nil, nil, err
	}
	if e, err = newExaminer(c, &p.Params); err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- c.Spin(ctx) }()
	return e, func() {
		stop()
		<-done
		c.Close() // nothing was published that could be lost
	}, nil
}

// newExaminer listens to the topics that a controller with these parameters would hear and command by.
func newExaminer(c *ros.Context, p *controller.Params) (*Examiner, error) {
	n, err := c.NewNode(name)
	if err != nil {
		return nil, err
	}
	e := &Examiner{Node: n, faults: map[string]string{}}
	topic, typeName := p.StateTopic()
	if e.state.topic, err = n.ResolveTopic(topic); err != nil {
		return nil, err
	}
	e.state.typeName = typeName
	topic, typeName = p.CommandTopic()
	if e.command.topic, err = n.ResolveTopic(topic); err != nil {
		return nil, err
	}
	e.command.typeName = typeName
	if err := e.nameAutopilot(p); err != nil {
		return nil, err
	}
	return e, e.listen(p)
}

func (e *Examiner) listen(p *controller.Params) error {
	poses, err := bridge.NewPoseDecoder(e.state.topic, e.state.typeName, p.PoseOptions())
	if err != nil {
		return err
	}
	if _, err = ros.NewRawSubscription(e.Node, e.state.topic, e.state.typeName, deep(node.MocapQoS()),
		func(data []byte, _ ros.Info) {
			pose, found, err := poses.Decode(data)
			e.note(e.state.topic, err)
			if found && err == nil {
				e.keep(&pose)
			}
		}); err != nil {
		return err
	}
	commands, err := bridge.NewCommandDecoder(e.command.topic, e.command.typeName, p.Throttle)
	if err != nil {
		return err
	}
	_, err = ros.NewRawSubscription(e.Node, e.command.topic, e.command.typeName, deep(node.MocapQoS()),
		func(data []byte, _ ros.Info) {
			volts, followed := e.takes()
			commands.SetVoltage(volts)
			c, err := commands.Decode(data)
			e.note(e.command.topic, err)
			if err != nil || !followed {
				return
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			if len(e.commands) < longest {
				e.commands = append(e.commands, preflight.Commanded{Arrival: e.now(), Thrust: c.Command.Thrust,
					Rates: c.Command.Rates})
			}
		})
	return err
}

// deep hears all that comes while the machine is busy.
func deep(q ros.QoS) ros.QoS {
	q.Depth = 1000
	return q
}

func (e *Examiner) now() float64 { return e.Now().Seconds() }

func (e *Examiner) note(topic string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.faults[topic] = err.Error()
	}
}

func (e *Examiner) keep(p *bridge.Pose) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.samples) < longest {
		e.samples = append(e.samples, preflight.Sample{Stamp: float64(p.Stamp) / 1e9, Arrival: e.now(), P: p.State.P,
			Q: p.State.Q, V: p.State.V, Moves: p.HasVelocity})
	}
}

// Take returns the samples since it was called last.
func (e *Examiner) Take() []preflight.Sample {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.samples
	e.samples = nil
	return s
}

// Commands returns the commands since it was called last, those that an autopilot followed which says whether it does.
func (e *Examiner) Commands() []preflight.Commanded {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.commands
	e.commands = nil
	return c
}

// StateTopic is the full name of the state's topic.
func (e *Examiner) StateTopic() string { return e.state.topic }

// Look judges the graph: who publishes the state, whether it comes, and which publishers and subscriptions of the
// robot's topics do not meet. It is to be called when the graph is known and samples have had time to come.
func (e *Examiner) Look() []preflight.Finding {
	e.subscribeAutopilot()
	e.mu.Lock()
	came := len(e.samples)
	fault := e.faults[e.state.topic]
	e.mu.Unlock()
	f := []preflight.Finding{e.source(came, fault)}
	f = append(f, e.meetings()...)
	return append(f, middlewares(e.Context().Graph())...)
}

// source judges the topic of the state.
func (e *Examiner) source(came int, fault string) preflight.Finding {
	const name = "state topic"
	g := e.Context().Graph()
	all := g.Publishers(e.state.topic)
	switch {
	case len(all) == 0:
		remedy := "start the driver; this is " + e.state.typeName
		if others := e.others(); len(others) > 0 {
			remedy += ", as published on " + strings.Join(others, ", ") + ": remap it"
		}
		return preflight.Finding{Name: name, Wrong: true, Detail: "nobody publishes on " + e.state.topic,
			Remedy: remedy}
	case all[0].Type != e.state.typeName:
		return preflight.Finding{Name: name, Wrong: true,
			Detail: fmt.Sprintf("%s is of type %s, expected %s", e.state.topic, all[0].Type, e.state.typeName),
			Remedy: "set state_source, or remap the right topic"}
	case len(all) > 1:
		var names []string
		for _, p := range all {
			names = append(names, nodeName(p.Node.Namespace, p.Node.Name))
		}
		return preflight.Finding{Name: name, Wrong: true,
			Detail: e.state.topic + " is published by " + strings.Join(names, " and "), Remedy: "leave one of them"}
	case fault != "":
		return preflight.Finding{Name: name, Wrong: true, Detail: fault,
			Remedy: "see docs/guide/interfaces.md for what is expected of the topic"}
	case came == 0:
		return preflight.Finding{Name: name, Wrong: true,
			Detail: e.state.topic + " is stale: it has a publisher, and nothing came",
			Remedy: "is the body in view, and the right one (parameter body)?"}
	}
	return preflight.Finding{Name: name, Detail: fmt.Sprintf("%s, %s, by %s", e.state.topic, e.state.typeName,
		nodeName(all[0].Node.Namespace, all[0].Node.Name))}
}

// others are topics with states of the same type.
func (e *Examiner) others() (names []string) {
	for topic, types := range e.Context().Graph().Topics() {
		if slices.Contains(types, e.state.typeName) && topic != e.state.topic &&
			len(e.Context().Graph().Publishers(topic)) > 0 {
			names = append(names, topic)
		}
	}
	slices.Sort(names)
	return names
}

func nodeName(namespace, node string) string {
	return strings.TrimSuffix(namespace, "/") + "/" + node
}

// Settle waits until somebody publishes the state and something came, or for the patience.
func (e *Examiner) Settle(patience time.Duration, done <-chan struct{}) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		e.mu.Lock()
		came := len(e.samples)
		e.mu.Unlock()
		if came > 0 {
			return
		}
		select {
		case <-done:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}
