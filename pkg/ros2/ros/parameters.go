package ros

import (
	"strings"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/params"
)

// Parameters are the node's parameters. params.Bind keeps a tagged struct up to date with
// them.
func (n *Node) Parameters() *params.Store { return n.parameters }

// ShareParameters has a node of a name, made from now on, take the parameters of another one of its namespace, as well
// as its own.
func (c *Context) ShareParameters(node, other string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared == nil {
		c.shared = map[string]string{}
	}
	c.shared[node] = other
}

// overrides are those of the command line for a node.
func (c *Context) overrides(n *Node) map[string]param.Assignment {
	c.mu.Lock()
	other := c.shared[n.name.Name]
	c.mu.Unlock()
	if other == "" {
		return c.args.Overrides(n.FullName())
	}
	return c.args.Overrides(n.FullName(), strings.TrimSuffix(n.name.Namespace, "/")+"/"+other)
}

// startParameters makes the node's parameters with the overrides of the command line, the
// six services and /parameter_events.
func (n *Node) startParameters() error {
	events, err := NewPublisher[rclinterfaces.ParameterEvent](n, "/parameter_events", rmw.ParameterEventsQoS())
	if err != nil {
		return err
	}
	n.parameters = params.New(params.Options{
		Node:      n.FullName(),
		Overrides: n.context.overrides(n),
		Now:       func() int64 { return int64(n.Now()) },
		Warn:      func(line string) { n.log.Warn().Msg(line) },
		Event: func(e *rclinterfaces.ParameterEvent) {
			if err := events.Publish(e); err != nil {
				n.log.Warn().Msgf("%v", err)
			}
		},
	})
	p, o := n.parameters, []Option{InGroup(n.internal), WithQoS(rmw.ParametersQoS())}
	return runAll(
		func() error { return serve(n, "~/describe_parameters", p.DescribeParameters, o) },
		func() error { return serve(n, "~/get_parameter_types", p.GetParameterTypes, o) },
		func() error { return serve(n, "~/get_parameters", p.GetParameters, o) },
		func() error { return serve(n, "~/list_parameters", p.ListParameters, o) },
		func() error { return serve(n, "~/set_parameters", p.SetParameters, o) },
		func() error { return serve(n, "~/set_parameters_atomically", p.SetParametersAtomically, o) },
	)
}

// serve makes a service that closes with the node.
func serve[Req, Resp any, P Message[Req], R Message[Resp]](n *Node, name string, handler func(*Req, *Resp),
	options []Option) error {
	_, err := NewService[Req, Resp, P, R](n, name, handler, options...)
	return err
}

// runAll runs steps until one fails.
func runAll(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
