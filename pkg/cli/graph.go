package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"vnd/pkg/node/operator"
	"vnd/pkg/ros2/cdr"
)

// graph is the part of a command that speaks to the nodes of a ROS 2 graph.
type graph struct {
	Namespace string        `default:"quad" help:"The robot's: names without a slash at their beginning are in it."`
	Timeout   time.Duration `default:"5s" help:"Patience for what is asked for, and its answer (call: at least 15s)."`

	answers time.Duration        // for an answer, where that is longer
	waiting func(service string) // is called where that takes long; nil for none
}

// join joins the graph until end is called.
func (g *graph) join(c *console) (*operator.Operator, func(), error) {
	if g.Timeout <= 0 {
		return nil, nil, fmt.Errorf("--timeout %v: expected more than 0", g.Timeout)
	}
	return operator.Join(operator.Options{Namespace: g.Namespace, Patience: g.Timeout, Answers: g.answers,
		Waiting: g.waiting, Warn: c.warn})
}

// with does something in the graph.
func (g *graph) with(c *console, do func(*operator.Operator) error) error {
	p, end, err := g.join(c)
	if err != nil {
		return err
	}
	defer end()
	return do(p)
}

type topicCommand struct {
	List topicListCommand `cmd:"" help:"Name the topics, their types and who is at their ends."`
	Echo topicEchoCommand `cmd:"" help:"Print the messages of a topic."`
	Hz   topicHzCommand   `cmd:"" help:"Measure how often messages of a topic come."`
}

type topicListCommand struct{ graph }

// topicList is what `vnd topic list` found.
type topicList struct {
	Topics []operator.Topic `json:"topics"`
}

// Run implements `vnd topic list`.
func (t *topicListCommand) Run(c *console) error {
	return t.with(c, func(p *operator.Operator) error {
		p.Settle(c.ctx)
		return c.show(&topicList{append([]operator.Topic{}, p.Topics()...)})
	})
}

// WriteText implements result.
func (t *topicList) WriteText(w io.Writer) error {
	ends := func(who []string) string {
		if len(who) == 0 {
			return "nobody"
		}
		return strings.Join(who, ", ")
	}
	for _, x := range t.Topics {
		if _, err := fmt.Fprintf(w, "%s  %s  %s → %s\n", x.Name, strings.Join(x.Types, ", "), ends(x.Publishers),
			ends(x.Subscriptions)); err != nil {
			return err
		}
	}
	return nil
}

type topicEchoCommand struct {
	graph
	Count int    `short:"n" default:"0" help:"End after so many messages; 0 goes on, and is 1 with --json."`
	Once  bool   `help:"As --count 1, as ros2 topic echo has it."`
	Full  bool   `help:"Print long lists whole."`
	Topic string `arg:"" help:"Name of the topic."`
}

// echoed is what `vnd topic echo --json` heard.
type echoed struct {
	Topic    string `json:"topic"`
	Messages []any  `json:"messages"`
}

// Run implements `vnd topic echo`.
func (t *topicEchoCommand) Run(c *console) error {
	const most = 128 // as ros2 topic echo
	if t.Count < 0 || t.Once && t.Count > 1 {
		return fmt.Errorf("--count %d: expected at least 0, and 1 with --once", t.Count)
	}
	if t.Once {
		t.Count = 1
	}
	all, limit := &echoed{t.Topic, []any{}}, most
	if t.Full {
		limit = 0
	}
	show := func(m cdr.Message) error {
		_, err := fmt.Fprintf(c.stdout, "%s---\n", operator.Text(m, limit))
		return err
	}
	if c.json {
		t.Count = max(t.Count, 1)
		show = func(m cdr.Message) error {
			all.Messages = append(all.Messages, operator.Value(m))
			return nil
		}
	}
	return t.with(c, func(p *operator.Operator) error {
		err := p.Echo(c.ctx, t.Topic, t.Count, show)
		if err == nil && c.json {
			return c.show(all)
		}
		if t.Count == 0 && errors.Is(err, context.Canceled) { // it goes on until then
			return nil
		}
		return err
	})
}

// WriteText implements result.
func (*echoed) WriteText(io.Writer) error { return nil } // it was printed as it came

type topicHzCommand struct {
	graph
	Seconds float64 `default:"3" help:"How long to count."`
	Topic   string  `arg:"" help:"Name of the topic."`
}

// topicRate is what `vnd topic hz` measured.
type topicRate struct{ *operator.Rate }

// Run implements `vnd topic hz`.
func (t *topicHzCommand) Run(c *console) error {
	if !(t.Seconds > 0) || t.Seconds > 1e6 {
		return fmt.Errorf("--seconds %g: expected more than 0, at most 1e6", t.Seconds)
	}
	return t.with(c, func(p *operator.Operator) error {
		r, err := p.Rate(c.ctx, t.Topic, time.Duration(t.Seconds*float64(time.Second)))
		if err != nil {
			return err
		}
		if r.Messages == 0 {
			return fmt.Errorf("topic %s: no message within %g s", r.Topic, t.Seconds)
		}
		return c.show(&topicRate{r})
	})
}

// WriteText implements result.
func (r *topicRate) WriteText(w io.Writer) error {
	if r.Messages == 1 {
		_, err := fmt.Fprintf(w, "%s: one message, of %d bytes: a rate needs two\n", r.Topic, r.Bytes)
		return err
	}
	_, err := fmt.Fprintf(w, "%s: %.2f Hz; between two messages %.4f to %.4f s, deviation %.4f s; %d messages, "+
		"%d bytes\n", r.Topic, r.Rate.Rate, r.Least, r.Most, r.Deviation, r.Messages, r.Bytes)
	return err
}

type nodeCommand struct {
	List nodeListCommand `cmd:"" help:"Name the nodes."`
}

type nodeListCommand struct{ graph }

// nodeList is what `vnd node list` found.
type nodeList struct {
	Nodes     []string       `json:"nodes"`
	Namesakes map[string]int `json:"namesakes"` // how many nodes have a name, where it is several
	// Middleware is that of nodes whose services do not answer ours.
	Middleware map[string]string `json:"middleware"`
}

// Run implements `vnd node list`.
func (n *nodeListCommand) Run(c *console) error {
	return n.with(c, func(p *operator.Operator) error {
		p.Settle(c.ctx)
		several := p.Namesakes()
		maps.DeleteFunc(several, func(_ string, n int) bool { return n < 2 })
		return c.show(&nodeList{append([]string{}, p.Nodes()...), several, p.OtherMiddleware()})
	})
}

// WriteText implements result.
func (n *nodeList) WriteText(w io.Writer) error {
	for _, name := range n.Nodes {
		text := name
		if k := n.Namesakes[name]; k > 1 {
			text += fmt.Sprintf("  (%d nodes of this name: any of them answers)", k)
		}
		if m := n.Middleware[name]; m != "" {
			text += "  (" + m + ": topics work, services and parameters do not)"
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}
