package controller

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// px4Mode is PX4 with a flight mode outside of it, this node's. The mode is registered while the node is configured.
// PX4 asks again and again whether it may fly: a node that is dead does not answer, and PX4 returns, lands or holds.
type px4Mode struct {
	*px4Autopilot
	register   map[bridge.ModeAPI]*ros.RawPublisher
	unregister *ros.Publisher[px4msgs.UnregisterExtComponent]
	config     *ros.Publisher[px4msgs.VehicleControlMode] // of PX4 1.15 to 1.17
	setpoints  *ros.Publisher[px4msgs.SetpointConfig]     // of PX4 1.18
	completed  *ros.Publisher[px4msgs.ModeCompleted]
	checks     string       // full name of the arming checks' topic, without a version
	replies    string       // that of the replies
	sent       atomic.Int64 // monotonic ns of the newest command

	rates     atomic.Pointer[px4msgs.SetpointConfig] // that PX4 is to confirm; nil: it need not
	confirmed atomic.Bool                            // since the mode was taken up
	settled   atomic.Bool                            // was confirmed once since the registration

	mu       sync.Mutex
	request  uint64 // id of the registration's request
	asked    int64  // monotonic ns of it
	taken    *bridge.ModeRegistration
	answered int64 // monotonic ns of the newest arming check that counted
	trouble  error // nil: none, or not known yet
}

// noMode is no nav_state.
const noMode = 255

const (
	patienceOfChecks = 4 * time.Second // without an arming check: PX4 has started anew
	flowing          = 500 * time.Millisecond
)

var errNoMode = errors.New("PX4 has not taken the mode vnd yet: is its agent running, and is it PX4 1.15 to 1.18?")

func newPX4Mode(c *Controller, p *Params) (*px4Mode, error) {
	a := &px4Mode{request: rand.Uint64(), register: map[bridge.ModeAPI]*ros.RawPublisher{}}
	c.keep(a) // is closed before its publishers
	var err error
	if a.px4Autopilot, err = newPX4Autopilot(c, p, noMode, []fmuInput{{"vehicle_rates_setpoint", 0},
		{"vehicle_command", 0}, {"register_ext_component_request", 2}, {"unregister_ext_component", 0},
		{"config_control_setpoints", 0}, {"setpoint_config", 0}}); err != nil {
		return nil, err
	}
	for _, v := range []bridge.ModeAPI{bridge.ModeAPI1, bridge.ModeAPI2} {
		if err := a.registerBy(v, p); err != nil {
			return nil, err
		}
	}
	if a.unregister, err = toPX4From[px4msgs.UnregisterExtComponent](c, p, "unregister_ext_component"); err != nil {
		return nil, err
	}
	if a.config, err = toPX4From[px4msgs.VehicleControlMode](c, p, "config_control_setpoints"); err != nil {
		return nil, err
	}
	if a.completed, err = toPX4From[px4msgs.ModeCompleted](c, p, "mode_completed"); err != nil {
		return nil, err
	}
	if err := a.configure(p); err != nil {
		return nil, err
	}
	if a.checks, err = c.ResolveTopic(p.autopilotName("fmu/out/arming_check_request")); err != nil {
		return nil, err
	}
	if a.replies, err = c.ResolveTopic(p.autopilotName("fmu/in/arming_check_reply")); err != nil {
		return nil, err
	}
	// PX4 makes the topic when it first asks, and drops the mode within a second.
	for version, suffix := range [...]string{"", "_v1"} {
		a.answerChecks(a.checks+suffix, version)
	}
	const often = 250 * time.Millisecond
	t, err := c.NewWallTimer(often, a.tend)
	if err != nil {
		return nil, err
	}
	c.keep(t)
	return a, nil
}

// registerBy makes the topics of a registration in a version of PX4's interface.
func (a *px4Mode) registerBy(v bridge.ModeAPI, p *Params) (err error) {
	request, reply := v.Topics()
	if a.register[v], err = ros.NewRawPublisher(a.c.Node, p.autopilotName("fmu/in/"+request),
		"px4_msgs/msg/RegisterExtComponentRequest", node.CommandQoS()); err != nil {
		return err
	}
	a.c.keep(a.register[v])
	topic, err := a.c.ResolveTopic(p.autopilotName("fmu/out/" + reply))
	if err == nil {
		a.listen(topic, "px4_msgs/msg/RegisterExtComponentReply", func(data []byte, _ ros.Info) error {
			return a.registered(data, v)
		})
	}
	return err
}

// configure makes the topics by which PX4 1.18 is told of setpoints, and confirms them.
func (a *px4Mode) configure(p *Params) (err error) {
	if a.setpoints, err = toPX4From[px4msgs.SetpointConfig](a.c, p, "setpoint_config"); err != nil {
		return err
	}
	replies, err := ros.NewSubscription(a.c, p.autopilotName("fmu/out/setpoint_config_reply"), node.AutopilotQoS(),
		func(m *px4msgs.SetpointConfigReply, _ ros.Info) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.taken == nil {
				return
			}
			if ours, err := bridge.FromSetpointConfigReply(m, *a.taken); ours {
				a.trouble = err
				a.confirmed.Store(err == nil)
				a.settled.Store(err == nil)
			}
		})
	if err == nil {
		a.c.keep(replies)
	}
	return err
}

// toPX4From makes a publisher that sends whether or not the node is active.
func toPX4From[T any, P ros.Message[T]](c *Controller, p *Params, topic string) (*ros.Publisher[T], error) {
	pub, err := ros.NewPublisher[T, P](c.Node, p.autopilotName("fmu/in/"+topic), node.CommandQoS())
	if err == nil {
		c.keep(pub)
	}
	return pub, err
}

