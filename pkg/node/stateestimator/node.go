// Package stateestimator is the node state_estimator: an IMU and poses in, a state with its covariance out, at the
// newest sample of the IMU. docs/guide/state.md names its topics; package inertial holds what it does.
package stateestimator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	navmsgs "vnd/msgs/nav_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
)

// Estimator is the node.
type Estimator struct {
	*ros.Node
	params *Params
	odom   *ros.Publisher[navmsgs.Odometry]
	events *ros.Publisher[stdmsgs.String]

	mu       sync.Mutex // of what follows
	filter   *inertial.Estimator
	decoder  *bridge.PoseDecoder
	origin   int64  // stamp from which the filter's times count, ns; 0 before the first
	imuFrame string // of the first sample
	frame    string // of the first pose
	next     int64  // stamp from which a state is due, ns
	phase    inertial.Phase
	trouble  inertial.Trouble
	refused  uint64   // messages that were not taken
	why      string   // of the newest
	said     []string // that were logged, without their numbers
	imu      stream
	pose     stream
	m        navmsgs.Odometry
}

// stream is what is known of a sensor's messages.
type stream struct {
	rate *diagnostics.Frequency
	age  float64   // of the newest when it came, s
	came time.Time // it; of the IMU
}

// New makes the node.
func New(c *ros.Context) (*Estimator, error) {
	n, err := c.NewNode(Name)
	if err != nil {
		return nil, err
	}
	e := &Estimator{Node: n}
	if err := e.begin(c); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return e, nil
}

func (e *Estimator) begin(c *ros.Context) error {
	bound, err := params.Bind[Params](e.Parameters(), nil)
	if err != nil {
		return err
	}
	e.params = bound.Load()
	if e.filter, err = inertial.New(e.params.Params); err != nil {
		return err
	}
	topic, typeName := e.params.poseTopic()
	full, err := e.ResolveTopic(topic)
	if err != nil {
		return err
	}
	if e.decoder, err = bridge.NewPoseDecoder(full, typeName,
		bridge.PoseOptions{World: e.params.MocapFrame, Twist: bridge.InBody}); err != nil {
		return err
	}
	if e.odom, err = ros.NewPublisher[navmsgs.Odometry](e.Node, "mocap/odom", node.MocapQoS()); err != nil {
		return err
	}
	if e.events, err = ros.NewPublisher[stdmsgs.String](e.Node, "~/event",
		ros.QoS{Reliability: dds.Reliable, Depth: 10}); err != nil {
		return err
	}
	e.imu.rate, e.pose.rate = diagnostics.NewFrequency(100, 2000), diagnostics.NewFrequency(4, 500)
	sensors := ros.InGroup(c.NewGroup(ros.Exclusive)) // in the order in which they come
	if _, err = ros.NewSubscription(e.Node, "imu", node.ImuQoS(), e.addImu, sensors); err != nil {
		return err
	}
	if _, err = ros.NewRawSubscription(e.Node, topic, typeName, node.MocapQoS(), e.addPose, sensors); err != nil {
		return err
	}
	u, err := diagnostics.New(e.Node, Name)
	if err != nil {
		return err
	}
	u.Add("state", e.report)
	u.Add("imu", e.imu.rate.Run)
	u.Add("poses", e.pose.rate.Run)
	return nil
}

// seconds is a stamp in the filter's time.
func (e *Estimator) seconds(stamp int64) float64 { return float64(stamp-e.origin) / 1e9 }

// addImu takes a sample, and publishes the state at its time where one is due.
func (e *Estimator) addImu(m *sensormsgs.Imu, _ ros.Info) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := bridge.FromImu(m)
	if err == nil {
		err = e.sound(&s)
	}
	if err != nil {
		e.refuse("imu", err)
		return
	}
	if e.origin == 0 {
		e.origin = s.Stamp
	}
	e.imu.rate.Tick()
	e.imu.came = time.Now()
	e.imu.age = float64(int64(e.Now())-s.Stamp) / 1e9
	ready := e.filter.AddImu(inertial.Imu{T: e.seconds(s.Stamp), Rates: s.Rates, Force: s.Force})
	e.watch()
	if ready && e.due(s.Stamp) {
		e.publish(s.Stamp)
	}
}

