package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"vnd/pkg/node/operator"
)

type paramCommand struct {
	List paramListCommand `cmd:"" help:"Name a node's parameters, with their values."`
	Get  paramGetCommand  `cmd:"" help:"Print a parameter's value."`
	Set  paramSetCommand  `cmd:"" help:"Set a parameter of a node that runs."`
}

type paramListCommand struct {
	graph
	Node string `arg:"" help:"Name of the node, such as policy_controller."`
}

// parameterList is what `vnd param list` found.
type parameterList struct {
	Node       string               `json:"node"`
	Parameters []operator.Parameter `json:"parameters"`
}

// Run implements `vnd param list`.
func (x *paramListCommand) Run(c *console) error {
	return x.with(c, func(p *operator.Operator) error {
		all, err := p.Parameters(c.ctx, x.Node, nil)
		if err != nil {
			return err
		}
		return c.show(&parameterList{x.Node, all})
	})
}

// WriteText implements result.
func (l *parameterList) WriteText(w io.Writer) error {
	for _, x := range l.Parameters {
		if _, err := fmt.Fprintf(w, "%s: %s\n", x.Name, operator.FormatValue(x.Value)); err != nil {
			return err
		}
	}
	return nil
}

type paramGetCommand struct {
	graph
	Node string `arg:"" help:"Name of the node, such as policy_controller."`
	Name string `arg:"" help:"Name of the parameter."`
}

// parameterValue is one that was read or set.
type parameterValue struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Run implements `vnd param get`.
func (x *paramGetCommand) Run(c *console) error {
	return x.with(c, func(p *operator.Operator) error {
		all, err := p.Parameters(c.ctx, x.Node, []string{x.Name})
		if err != nil {
			return err
		}
		return c.show(&parameterValue{all[0].Name, all[0].Value})
	})
}

// WriteText implements result.
func (v *parameterValue) WriteText(w io.Writer) error {
	_, err := fmt.Fprintln(w, operator.FormatValue(v.Value))
	return err
}

type paramSetCommand struct {
	graph
	Node  string   `arg:"" help:"Name of the node, such as policy_controller."`
	Value []string `arg:"" help:"NAME VALUE, or NAME:=VALUE, which a value that begins with a hyphen needs."`
}

// Run implements `vnd param set`.
func (x *paramSetCommand) Run(c *console) error {
	name, value, found := strings.Cut(x.Value[0], ":=")
	switch {
	case found && len(x.Value) == 1:
	case !found && len(x.Value) == 2:
		value = x.Value[1]
	default:
		return fmt.Errorf("%q: expected NAME VALUE, or NAME:=VALUE", strings.Join(x.Value, " "))
	}
	return x.with(c, func(p *operator.Operator) error {
		v, err := p.SetParameter(c.ctx, x.Node, name, value)
		if err != nil {
			return err
		}
		return c.show(&parameterValue{name, v})
	})
}

type callCommand struct {
	graph
	Service string `arg:"" help:"Name of the service, such as policy_controller/land."`
	Values  string `arg:"" optional:"" help:"Fields of the request as YAML or JSON, such as '{data: true}'."`
}

// response is what a service answered.
type response struct {
	Response any `json:"response"`
	text     string
}

// longestAnswer is more than policy_controller takes for any: ten seconds for ~/arm.
const longestAnswer = 15 * time.Second

// Run implements `vnd call`.
func (x *callCommand) Run(c *console) error {
	x.answers = longestAnswer
	x.waiting = func(service string) {
		fmt.Fprintf(c.stderr, "vnd call: waits for the answer of %s\n", service)
	}
	return x.with(c, func(p *operator.Operator) error {
		m, err := p.Call(c.ctx, x.Service, x.Values)
		if err != nil {
			return err
		}
		if err := c.show(&response{operator.Value(m), operator.Text(m, 0)}); err != nil {
			return err
		}
		if operator.Refused(m) {
			return errRefused
		}
		return nil
	})
}

// errRefused is for answers that were printed and still are no success.
var errRefused = errors.New("the service refused, see above")

// WriteText implements result.
func (r *response) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, r.text)
	return err
}

// answer is a node's one sentence.
type answer struct {
	Message string `json:"message"`
}

// WriteText implements result.
func (a *answer) WriteText(w io.Writer) error {
	_, err := fmt.Fprintln(w, a.Message)
	return err
}

// trigger calls a service without arguments.
func (g *graph) trigger(c *console, service string) error {
	return g.with(c, func(p *operator.Operator) error {
		text, err := p.Trigger(c.ctx, service)
		if err != nil {
			return err
		}
		return c.show(&answer{text})
	})
}

type taskCommand struct {
	graph
	Reference string `help:"Reference as JSON, such as '{\"kind\": \"hover\"}'; the task's own without it."`
	Task      string `arg:"" help:"hover, track, land, or what else the bundle was trained for."`
}

// Run implements `vnd task`.
func (x *taskCommand) Run(c *console) error {
	return x.with(c, func(p *operator.Operator) error {
		text, err := p.SetTask(c.ctx, "policy_controller/set_task", x.Task, x.Reference)
		if err != nil {
			return err
		}
		return c.show(&answer{text})
	})
}

type landCommand struct{ graph }

// Run implements `vnd land`.
func (x *landCommand) Run(c *console) error { return x.trigger(c, "policy_controller/land") }

type rollbackCommand struct{ graph }

// Run implements `vnd rollback`.
func (x *rollbackCommand) Run(c *console) error { return x.trigger(c, "background_learner/rollback") }

type statusCommand struct {
	graph
	Watch bool `help:"Go on, once a second, until it is interrupted."`
}

// Run implements `vnd status`.
func (x *statusCommand) Run(c *console) error {
	if x.Watch && c.json {
		return fmt.Errorf("--watch: expected without --json, which prints one object")
	}
	return x.with(c, func(p *operator.Operator) error {
		w, err := p.Watch()
		if err != nil {
			return err
		}
		const first, each = 2500 * time.Millisecond, time.Second // diagnostics come once a second
		p.Settle(c.ctx)
		pause(c.ctx, first)
		if !x.Watch {
			return c.show(w.Now())
		}
		for c.ctx.Err() == nil {
			if _, err := io.WriteString(c.stdout, c.clearScreen()); err != nil {
				return err
			}
			if err := w.Now().WriteText(c.stdout); err != nil {
				return err
			}
			pause(c.ctx, each)
		}
		return nil
	})
}
