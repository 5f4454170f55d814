package cli

import (
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"vnd/pkg/node/operator"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros/action"
)

type actionCommand struct {
	List actionListCommand `cmd:"" help:"Name the actions, and their types."`
	Info actionInfoCommand `cmd:"" help:"Name the nodes at the ends of an action."`
	Send actionSendCommand `cmd:"" help:"Have a goal pursued to its end. Ctrl-C cancels it."`
}

type actionListCommand struct{ graph }

// actionList is what `vnd action list` found.
type actionList struct {
	Actions []operator.Action `json:"actions"`
}

// Run implements `vnd action list`.
func (x *actionListCommand) Run(c *console) error {
	return x.with(c, func(p *operator.Operator) error {
		p.Settle(c.ctx)
		return c.show(&actionList{append([]operator.Action{}, p.Actions()...)})
	})
}

// WriteText implements result.
func (l *actionList) WriteText(w io.Writer) error {
	for _, a := range l.Actions {
		if _, err := fmt.Fprintf(w, "%s [%s]\n", a.Name, strings.Join(a.Types, ", ")); err != nil {
			return err
		}
	}
	return nil
}

type actionInfoCommand struct {
	graph
	Action string `arg:"" help:"Name of the action, such as policy_controller/fly_task."`
}

// actionInfo is what `vnd action info` found.
type actionInfo struct{ operator.Action }

// Run implements `vnd action info`.
func (x *actionInfoCommand) Run(c *console) error {
	return x.with(c, func(p *operator.Operator) error {
		if _, err := p.Action(c.ctx, x.Action); err != nil {
			return err
		}
		p.Settle(c.ctx)
		a, err := p.Action(c.ctx, x.Action)
		if err != nil {
			return err
		}
		return c.show(&actionInfo{a})
	})
}

// WriteText implements result.
func (a *actionInfo) WriteText(w io.Writer) error {
	text := fmt.Sprintf("Action: %s\n", a.Name)
	for _, side := range []struct {
		name  string
		nodes []string
	}{{"clients", a.Clients}, {"servers", a.Servers}} {
		text += fmt.Sprintf("Action %s: %d\n", side.name, len(side.nodes))
		for _, n := range side.nodes {
			text += "    " + n + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

type actionSendCommand struct {
	graph
	Feedback bool   `short:"f" help:"Print the feedback as it comes."`
	Action   string `arg:"" help:"Name of the action, such as policy_controller/fly_task."`
	Values   string `arg:"" optional:"" help:"Fields of the goal as YAML or JSON, such as '{task: hover}'."`
}

// pursued is what came of a goal.
type pursued struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Result any    `json:"result"`
	text   string
}

// Run implements `vnd action send`. It prints as ros2 action send_goal does.
func (x *actionSendCommand) Run(c *console) error {
	say := func(format string, args ...any) {
		if !c.json {
			fmt.Fprintf(c.stdout, format, args...)
		}
	}
	// Ctrl-C ends whoever reads the output, too. That must not kill this before the goal is canceled.
	signal.Ignore(syscall.SIGPIPE)
	yaml := func(m cdr.Message) string { return "    " + operator.Text(m, 0) }
	return x.with(c, func(p *operator.Operator) error {
		say("Waiting for an action server to become available...\n")
		g, err := p.Pursue(c.ctx, x.Action, x.Values, func(g *operator.Pursuit) {
			say("Sending goal:\n %s\nGoal accepted with ID: %v\n\n", yaml(g.Goal), g.ID)
		}, func(m cdr.Message) {
			if x.Feedback {
				say("Feedback:\n%s\n", yaml(m))
			}
		})
		if err != nil {
			return err
		}
		end := &pursued{g.ID.String(), g.Status.String(), operator.Value(g.Result), yaml(g.Result)}
		if err := c.show(end); err != nil {
			return err
		}
		if g.Status != action.Succeeded {
			return fmt.Errorf("action %s: the goal was not reached: %v", x.Action, g.Status)
		}
		return nil
	})
}

// WriteText implements result.
func (p *pursued) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Result:\n%s\nGoal finished with status: %s\n", p.text, p.Status)
	return err
}
