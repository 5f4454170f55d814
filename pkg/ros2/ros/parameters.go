package ros

import (
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/params"
)

// Parameters are the node's parameters. params.Bind keeps a tagged struct up to date with
// them.
func (n *Node) Parameters() *params.Store { return n.parameters }

// startParameters makes the node's parameters with the overrides of the command line, the
// six services and /parameter_events.
func (n *Node) startParameters() error {
	events, err := NewPublisher[rclinterfaces.ParameterEvent](n, "/parameter_events", rmw.ParameterEventsQoS())
	if err != nil {
		return err
	}
	n.parameters = params.New(params.Options{
		Node:      n.FullName(),
		Overrides: n.context.args.Overrides(n.FullName()),
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
