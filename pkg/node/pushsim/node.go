// Package pushsim is the node push_sim: a box in MuJoCo that a tool pushes. docs/guide/pushing.md says how it is used.
package pushsim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/node/pace"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/sim/pushing"
)

// Main is the program push_sim.
func Main() { ros.MainContext(ros.Options{Args: os.Args[1:]}, New) }

// simulator is push_sim. One goroutine owns the box; the topic of commands hands them over to it.
type simulator struct {
	*ros.Node
	params *params.Bound[Params]
	hidden *Params // those that the world has
	world  *pushing.Worlds
	state  pusher.State
	pace   pace.Pace
	steps  int64 // of pushing.Dt that have passed
	epoch  int64 // simulated time 0 on the node's clock, ns
	newest int64 // stamp of the newest poses, ns

	commands  chan pusher.Command
	command   []pusher.Command // one
	commanded int64            // step of the newest command

	box, tool *ros.Publisher[geometrymsgs.PoseStamped]
	clock     *ros.Publisher[rosgraphmsgs.Clock] // nil in real time

	moves   atomic.Bool // commands come
	refused atomic.Uint64
	logged  node.LogOnce
}

// step is the time from one pose to the next.
const step = time.Duration(pushing.Dt * float64(time.Second))

// New makes the node; it runs until ctx is done.
func New(ctx context.Context, c *ros.Context) error {
	n, err := c.NewNode(Name)
	if err != nil {
		return err
	}
	s := &simulator{Node: n, commands: make(chan pusher.Command, 10), command: make([]pusher.Command, 1)}
	if err := s.begin(); err != nil {
		return errors.Join(err, n.Close())
	}
	go s.run(ctx)
	return nil
}

func (n *simulator) begin() (err error) {
	if n.params, err = params.Bind(n.Parameters(), (*Params).check); err != nil {
		return err
	}
	p := n.params.Load()
	n.hidden, n.state = p, p.start()
	n.pace = pace.Pace{Step: step, Speed: p.Speed, Lockstep: p.Lockstep, Paced: p.Paced, Period: int64(step),
		Patience: time.Duration(p.Patience * 1e9)}
	if n.epoch = time.Now().UnixNano(); p.simulated() {
		n.epoch = 1e9 // a stamp of 0 would be none
		if n.clock, err = ros.NewPublisher[rosgraphmsgs.Clock](n.Node, "/clock", node.CommandQoS()); err != nil {
			return err
		}
	}
	if n.box, err = ros.NewPublisher[geometrymsgs.PoseStamped](n.Node, node.BoxPose, node.MocapQoS()); err != nil {
		return err
	}
	if n.tool, err = ros.NewPublisher[geometrymsgs.PoseStamped](n.Node, node.ToolPose, node.MocapQoS()); err != nil {
		return err
	}
	if _, err = ros.NewSubscription(n.Node, node.ToolTwist, node.CommandQoS(), n.listen); err != nil {
		return err
	}
	u, err := diagnostics.New(n.Node, Name)
	if err != nil {
		return err
	}
	u.Add("box", n.report)
	if n.world, err = pushing.NewWorlds(1, 1); err != nil {
		return err
	}
	return n.world.Begin(0, p.condition(), &n.state)
}

// listen takes a command, or says why not.
func (n *simulator) listen(m *geometrymsgs.TwistStamped, _ ros.Info) {
	v := m.Twist.Linear
	err := bridge.InFrame(m.Header.FrameID, n.params.Load().Frame)
	if err == nil && v.X*0+v.Y*0 != 0 {
		err = fmt.Errorf("linear is %g, %g, expected finite numbers", v.X, v.Y)
	}
	if err != nil {
		n.refused.Add(1)
		if line := fmt.Sprintf("topic %s: %v", node.ToolTwist, err); n.logged.First(line) {
			n.Log().Error().Msg(line)
		}
		return
	}
	select {
	case n.commands <- pusher.Command{v.X, v.Y}:
	default: // nobody waits for it: the newest counts
	}
}

// run lets time pass until ctx is done.
func (n *simulator) run(ctx context.Context) {
	defer n.world.Close()
	if err := pace.Run(ctx, &n.pace, n.commands, n.obey, n.advance); err != nil {
		n.Log().Error().Msgf("the simulation ends: %v", err)
	}
}

// obey has the tool follow a command from now on, which answers the newest poses.
func (n *simulator) obey(c pusher.Command) {
	n.command[0], n.commanded = c, n.steps
	n.moves.Store(true)
	n.pace.Came(n.newest)
}

// advance lets the time between two poses pass, at a time on the wall, and publishes those there.
func (n *simulator) advance(now time.Time) error {
	if p := n.params.Load(); p != n.hidden {
		n.hidden = p
		if err := n.world.Begin(0, p.condition(), &n.state); err != nil {
			return err
		}
		n.Log().Info().Msgf("the box now has %g kg, friction %g, its centre at %g m, the table a tilt of %g rad",
			p.Mass, p.Friction, p.Centre, p.Tilt)
	}
	for len(n.commands) > 0 {
		n.obey(<-n.commands)
	}
	if silent := float64(n.steps-n.commanded) * pushing.Dt; silent > n.hidden.Timeout {
		n.command[0] = pusher.Command{}
		n.moves.Store(false)
	}
	if err := n.world.Step(n.command); err != nil {
		return err
	}
	n.world.State(0, &n.state)
	n.steps++
	return n.publish(now)
}

// publish publishes the poses now.
func (n *simulator) publish(now time.Time) error {
	n.newest = n.epoch + n.steps*int64(step)
	var err error
	if n.clock == nil {
		n.newest = now.UnixNano() - int64(n.pace.Behind(now)) // when it was due
	} else {
		err = n.clock.Publish(&rosgraphmsgs.Clock{Clock: bridge.Time(n.newest)})
	}
	box, tool := n.state.Box, n.state.Tool
	const middle, tip = pusher.Height / 2, 0.03 // above the table, m
	err = errors.Join(err, n.tool.Publish(bridge.OnTable(n.newest, n.hidden.Frame, [3]float64{tool[0], tool[1]}, tip)),
		n.box.Publish(bridge.OnTable(n.newest, n.hidden.Frame, box, middle)))
	if err != nil {
		n.Log().Warn().Msg(err.Error())
	}
	n.pace.Sampled(n.newest)
	return nil
}

// report is the task "box".
func (n *simulator) report(s *diagnostics.Status) {
	s.Summary(diagnostics.OK, "the tool stands: no commands come")
	if n.moves.Load() {
		s.Summary(diagnostics.OK, "commanded")
	}
	s.Add("commands refused", n.refused.Load())
}