// due reports whether a state is due at a sample, on a grid from which stamps are a little off.
func (e *Estimator) due(stamp int64) bool {
	const second = int64(1e9) // by which a clock was set, back or forth
	period := int64(1e9 / e.params.Rate)
	off := stamp - e.next
	if off < -period/8 && off > -second {
		return false
	}
	if off > period || off <= -second {
		e.next = stamp
	}
	e.next += period
	return true
}

// sound refuses samples without a stamp, or of another sensor than the first.
func (e *Estimator) sound(s *bridge.Inertial) error {
	switch {
	case s.Stamp == 0:
		return errors.New("the stamp is 0, expected when the sample was taken")
	case e.imuFrame == "":
		e.imuFrame = s.Frame
	case s.Frame != e.imuFrame:
		return fmt.Errorf("frame_id is %q, and that of the first sample was %q: expected one IMU", s.Frame, e.imuFrame)
	}
	return nil
}

func (e *Estimator) publish(stamp int64) {
	x := e.filter.Estimate()
	frame := e.params.WorldFrame
	if frame == "" {
		frame = e.frame
	}
	bridge.PutOdometry(&e.m, stamp, frame, e.params.BodyFrame, x.State)
	e.m.Twist.Twist.Angular.X, e.m.Twist.Twist.Angular.Y, e.m.Twist.Twist.Angular.Z = x.Rates.X, x.Rates.Y, x.Rates.Z
	e.filter.Covariance(&e.m.Pose.Covariance, &e.m.Twist.Covariance)
	if err := e.odom.Publish(&e.m); err != nil {
		e.Log().Warn().Msg(err.Error())
	}
}

// addPose takes a message of the poses' topic.
func (e *Estimator) addPose(data []byte, _ ros.Info) {
	e.mu.Lock()
	defer e.mu.Unlock()
	z, found, err := e.decoder.Decode(data)
	switch {
	case err != nil:
	case !found:
		return
	case z.Stamp == 0:
		err = errors.New("the stamp is 0, expected when the pose was taken")
	case e.frame != "" && z.Frame != e.frame:
		err = fmt.Errorf("frame_id is %q, and that of the first pose was %q: expected one source", z.Frame, e.frame)
	}
	if err != nil {
		e.refuse("poses", err)
		return
	}
	e.frame = z.Frame
	if e.origin == 0 {
		e.origin = z.Stamp
	}
	e.pose.rate.Tick()
	e.pose.age = float64(int64(e.Now())-z.Stamp) / 1e9
	if z.Spread.Fault.Known() && e.params.PoseType != poses {
		e.note("poses: " + z.Spread.Fault.String())
	}
	event := e.filter.AddPose(inertial.Pose{T: e.seconds(z.Stamp), P: z.State.P, Q: z.State.Q,
		Spread: inertial.Spread{Position: z.Spread.Position, Attitude: z.Spread.Attitude}})
	switch event {
	case inertial.Invalid:
		e.refuse("poses", fmt.Errorf("position %v m, attitude of norm %.3g: expected finite numbers and norm 1",
			z.State.P, z.State.Q.Norm()))
	case inertial.Jumped:
		j := e.filter.Jump()
		e.announce(fmt.Sprintf("the source of poses has jumped by %.3f m (%.3f, %.3f, %.3f): the state goes on "+
			"without a jump", j.Norm(), j.X, j.Y, j.Z))
	case inertial.Begun:
		e.announce("the state begins anew at a pose")
	case inertial.Diverged:
		e.announce(inertial.Trouble{Kind: inertial.Divergence}.String())
	}
	e.watch()
}

