// Package quadsim is the node quad_sim: a simulated quadrotor with its autopilot and motion capture, behind the topics
// of a real one.
package quadsim

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/node"
	"vnd/pkg/node/pace"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/sim/closedloop"
)

// simulator is quad_sim. One goroutine owns the vehicle; topics and services hand things over to it.
type simulator struct {
	*ros.Node
	params  *Params
	vehicle *closedloop.Vehicle
	pace    pace.Pace
	epoch   int64 // simulated time 0 on the node's clock, ns
	newest  int64 // stamp of the newest sample, ns

	commands  chan command
	orders    chan func()
	done      <-chan struct{} // of the node's end
	autopilot autopilotTopics // nil for command_interface vnd
	firmware  board           // of the autopilot; nil: the world's rate loop
	ended     chan struct{}   // nothing flies any more, and the firmware has ended

	pose      *ros.Publisher[geometrymsgs.PoseStamped]
	odom      *ros.Publisher[navmsgs.Odometry] // nil: state_estimator publishes it
	driver    func(stamp int64, s quad.State)  // a motion capture driver's topic; nil for none
	truth     *ros.Publisher[navmsgs.Odometry]
	clock     *ros.Publisher[rosgraphmsgs.Clock] // nil in real time
	condition *ros.Publisher[stdmsgs.String]
	battery   batteryTopic
	imu       imuTopic
	estimator *estimator.Estimator // of the odometry
	camera    *camera              // nil: there is none
	published string               // condition published last
	truthAt   float64              // when the truth is published next, s

	poseM  geometrymsgs.PoseStamped
	odomM  navmsgs.Odometry
	truthM navmsgs.Odometry

	status  atomic.Pointer[status]
	refused atomic.Uint64 // commands that are none
	lost    atomic.Uint64 // commands for which there was no space
	latency *diagnostics.Latency
}

// commandsWaiting is space for those of a tenth of a second at 400 Hz.
const commandsWaiting = 40

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
	s := &simulator{Node: n, commands: make(chan command, commandsWaiting), orders: make(chan func()),
		ended:   make(chan struct{}),
		done:    ctx.Done(),
		latency: diagnostics.NewLatency(-100*time.Millisecond, 100*time.Millisecond)}
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	go s.run(ctx)
	return s, nil
}

func (n *simulator) begin(ctx context.Context) error {
	bound, err := node.BindAirframe(n.Node, n.check)
	if err != nil {
		return err
	}
	p := bound.Load()
	n.params = p
	if err := p.check(); err != nil {
		return err
	}
	world, err := p.load()
	if err != nil {
		return err
	}
	if n.vehicle, err = closedloop.NewVehicleIn(world, uint64(p.Seed), p.place(), p.Autopilot.Autopilot); err != nil {
		return err
	}
	if err = n.fit(&p.Autopilot); err != nil {
		return err
	}
	if n.estimator, err = estimator.New(estimator.DefaultParams()); err != nil {
		return err
	}
	n.pace = pace.Pace{Step: time.Duration(p.Step * 1e9), Speed: p.Speed, Lockstep: p.Lockstep, Paced: p.Paced,
		Period:   int64(p.Period * 1e9),
		Patience: time.Duration(p.Patience * 1e9)}
	n.zero(0)
	if err := n.publish(p); err != nil {
		return err
	}
	if err := n.mountCamera(p); err != nil {
		return err
	}
	if err := n.listen(p); err != nil {
		return err
	}
	if err := n.serve(ctx); err != nil {
		return err
	}
	if n.autopilot, err = n.newAutopilotTopics(ctx, p); err != nil {
		return err
	}
	n.stand()
	n.imu.begin(n)
	n.look()
	u, err := diagnostics.New(n.Node, Name)
	if err != nil {
		return err
	}
	u.Add("vehicle", n.report)
	u.Add("command latency", n.latency.Run)
	return nil
}

// check refuses changes: the parameters are read at the start.
func (n *simulator) check(p *Params) error {
	if n.params != nil && p.Throttle != n.params.Throttle {
		return errors.New("parameters hover_throttle, thrust_curve, least_thrust and battery_voltage are read at the " +
			"start of the node: start it anew")
	}
	return p.check()
}

// stand has the autopilot begin with the vehicle as it is put.
func (n *simulator) stand() {
	if n.autopilot != nil {
		n.autopilot.state().begin(!n.vehicle.Grounded())
	}
}

// zero sets the epoch so that the world's time of 0 is now; where the world's clock is the clock, it goes on after
// flown s.
func (n *simulator) zero(flown float64) {
	const second = 1e9 // a stamp of 0 would be none
	switch {
	case !n.params.simulated():
		n.epoch = time.Now().UnixNano()
	case n.epoch == 0:
		n.epoch = second
	default:
		n.epoch += int64(flown * second)
	}
}

