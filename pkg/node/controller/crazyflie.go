package controller

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	builtininterfaces "vnd/msgs/builtin_interfaces"
	crazyflieinterfaces "vnd/msgs/crazyflie_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// crazyflie is a Crazyflie behind crazyswarm2's server. It follows whatever setpoint comes, so that they go out only
// from ~/arm on.
type crazyflie struct {
	reports
	settings  *node.PeerParameters
	stopped   *ros.Client[stopRequest, crazyflieinterfaces.NotifySetpointsStopResponse]
	landing   *ros.Client[crazyflieinterfaces.LandRequest, crazyflieinterfaces.LandResponse]
	arming    *ros.Client[crazyflieinterfaces.ArmRequest, crazyflieinterfaces.ArmResponse]
	emergency *ros.Client[stdsrvs.EmptyRequest, stdsrvs.EmptyResponse]
	engaged   atomic.Bool
	flying    atomic.Bool
	leaving   atomic.Bool // giveUp is under way
	cflib     atomic.Bool // the server's backend is cflib
	locked    atomic.Pointer[string]
}

type stopRequest = crazyflieinterfaces.NotifySetpointsStopRequest

// crazyflieServer is the server of the Crazyflie whose name ends the namespace.
func crazyflieServer(namespace string) (server, name string) {
	namespace = strings.TrimSuffix(namespace, "/")
	begin := strings.LastIndexByte(namespace, '/') + 1
	return namespace[:begin] + "crazyflie_server", namespace[begin:]
}

func newCrazyflie(c *Controller, p *Params) (*crazyflie, error) {
	a := &crazyflie{reports: reports{clock: c.Clock()}}
	status, err := ros.NewSubscription(c, p.autopilotName("status"), node.AutopilotQoS(),
		func(m *crazyflieinterfaces.Status, i ros.Info) {
			said, flying, locked := bridge.FromCrazyflieStatus(m)
			a.flying.Store(flying)
			a.locked.Store(&locked)
			a.addReport(said)
			if v := float64(m.BatteryVoltage); c.voltage(v, i.Publisher) {
				a.measured(v)
			}
		})
	if err != nil {
		return nil, err
	}
	c.keep(status)
	if err := a.watchBackend(c, p); err != nil {
		return nil, err
	}
	server, name := crazyflieServer(p.AutopilotNamespace)
	settings := bridge.CrazyflieSettingsOf(p.CommandInterface)
	if a.settings, err = c.watchParameters(server, settings.Check, settings.Parameters(name)...); err != nil {
		return nil, err
	}
	if a.stopped, err = keptClient[stopRequest, crazyflieinterfaces.NotifySetpointsStopResponse](c, p,
		"notify_setpoints_stop"); err != nil {
		return nil, err
	}
	if a.landing, err = keptClient[crazyflieinterfaces.LandRequest, crazyflieinterfaces.LandResponse](c, p,
		"land"); err != nil {
		return nil, err
	}
	if a.arming, err = keptClient[crazyflieinterfaces.ArmRequest, crazyflieinterfaces.ArmResponse](c, p,
		"arm"); err != nil {
		return nil, err
	}
	a.emergency, err = keptClient[stdsrvs.EmptyRequest, stdsrvs.EmptyResponse](c, p, "emergency")
	return a, err
}

// watchBackend looks twice a second for a service that crazyswarm2's server has under its backend cflib alone. Cflib
// negates the pitch that the server has negated before.
func (a *crazyflie) watchBackend(c *Controller, p *Params) error {
	name, err := c.ResolveTopic(p.autopilotName("remove_logging"))
	if err != nil {
		return err
	}
	look := func() {
		_, there := c.Context().Graph().Services()[name]
		a.cflib.Store(there)
	}
	look()
	t, err := c.NewWallTimer(500*time.Millisecond, look)
	if err == nil {
		c.keep(t)
	}
	return err
}

// keptClient is a client of one of the autopilot's services, until the configuration ends.
func keptClient[Req, Resp any, P ros.Message[Req], R ros.Message[Resp]](c *Controller, p *Params, name string) (
	*ros.Client[Req, Resp], error) {
	s, err := ros.NewClient[Req, Resp, P, R](c, p.autopilotName(name))
	if err == nil {
		c.keep(s)
	}
	return s, err
}

func (a *crazyflie) fault() string {
	if l := a.locked.Load(); l != nil && *l != "" {
		return *l
	}
	if a.cflib.Load() {
		return "crazyswarm2 runs its backend cflib, which reverses pitch rates: launch it with backend:=cpp"
	}
	return a.settings.Fault()
}