// watch reports a phase or a trouble that is new.
func (e *Estimator) watch() {
	if p := e.filter.Phase(); p != e.phase {
		e.phase = p
		e.announce("the estimator: " + p.String())
	}
	if e.phase == inertial.Ready {
		e.trouble = inertial.Trouble{}
		return
	}
	if t := e.filter.Trouble(); t.Kind != e.trouble.Kind {
		e.trouble = t
		if t.Kind != inertial.None {
			e.Log().Error().Msg(e.words(t))
		}
	}
}

// words says what is wrong; of clocks, which of the two is off that of this machine.
func (e *Estimator) words(t inertial.Trouble) string {
	if t.Kind == inertial.ClocksApart {
		return fmt.Sprintf("%s (here the IMU's newest stamp was %.3f s old, the poses' %.3f s)", t, e.imu.age,
			e.pose.age)
	}
	return t.String()
}

func (e *Estimator) announce(text string) {
	e.Log().Warn().Msg(text)
	if err := e.events.Publish(&stdmsgs.String{Data: text}); err != nil {
		e.Log().Warn().Msg(err.Error())
	}
}

// refuse counts a message that is not taken.
func (e *Estimator) refuse(what string, err error) {
	e.refused++
	e.why = what + ": " + err.Error()
	e.note(e.why)
}

// note logs a line once, whatever numbers are in it, and not too many of them.
func (e *Estimator) note(line string) {
	const most = 20
	kind := strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789.+-e", r) {
			return -1
		}
		return r
	}, line)
	if len(e.said) < most && !slices.Contains(e.said, kind) {
		e.said = append(e.said, kind)
		e.Log().Warn().Msg(line)
	}
}

// health is whether there is a state, and what is wrong.
func (e *Estimator) health() (level diagnostics.Level, text string) {
	const longest = 2 * time.Second
	if e.filter.Phase() != inertial.Ready {
		if t := e.filter.Trouble(); t.Kind != inertial.None {
			return diagnostics.Error, e.words(t)
		}
		return diagnostics.Error, e.filter.Phase().String()
	}
	if silent := time.Since(e.imu.came); silent > longest { // the filter sees no time pass
		return diagnostics.Error, fmt.Sprintf("no sample of the IMU for %.0f s: no state is published",
			silent.Seconds())
	}
	if d := e.filter.Distance(); d > e.params.Gate {
		return diagnostics.Warn, fmt.Sprintf("the newest pose is not believed: distance %.0f, expected less than %g", d,
			e.params.Gate)
	}
	return diagnostics.OK, e.filter.Phase().String()
}

// report is the task "state".
func (e *Estimator) report(s *diagnostics.Status) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x, counts := e.filter.Estimate(), e.filter.Counts()
	level, text := e.health()
	s.Summary(level, "%s", text)
	for i, name := range []string{"poses taken", "poses rejected", "jumps of their source", "beginnings", "divergences",
		"poses refused", "poses too late", "poses of another clock", "poses that are none"} {
		s.Add(name, counts.Events[i])
	}
	s.Add("IMU samples out of order, gaps, not finite", fmt.Sprint(counts.ImuLate, counts.ImuGaps, counts.ImuBad))
	s.Addf("age of an IMU sample, of a pose (s)", "%.3f, %.3f", e.imu.age, e.pose.age)
	s.Addf("delay of the poses beyond their stamps (s)", "%.4f", x.Delay)
	s.Addf("frame off that of the poses (m)", "%.3f", x.Offset.Norm())
	vector := func(v so3.Vec3) string { return fmt.Sprintf("%.4f, %.4f, %.4f", v.X, v.Y, v.Z) }
	s.Add("bias of the gyroscope (rad/s)", vector(x.GyroBias))
	s.Add("bias of the accelerometer (m/s²)", vector(x.AccelBias))
	var pose, twist [36]float64
	e.filter.Covariance(&pose, &twist)
	s.Addf("deviation of position (m), of velocity (m/s)", "%.4f, %.4f", largest(&pose), largest(&twist))
	s.Add("messages refused", e.refused)
	s.Add("the newest", e.why)
}

// largest is the largest deviation of the first three numbers of a covariance.
func largest(c *[36]float64) float64 { return math.Sqrt(max(c[0], c[7], c[14])) }