func (n *simulator) publish(p *Params) (err error) {
	if n.pose, err = ros.NewPublisher[geometrymsgs.PoseStamped](n.Node, "mocap/pose", node.MocapQoS()); err != nil {
		return err
	}
	if !p.Inertial {
		n.odom, err = ros.NewPublisher[navmsgs.Odometry](n.Node, "mocap/odom", node.MocapQoS())
		if err != nil {
			return err
		}
	}
	if n.driver, err = n.newDriver(p.MocapDriver); err != nil {
		return err
	}
	if n.truth, err = ros.NewPublisher[navmsgs.Odometry](n.Node, "~/ground_truth", node.MocapQoS()); err != nil {
		return err
	}
	if n.condition, err = ros.NewPublisher[stdmsgs.String](n.Node, "~/condition", node.LatchedQoS()); err != nil {
		return err
	}
	if err = n.battery.publish(n); err != nil {
		return err
	}
	if err = n.imu.publish(n); err != nil {
		return err
	}
	if p.simulated() {
		n.clock, err = ros.NewPublisher[rosgraphmsgs.Clock](n.Node, "/clock", node.CommandQoS())
	}
	return err
}

// serve makes the services.
func (n *simulator) serve(ctx context.Context) error {
	_, err := ros.NewService(n.Node, "~/reset", func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		r.Success, r.Message = n.order(ctx, func() error {
			flown := n.vehicle.Time()
			n.vehicle.Reset()
			n.camera.begin()
			n.imu.begin(n)
			n.stand()
			n.zero(flown)
			n.truthAt = 0
			return nil
		}, "begun anew")
	})
	if err != nil {
		return err
	}
	_, err = ros.NewService(n.Node, "~/set_condition", func(q *msgs.SetConditionRequest, r *msgs.SetConditionResponse) {
		r.Success, r.Message = n.order(ctx, func() error { return n.vehicle.Impose(q.Condition) },
			"condition "+q.Condition)
	})
	return err
}

// order has f done by the vehicle's goroutine.
func (n *simulator) order(ctx context.Context, f func() error, good string) (success bool, message string) {
	done := make(chan error, 1)
	select {
	case n.orders <- func() { done <- f() }:
	case <-ctx.Done():
		return false, "the simulation ends"
	}
	if err := <-done; err != nil {
		return false, err.Error()
	}
	return true, good
}

// run lets time pass until ctx is done.
func (n *simulator) run(ctx context.Context) {
	defer n.unfit()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		if wait := n.pace.Wait(now); wait <= 0 {
			n.drain()
			n.advance(now)
			n.pace.Advanced(now)
			continue
		} else {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
		case order := <-n.orders:
			order()
		case c := <-n.commands:
			n.command(c)
		case <-timer.C:
			if now := time.Now(); n.pace.Tired(now) {
				n.pace.GaveUp(now)
			}
		}
	}
}

// drain takes what has come, without waiting.
func (n *simulator) drain() {
	for {
		select {
		case order := <-n.orders:
			order()
		case c := <-n.commands:
			n.command(c)
		default:
			return
		}
	}
}

// now is the present on the clock that stamps are of, ns.
func (n *simulator) now() int64 {
	if n.params.simulated() {
		return n.stamp(n.vehicle.Time())
	}
	return time.Now().UnixNano()
}

func (n *simulator) stamp(t float64) int64 { return n.epoch + int64(t*1e9) }

// advance lets one step pass, at a time on the wall, and publishes what there is then.
func (n *simulator) advance(now time.Time) {
	n.keepTime(now)
	n.vehicle.Advance(n.pace.Step.Seconds())
	n.imu.look(n)
	if n.clock != nil {
		n.warn(n.clock.Publish(&rosgraphmsgs.Clock{Clock: bridge.Time(n.now())}))
	}
	n.camera.look(n.vehicle)
	for _, m := range n.vehicle.Mocap() {
		n.mocap(m.Stamp, m.P, m.Q)
	}
	n.look()
}

// keepTime keeps the stamps of real time on the system's clock, slowly, for steady time drifts against it; at once
// where that was set, or steps were skipped. Steps that are late, but come, have stamps of when they were due.
func (n *simulator) keepTime(now time.Time) {
	if n.params.simulated() {
		return
	}
	const most, share = int64(200 * time.Millisecond), 1000
	off := now.UnixNano() - int64(n.pace.Behind(now)) - n.stamp(n.vehicle.Time())
	if off < most && off > -most {
		off /= share
	}
	n.epoch += off
}

func (n *simulator) warn(err error) {
	if err != nil {
		n.Log().Warn().Msg(err.Error())
	}
}

// report is the task "vehicle".
func (n *simulator) report(s *diagnostics.Status) {
	v := n.status.Load()
	if v.autopilot != "" {
		s.Add("autopilot", v.autopilot)
	}
	switch v.mode {
	case closedloop.Waiting, closedloop.Offboard, closedloop.Climbing:
		s.Summary(diagnostics.OK, "%s", v.text)
	case closedloop.Crashed:
		s.Summary(diagnostics.Error, "%s", v.text)
	default:
		s.Summary(diagnostics.Warn, "%s", v.text)
	}
	s.Add("condition", v.condition)
	s.Add("time (s)", fmt.Sprintf("%.3f", v.time))
	s.Add("steps skipped", v.skipped)
	s.Add("commands refused", n.refused.Load())
	s.Add("commands dropped", n.lost.Load())
}