// tend finds PX4's arming checks, and registers the mode where it is not.
func (a *px4Mode) tend() {
	g := a.c.Context().Graph()
	for name := range g.Topics() {
		if v, ok := bridge.Version(name, a.checks); ok && len(g.Publishers(name)) > 0 && a.subscribed[name] == nil {
			a.answerChecks(name, v)
		}
	}
	const again = int64(time.Second)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := monotonic()
	if a.taken != nil && now-a.answered > int64(patienceOfChecks) {
		a.forget()
	}
	if now-a.asked <= again {
		return
	}
	if a.taken != nil {
		if config := a.rates.Load(); config != nil && !a.settled.Load() {
			a.asked = now
			_ = a.setpoints.Publish(config)
		}
		return
	}
	for v, pub := range a.register {
		if len(g.Subscriptions(pub.Topic())) == 0 {
			continue
		}
		a.asked = now
		if m, err := bridge.RegisterMode(a.request, v); err == nil {
			_ = pub.PublishBytes(m)
		}
	}
}

// answerChecks answers the checks that come in a version of their message, in the same.
func (a *px4Mode) answerChecks(topic string, version int) {
	suffix := strings.TrimPrefix(topic, a.checks) // "" or _vN
	pub, err := ros.NewRawPublisher(a.c.Node, a.replies+suffix, "px4_msgs/msg/ArmingCheckReply", node.CommandQoS())
	if err != nil {
		a.c.Log().Error().Msg(err.Error())
		return
	}
	a.c.keep(pub)
	a.listen(topic, "px4_msgs/msg/ArmingCheckRequest", func(data []byte, _ ros.Info) error {
		check, err := bridge.ReadArmingCheck(data, version)
		if err != nil {
			return err
		}
		return a.answer(pub, check, version)
	})
}

// answer says whether commands flow.
func (a *px4Mode) answer(pub *ros.RawPublisher, check bridge.ArmingCheck, version int) error {
	a.mu.Lock()
	r := a.taken
	if r != nil && check.Counts(*r) {
		a.answered = monotonic()
	}
	a.mu.Unlock()
	if r == nil {
		return nil
	}
	data, err := bridge.AnswerArmingCheck(check, *r, monotonic()-a.sent.Load() < int64(flowing), version)
	if err != nil {
		return err
	}
	return pub.PublishBytes(data)
}

// registered takes a reply to a registration.
func (a *px4Mode) registered(data []byte, v bridge.ModeAPI) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ours, err := bridge.ReadRegisterReply(data, v, a.request)
	if !ours || a.taken != nil {
		return err
	}
	if a.trouble = err; err != nil {
		return nil
	}
	a.taken, a.answered = &r, monotonic()
	a.follows.Store(uint32(r.Mode))
	if v == bridge.ModeAPI1 {
		config := bridge.RatesAndThrust(r)
		_ = a.config.Publish(&config)
	} else {
		config := bridge.RateSetpoints(r, flowing)
		a.rates.Store(&config)
		a.settled.Store(false)
		_ = a.setpoints.Publish(&config)
	}
	a.c.Log().Info().Msgf("PX4 has taken the mode vnd: nav_state %d", r.Mode)
	return nil
}

// forget takes the mode away; mu is held. A new request waits: the two topics have no order.
func (a *px4Mode) forget() {
	m := bridge.UnregisterMode(*a.taken)
	_ = a.unregister.Publish(&m)
	a.taken, a.request, a.asked = nil, rand.Uint64(), monotonic()
	a.rates.Store(nil)
	a.follows.Store(noMode)
}

// Close ends the mode, and takes it away.
func (a *px4Mode) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken == nil {
		return nil
	}
	if s, _ := a.lastReport(); s.Follows() {
		m := bridge.ModeDone(*a.taken)
		_ = a.completed.Publish(&m)
	}
	a.forget()
	return nil
}

func (a *px4Mode) fault() string {
	if f := a.px4Autopilot.fault(); f != "" {
		return f
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.trouble != nil:
		return a.trouble.Error()
	case a.taken == nil:
		return errNoMode.Error()
	}
	return ""
}

func (a *px4Mode) offboard(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken == nil {
		return errNoMode
	}
	m := bridge.ToMode(*a.taken)
	return a.commands.Publish(&m)
}

// landsUnasked is not so of all: PX4 1.15 lands or returns; later ones are to hold.
func (a *px4Mode) landsUnasked() bool { return false }

// toPX4Mode sends setpoints while the mode flies, as PX4 hears those of any mode. PX4 1.18 forgets which setpoints they
// are when it leaves the mode.
type toPX4Mode struct {
	toPX4
	to      *px4Mode
	follows bool // PX4 flew in the mode at the tick before
}

func (s *toPX4Mode) send(_ int64, _ *quad.State, d *control.Decision) error {
	s.to.sent.Store(monotonic())
	said, _ := s.to.lastReport()
	before := s.follows
	if s.follows = said.Follows(); !s.follows {
		return nil
	}
	if !before { // an answer to what PX4 has forgotten since may have come late
		s.to.confirmed.Store(false)
	}
	if config := s.to.rates.Load(); config != nil && !s.to.confirmed.Load() {
		if err := s.to.setpoints.Publish(config); err != nil {
			return err
		}
	}
	bridge.PutVehicleRatesSetpoint(&s.m, 0, d.Sent, &s.throttle, s.to.volts())
	return s.pub.Publish(&s.m)
}
