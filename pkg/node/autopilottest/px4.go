package autopilottest

import (
	"cmp"
	"sync"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros"
)

// Mode ids of the fake.
const (
	px4ArmingCheck = 3
	px4NavState    = 23 // VehicleStatus' NAVIGATION_STATE_EXTERNAL1
	px4Patience    = 20 // arming checks without an answer, after which a mode is unresponsive
)

// PX4 is PX4 1.17 or 1.18 with its interface to flight modes outside of it, as the interface library and the messages
// of these releases describe it. The vehicle is armed, and holds.
type PX4 struct {
	place    place
	status   *ros.Publisher[px4msgs.VehicleStatus]
	checks   *ros.Publisher[px4msgs.ArmingCheckRequest]
	register *ros.RawPublisher
	config   *ros.Publisher[px4msgs.SetpointConfigReply] // of 1.18
	api      bridge.ModeAPI

	mu         sync.Mutex
	state      PX4State
	unanswered int
	turn       int
}

// PX4State is what a fake PX4 knows.
type PX4State struct {
	NavState   uint8
	Registered bool // and responsive
	Ready      bool // its last answer
	Rates      bool // it asked for rates and thrust alone; 1.18 forgets that when it enters or leaves the mode
	Completed  bool
	Heartbeats int // of offboard mode
	Setpoints  []px4msgs.VehicleRatesSetpoint
}

// Flies reports whether it flies in the mode from outside.
func (s *PX4State) Flies() bool { return s.NavState == px4NavState }

// NewPX4 has all names begin with prefix. It is PX4 1.18 by bridge.ModeAPI2, else 1.17.
func NewPX4(n *ros.Node, prefix string, api bridge.ModeAPI) (*PX4, error) {
	p := &PX4{state: PX4State{NavState: px4msgs.VehicleStatusNavigationStateAutoLoiter}, api: api}
	status := map[bridge.ModeAPI]string{bridge.ModeAPI1: "vehicle_status_v1", bridge.ModeAPI2: "vehicle_status_v4"}[api]
	request, reply := api.Topics()
	var err error
	if p.place, err = newPlace(n, prefix); err != nil {
		return nil, err
	}
	if p.status, err = ros.NewPublisher[px4msgs.VehicleStatus](n, prefix+"fmu/out/"+status, sensorQoS()); err != nil {
		return nil, err
	}
	if p.checks, err = ros.NewPublisher[px4msgs.ArmingCheckRequest](n, prefix+"fmu/out/arming_check_request_v1",
		sensorQoS()); err != nil {
		return nil, err
	}
	if p.register, err = ros.NewRawPublisher(n, prefix+"fmu/out/"+reply, "px4_msgs/msg/RegisterExtComponentReply",
		sensorQoS()); err != nil {
		return nil, err
	}
	_, err = ros.NewRawSubscription(n, prefix+"fmu/in/"+request, "px4_msgs/msg/RegisterExtComponentRequest",
		sensorQoS(), func(data []byte, _ ros.Info) { p.registers(data) })
	if api == bridge.ModeAPI2 {
		p.config, err = ros.NewPublisher[px4msgs.SetpointConfigReply](n, prefix+"fmu/out/setpoint_config_reply",
			sensorQoS())
		err = cmp.Or(err, listen(p, n, prefix+"fmu/in/setpoint_config", p.sets))
	} else {
		err = cmp.Or(err, listen(p, n, prefix+"fmu/in/config_control_setpoints", p.configures))
	}
	return p, cmp.Or(err,
		listen(p, n, prefix+"fmu/in/unregister_ext_component", p.unregisters),
		listen(p, n, prefix+"fmu/in/arming_check_reply_v1", p.answered),
		listen(p, n, prefix+"fmu/in/mode_completed", func(m *px4msgs.ModeCompleted) {
			p.state.Completed = m.NavState == px4NavState && m.Result == px4msgs.ModeCompletedResultSuccess
		}),
		listen(p, n, prefix+"fmu/in/vehicle_command", p.heed),
		listen(p, n, prefix+"fmu/in/vehicle_rates_setpoint", func(m *px4msgs.VehicleRatesSetpoint) {
			if p.state.Rates {
				p.state.Setpoints = append(p.state.Setpoints, *m)
			}
		}),
		listen(p, n, prefix+"fmu/in/offboard_control_mode", func(*px4msgs.OffboardControlMode) {
			p.state.Heartbeats++
		}))
}

