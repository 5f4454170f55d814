// Package armsim is the node arm_sim: a simulated Franka Emika Panda with a hidden payload, behind the topics of
// ros2_control. docs/guide/arm.md says how it is used.
package armsim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/node/pace"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/sim/manipulation"
)

// simulator is arm_sim. One goroutine owns the arm; the topic of commands hands them over to it.
type simulator struct {
	*ros.Node
	params *params.Bound[Params]
	hidden *Params // those that the plant has
	plant  *manipulation.Plant
	pace   pace.Pace
	steps  int64 // of the plant that have passed
	epoch  int64 // simulated time 0 on the node's clock, ns
	newest int64 // stamp of the newest state, ns

	commands  chan [arm.Joints]float64
	command   [arm.Joints]float64 // N·m
	commanded int64               // step of the newest command

	states *ros.Publisher[sensormsgs.JointState]
	clock  *ros.Publisher[rosgraphmsgs.Clock] // nil in real time
	m      sensormsgs.JointState

	status  atomic.Pointer[status]
	logged  node.LogOnce
	refused atomic.Uint64 // commands that are none
	cut     atomic.Uint64 // steps with torques beyond the joints'
	lost    atomic.Uint64 // commands for which there was no space
}

// status is how the arm is, for any goroutine.
type status struct {
	braked  bool
	stopped int // joint at its end stop; -1: none
	time    float64
	payload float64
	skipped uint64
}

// commandsWaiting is space for those of a tenth of a second at 1 kHz.
const commandsWaiting = 100

// New makes the node; it runs until ctx is done.
func New(ctx context.Context, c *ros.Context) error {
	_, err := newSimulator(ctx, c)
	return err
}

func newSimulator(ctx context.Context, c *ros.Context) (*simulator, error) {
	n, err := c.NewNode(Name)
	if err != nil {
		return nil, err
	}
	s := &simulator{Node: n, commands: make(chan [arm.Joints]float64, commandsWaiting)}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	go s.run(ctx)
	return s, nil
}

func (n *simulator) begin() (err error) {
	if n.params, err = params.Bind(n.Parameters(), (*Params).check); err != nil {
		return err
	}
	p := n.params.Load()
	n.hidden = p
	n.pace = pace.Pace{Step: time.Duration(math.Round(p.Period*1e3)) * time.Millisecond, Speed: p.Speed,
		Lockstep: p.Lockstep, Paced: p.Paced, Period: int64(p.Every * 1e9), Patience: time.Duration(p.Patience * 1e9)}
	if n.epoch = time.Now().UnixNano(); p.simulated() {
		n.epoch = 1e9 // a stamp of 0 would be none
	}
	n.status.Store(&status{braked: true, stopped: -1, payload: p.Payload})
	if n.states, err = ros.NewPublisher[sensormsgs.JointState](n.Node, node.JointStates,
		node.JointStatesQoS()); err != nil {
		return err
	}
	if p.simulated() {
		if n.clock, err = ros.NewPublisher[rosgraphmsgs.Clock](n.Node, "/clock", node.CommandQoS()); err != nil {
			return err
		}
	}
	if _, err = ros.NewSubscription(n.Node, node.JointEfforts, node.CommandQoS(), n.listen); err != nil {
		return err
	}
	u, err := diagnostics.New(n.Node, Name)
	if err != nil {
		return err
	}
	u.Add("arm", n.report)
	n.plant, err = manipulation.NewPlant(p.Simulator, p.truth(), p.start())
	return err
}

// listen takes a command, or says why not.
func (n *simulator) listen(m *stdmsgs.Float64MultiArray, _ ros.Info) {
	var tau [arm.Joints]float64
	if err := n.params.Load().joints().FromEfforts(m, tau[:]); err != nil {
		n.refused.Add(1)
		if line := fmt.Sprintf("topic %s: %v", node.JointEfforts, err); n.logged.First(line) {
			n.Log().Error().Msg(line)
		}
		return
	}
	select {
	case n.commands <- tau:
	default:
		n.lost.Add(1)
	}
}

// run lets time pass until ctx is done.
func (n *simulator) run(ctx context.Context) {
	defer n.plant.Close()
	if err := pace.Run(ctx, &n.pace, n.commands, n.obey, n.advance); err != nil {
		n.Log().Error().Msgf("the simulation ends: %v", err)
	}
}

// obey has the joints follow a command from now on, which answers the newest state: commands have no stamp.
func (n *simulator) obey(tau [arm.Joints]float64) {
	if n.plant.Braked {
		n.Log().Info().Msgf("commands come on %s: the brakes open", node.JointEfforts)
	}
	n.command, n.commanded, n.plant.Braked = tau, n.steps, false
	n.pace.Came(n.newest)
}

// advance lets the time between two states pass, at a time on the wall, and publishes the state there.
func (n *simulator) advance(now time.Time) error {
	p := n.params.Load()
	if p != n.hidden {
		n.hidden = p
		if err := n.plant.SetTruth(p.truth()); err != nil {
			return err
		}
		n.Log().Info().Msgf("the arm now carries %g kg, with friction of %g N·m and damping of %g N·m·s/rad",
			p.Payload, p.Friction, p.Damping)
	}
	for len(n.commands) > 0 {
		n.obey(<-n.commands)
	}
	for end := n.steps + int64(n.pace.Step/time.Millisecond); n.steps < end; n.steps++ {
		if silent := float64(n.steps-n.commanded) * manipulation.PlantStep; silent > p.Timeout && !n.plant.Braked {
			n.plant.Braked = true
			n.Log().Warn().Msgf("no command on %s for %g s: the brakes close", node.JointEfforts, p.Timeout)
		}
		if err := n.plant.Step(&n.command); err != nil {
			return err
		}
		if !n.plant.Braked && n.plant.Torque != n.command {
			n.cut.Add(1)
		}
	}
	n.publish(now)
	return nil
}

// publish publishes the state now.
func (n *simulator) publish(now time.Time) {
	n.newest = n.epoch + n.steps*1e6
	if n.clock == nil {
		n.newest = now.UnixNano() - int64(n.pace.Behind(now)) // when it was due
	} else {
		n.warn(n.clock.Publish(&rosgraphmsgs.Clock{Clock: bridge.Time(n.newest)}))
	}
	n.status.Store(&status{braked: n.plant.Braked, stopped: n.plant.AtStop(), payload: n.hidden.Payload,
		time: float64(n.steps) * manipulation.PlantStep, skipped: n.pace.Skipped()})
	n.hidden.joints().PutJointState(&n.m, n.newest, n.plant.Q[:], n.plant.V[:], n.plant.Torque[:])
	n.warn(n.states.Publish(&n.m))
	n.pace.Sampled(n.newest)
}

func (n *simulator) warn(err error) {
	if err != nil {
		n.Log().Warn().Msg(err.Error())
	}
}

// report is the task "arm".
func (n *simulator) report(s *diagnostics.Status) {
	v := n.status.Load()
	switch {
	case v.stopped >= 0:
		s.Summary(diagnostics.Warn, "joint %q is at its end stop", n.params.Load().joints()[v.stopped])
	case v.braked:
		s.Summary(diagnostics.OK, "the brakes hold: no commands come")
	default:
		s.Summary(diagnostics.OK, "commanded")
	}
	s.Addf("payload (kg)", "%g", v.payload)
	s.Addf("time (s)", "%.3f", v.time)
	s.Add("steps skipped", v.skipped)
	s.Add("commands refused", n.refused.Load())
	s.Add("commands dropped", n.lost.Load())
	s.Add("ms with torques beyond the joints'", n.cut.Load())
}
