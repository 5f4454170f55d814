// Package operator is what a person asks of a graph from a terminal, without ROS: topics, nodes, parameters, services,
// and what a robot does.
package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/names"
)

// Operator is a node that others hide: its name begins with an underscore.
type Operator struct {
	*ros.Node
	namespace string // as given, without a slash at its end
	patience  time.Duration
	answers   time.Duration        // patience for the answer of a service
	waiting   func(service string) // nil for none
	joined    time.Time
}

// Options of an Operator.
type Options struct {
	Namespace string        // that names without a slash at their beginning are in
	Patience  time.Duration // for what is asked for to be there, and to answer
	Answers   time.Duration // for the answer of a service that is there, where that is longer
	// Waiting is called where a service has not answered after two seconds; nil for none.
	Waiting func(service string)
	Warn    func(text string) // gets what the environment has that a process may go on with; nil for nobody
	Ros     ros.Options       // Args are those for ROS
}

// Join joins the graph until end is called.
func Join(o Options) (p *Operator, end func(), err error) {
	space, err := names.Namespace(o.Namespace)
	if err != nil {
		return nil, nil, err
	}
	o.Ros.Args = append([]string{"--ros-args", "--disable-stdout-logs", "--disable-rosout-logs",
		"--disable-external-lib-logs"}, o.Ros.Args...)
	o.Ros.Stdout, o.Ros.Stderr = io.Discard, io.Discard
	if o.Ros.Getenv == nil {
		o.Ros.Getenv = os.Getenv
	}
	if o.Warn != nil {
		for _, text := range ros.Suspicions(o.Ros.Getenv) {
			o.Warn(text)
		}
	}
	c, err := ros.NewContext(o.Ros)
	if err != nil {
		return nil, nil, err
	}
	n, err := c.NewNode(fmt.Sprintf("_vnd_%d", os.Getpid()))
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	p = &Operator{Node: n, namespace: strings.TrimSuffix(space, "/"), patience: o.Patience, answers: o.Answers,
		waiting: o.Waiting, joined: time.Now()}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Spin(ctx) }()
	return p, func() {
		stop()
		<-done
		c.Close() // nothing was published that could be lost
	}, nil
}

// full is a name in the namespace, unless it begins with a slash.
func (p *Operator) full(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return p.namespace + "/" + name
}

// Settle waits until all that is there has been discovered, as far as one can tell: nothing is half known, and the
// graph has stood still for twice the longest pause between news so far. That says how slow machine and network are.
func (p *Operator) Settle(ctx context.Context) {
	const least, most = 2 * time.Second, 10 * time.Second
	size := func() (n int) {
		g := p.Context().Graph()
		for topic := range g.Topics() {
			n += len(g.Publishers(topic)) + len(g.Subscriptions(topic))
		}
		return n + len(g.Nodes()) + len(g.Services())
	}
	last, since, pause := -1, p.joined, 250*time.Millisecond
	for ctx.Err() == nil && time.Since(p.joined) < most {
		if now := size(); now != last {
			pause = max(pause, time.Since(since))
			last, since = now, time.Now()
		} else if time.Since(since) > 2*pause && time.Since(p.joined) > least && p.Context().Graph().Pending() == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// await waits for something of the graph that has a name. Where it does not come, the error says what was expected, and
// what is there: first what begins most like it.
func (p *Operator) await(ctx context.Context, holds func(rmw.Graph) bool, name, absent string,
	there func() []string) error {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	err := p.Context().WaitForGraph(ctx, holds)
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	names := there()
	if len(names) == 0 {
		return fmt.Errorf("%s within %v, and nothing else is there: ROS_DOMAIN_ID is %q", absent, p.patience,
			os.Getenv("ROS_DOMAIN_ID"))
	}
	slices.SortStableFunc(names, func(a, b string) int { return alike(b, name) - alike(a, name) })
	const most = 12
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Errorf("%s within %v; there are %s%s", absent, p.patience, strings.Join(names, ", "), more)
}

// alike is how many bytes two names have in common at their beginning.
func alike(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// visible leaves this node out, and others that are hidden.
func visible(n rmw.NodeName) bool {
	return !rmw.Hidden(n.Name) || n.Name == rmw.UnknownNode || n.Name == rmw.BareApp
}

func fullName(n rmw.NodeName) string { return strings.TrimSuffix(n.Namespace, "/") + "/" + n.Name }

// OtherMiddleware are the nodes whose services do not answer this one, and their middleware, which has another mapping
// of services. Their topics work.
func (p *Operator) OtherMiddleware() map[string]string {
	found := map[string]string{}
	for n, vendor := range rmw.OtherMiddleware(p.Context().Graph()) {
		if visible(n) {
			found[fullName(n)] = vendor
		}
	}
	return found
}

// Nodes are the full names of the nodes in the graph, once each.
func (p *Operator) Nodes() []string { return slices.Sorted(maps.Keys(p.Namesakes())) }

// Namesakes are how many nodes have a full name; those without one count as one. Of several any one answers.
func (p *Operator) Namesakes() map[string]int {
	found := map[string]int{}
	for _, n := range p.Context().Graph().Nodes() {
		if n.Name == rmw.UnknownNode || n.Name == rmw.BareApp {
			found[fullName(n)] = 1
		} else if visible(n) {
			found[fullName(n)]++
		}
	}
	return found
}