// listen has f called with p's lock.
func listen[T any, P ros.Message[T]](p *PX4, n *ros.Node, topic string, f func(*T)) error {
	_, err := ros.NewSubscription[T, P](n, topic, sensorQoS(), func(m *T, _ ros.Info) {
		p.mu.Lock()
		defer p.mu.Unlock()
		f(m)
	})
	return err
}

// registers takes a request. That of 1.17 ends before the fields that 1.18 has more.
func (p *PX4) registers(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == bridge.ModeAPI1 {
		data = append(data, 0, 0)
	}
	var m px4msgs.RegisterExtComponentRequest
	ok := cdr.Unmarshal(data, &m) == nil && bridge.IsMode(&m) && m.Px4Ros2ApiVersion == uint16(p.api)
	p.state.Registered, p.unanswered = ok, 0
	r := px4msgs.RegisterExtComponentReply{RequestID: m.RequestID, Name: m.Name, Success: ok,
		Px4Ros2ApiVersion: uint16(p.api), ArmingCheckID: px4ArmingCheck, ModeID: px4NavState, ModeExecutorID: -1}
	if data, err := cdr.Marshal(&r); err == nil {
		_ = p.register.PublishBytes(data[:len(data)-2+int(p.api)])
	}
}

func (p *PX4) unregisters(m *px4msgs.UnregisterExtComponent) {
	if m.ArmingCheckID == px4ArmingCheck && m.ModeID == px4NavState {
		p.state.Registered = false
		p.hold()
	}
}

func (p *PX4) configures(m *px4msgs.VehicleControlMode) {
	want := px4msgs.VehicleControlMode{FlagControlRatesEnabled: true, FlagControlAllocationEnabled: true,
		SourceID: px4NavState}
	p.state.Rates = *m == want
}

// sets is configures of 1.18.
func (p *PX4) sets(m *px4msgs.SetpointConfig) {
	p.state.Rates = m.Type == px4msgs.SetpointConfigTypeRates && m.SourceID == px4NavState && m.ShouldApply &&
		m.TimeoutMs > 0
	r := px4msgs.SetpointConfigReply{Type: m.Type, SourceID: m.SourceID, ModeReqAngularVelocity: true}
	if !p.state.Rates {
		r.Result = px4msgs.SetpointConfigReplyResultUnsupported
	}
	_ = p.config.Publish(&r)
}

func (p *PX4) answered(m *px4msgs.ArmingCheckReply) {
	if m.RegistrationID != px4ArmingCheck {
		return
	}
	p.unanswered, p.state.Ready = 0, m.CanArmAndRun
	if !m.CanArmAndRun {
		p.hold()
	}
}

func (p *PX4) heed(m *px4msgs.VehicleCommand) {
	switch {
	case m.Command == px4msgs.VehicleCommandVehicleCmdSetNavState && m.Param1 == px4NavState && p.state.Registered &&
		p.state.Ready:
		p.enter(px4NavState)
	case m.Command == uint32(px4msgs.VehicleCommandVehicleCmdNavLand):
		p.enter(px4msgs.VehicleStatusNavigationStateAutoLand)
	}
}

// enter takes up a mode.
func (p *PX4) enter(mode uint8) {
	p.state.Rates = p.state.Rates && (p.api == bridge.ModeAPI1 || mode == p.state.NavState)
	p.state.NavState = mode
}

// hold leaves the mode from outside.
func (p *PX4) hold() {
	if p.state.NavState == px4NavState {
		p.enter(px4msgs.VehicleStatusNavigationStateAutoLoiter)
	}
}

// Say has it report its state and its place, and ask for an arming check each fifth time.
func (p *PX4) Say() error {
	if err := p.place.say(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn++; p.turn%5 == 0 {
		if p.unanswered++; p.unanswered > px4Patience {
			p.state.Registered = false
			p.hold()
		}
		m := px4msgs.ArmingCheckRequest{RequestID: uint8(p.turn)}
		if p.state.Registered {
			m.ValidRegistrationsMask = 1 << px4ArmingCheck
		}
		if err := p.checks.Publish(&m); err != nil {
			return err
		}
	}
	return p.status.Publish(&px4msgs.VehicleStatus{ArmingState: px4msgs.VehicleStatusArmingStateArmed,
		NavState: p.state.NavState})
}

// Forget has it forget all registrations, as after a start.
func (p *PX4) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Registered, p.state.Rates = false, false
}

// State is Take without the setpoints, which stay for it.
func (p *PX4) State() PX4State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state
	s.Setpoints = nil
	return s
}

// Take returns its state, with the setpoints since the last call.
func (p *PX4) Take() PX4State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state
	p.state.Setpoints = nil
	return s
}