func (a *crazyflie) lastReport() (bridge.Autopilot, time.Duration) {
	s, age := a.reports.lastReport()
	if s.Offboard = a.follows(); s.Offboard {
		s.Mode = "SETPOINTS"
	}
	return s, age
}

// follows reports whether setpoints go out.
func (a *crazyflie) follows() bool {
	return a.engaged.Load() && !a.cflib.Load() && a.settings.Err() == nil
}

func (a *crazyflie) notOffboard() bool { return !a.follows() || notFollowed(a) }

func (a *crazyflie) offboard(context.Context) error {
	if f := a.fault(); f != "" {
		return errors.New(f)
	}
	a.engaged.Store(true)
	return nil
}

// disarm stops the motors, and is refused in the air, where the firmware would do that too.
func (a *crazyflie) disarm(ctx context.Context) error {
	if a.flying.Load() {
		return errors.New("the Crazyflie flies, and falls where it is disarmed: ~/land first, or ~/emergency")
	}
	a.engaged.Store(false)
	_, err := a.arming.Call(ctx, &crazyflieinterfaces.ArmRequest{})
	return err
}

func (a *crazyflie) kill(ctx context.Context) error {
	_, err := a.emergency.Call(ctx, &stdsrvs.EmptyRequest{})
	return err
}

// land has the Crazyflie's own commander land it, once.
func (a *crazyflie) land(ctx context.Context) error {
	if !a.engaged.Swap(false) {
		return nil
	}
	const valid, seconds, height = 100, 3, 0.04 // ms, s, m
	if _, err := a.stopped.Call(ctx, &stopRequest{RemainValidMillisecs: valid}); err != nil {
		return err
	}
	_, err := a.landing.Call(ctx, &crazyflieinterfaces.LandRequest{Height: height,
		Duration: builtininterfaces.Duration{Sec: seconds}})
	return err
}

// giveUp has the Crazyflie's own commander land it where a setting that changed in flight ends setpoints: without any
// the firmware stops the motors. It asks until that is heard, and makes nobody wait.
func (a *crazyflie) giveUp() {
	if !a.engaged.Load() || !a.flying.Load() || a.leaving.Swap(true) {
		return
	}
	go func() {
		defer a.leaving.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), landPatience)
		defer cancel()
		if a.land(ctx) != nil {
			a.engaged.Store(true)
		}
	}()
}

// takesSetpoints reports whether setpoints go out; where they end in flight it has the Crazyflie land.
func (a *crazyflie) takesSetpoints() bool {
	follows := a.follows()
	if !follows {
		a.giveUp()
	}
	return follows
}

// landsUnasked is not so: 0.5 s after the last setpoint the firmware levels, and after 2 s it stops the motors.
func (a *crazyflie) landsUnasked() bool { return false }

// toCrazyflie sends setpoints from ~/arm on. The first has no thrust: before such a one the firmware keeps the motors
// off.
type toCrazyflie struct {
	pub      *ros.Publisher[geometrymsgs.Twist]
	throttle bridge.Throttle
	to       *crazyflie
	unlocked bool
	m        geometrymsgs.Twist
}

func (s *toCrazyflie) topic() string { return s.pub.Topic() }

func (s *toCrazyflie) send(_ int64, _ *quad.State, d *control.Decision) error {
	if !s.to.takesSetpoints() {
		s.unlocked = false
		return nil
	}
	if bridge.PutTwist(&s.m, d.Sent, &s.throttle, s.to.volts()); !s.unlocked {
		s.m, s.unlocked = geometrymsgs.Twist{}, true
	}
	return s.pub.Publish(&s.m)
}

// toFullState sends where the Crazyflie is to be when a setpoint counts, from ~/arm on.
type toFullState struct {
	pub   *ros.Publisher[crazyflieinterfaces.FullState]
	frame string
	hold  int64 // for half of which a setpoint counts, ns
	to    *crazyflie
	m     crazyflieinterfaces.FullState
}

func newToFullState(c *Controller, p *Params, to *crazyflie) (sender, error) {
	pub, err := ros.NewPublisher[crazyflieinterfaces.FullState](c, p.autopilotName("cmd_full_state"), node.CommandQoS())
	if err == nil {
		c.keep(pub)
	}
	return &toFullState{pub: pub, frame: p.WorldFrame, hold: p.Period(), to: to}, err
}

func (s *toFullState) topic() string { return s.pub.Topic() }

func (s *toFullState) send(stamp int64, x *quad.State, d *control.Decision) error {
	if !s.to.takesSetpoints() {
		return nil
	}
	bridge.PutFullState(&s.m, stamp, s.frame, x, d.Sent, float64(d.Now-stamp+s.hold/2)/1e9)
	return s.pub.Publish(&s.m)
}
