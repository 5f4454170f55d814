package autopilottest

import (
	"cmp"
	"sync"

	as2msgs "vnd/msgs/as2_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mrsmsgs "vnd/msgs/mrs_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/ros"
)

// Aerostack2 is a platform of Aerostack2 1.1.3 as its sources have it: armed and in offboard mode, in which it hovers.
type Aerostack2 struct {
	place place
	info  *ros.Publisher[as2msgs.PlatformInfo]

	mu       sync.Mutex
	state    as2msgs.PlatformInfo
	noRates  bool
	rates    geometrymsgs.TwistStamped
	commands []bridge.Command
}

// NewAerostack2 has all names begin with prefix; mass is the vehicle's, kg.
func NewAerostack2(n *ros.Node, prefix string, mass float64) (*Aerostack2, error) {
	a := &Aerostack2{state: as2msgs.PlatformInfo{Connected: true, Armed: true, Offboard: true}}
	a.state.CurrentControlMode.ControlMode = as2msgs.ControlModeHover
	a.state.Status.State = as2msgs.PlatformStatusFlying
	var err error
	if a.place, err = newPlace(n, prefix); err != nil {
		return nil, err
	}
	if a.info, err = ros.NewPublisher[as2msgs.PlatformInfo](n, prefix+"platform/info", ros.DefaultQoS()); err != nil {
		return nil, err
	}
	_, mode := ros.NewService(n, prefix+"set_platform_control_mode",
		func(q *as2msgs.SetControlModeRequest, r *as2msgs.SetControlModeResponse) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if r.Success = q.ControlMode == bridge.ByRates() && !a.noRates; r.Success {
				a.state.CurrentControlMode = q.ControlMode
			}
		})
	_, offboard := ros.NewService(n, prefix+"set_offboard_mode", a.switched(&a.state.Offboard))
	_, arming := ros.NewService(n, prefix+"set_arming_state", a.switched(&a.state.Armed))
	_, rates := ros.NewSubscription(n, prefix+"actuator_command/twist", sensorQoS(),
		func(m *geometrymsgs.TwistStamped, _ ros.Info) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.rates = *m
		})
	_, thrust := ros.NewSubscription(n, prefix+"actuator_command/thrust", sensorQoS(),
		func(m *as2msgs.Thrust, _ ros.Info) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.commands = append(a.commands, bridge.FromThrustAndRates(m, &a.rates, mass))
		})
	return a, cmp.Or(mode, offboard, arming, rates, thrust)
}

// switched answers a service that switches something; what is so already is refused.
func (a *Aerostack2) switched(on *bool) func(*stdsrvs.SetBoolRequest, *stdsrvs.SetBoolResponse) {
	return func(q *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
		a.mu.Lock()
		defer a.mu.Unlock()
		r.Success, *on = *on != q.Data, q.Data
	}
}

// Set changes what it says of itself, and whether it has no mode of body rates.
func (a *Aerostack2) Set(state int8, noRates bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.Status.State, a.noRates = state, noRates
}

// Follows reports whether it follows commands.
func (a *Aerostack2) Follows() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Armed && a.state.Offboard && a.state.CurrentControlMode.ControlMode == as2msgs.ControlModeAcro
}

// Say has it report its state and its place.
func (a *Aerostack2) Say() error {
	err := a.place.say()
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(err, a.info.Publish(&a.state))
}

// Take returns the commands since the last call.
func (a *Aerostack2) Take() []bridge.Command {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.commands
	a.commands = nil
	return c
}

// MRS is the hardware API of the MRS UAV system, with a vehicle in the air.
type MRS struct {
	place  place
	status *ros.Publisher[mrsmsgs.HwApiStatus]
	able   *ros.Publisher[mrsmsgs.HwApiCapabilities]

	mu       sync.Mutex
	state    mrsmsgs.HwApiStatus
	rates    bool
	commands []mrsmsgs.HwApiAttitudeRateCmd
}

// NewMRS has all names begin with prefix. It takes body rates.
func NewMRS(n *ros.Node, prefix string) (*MRS, error) {
	m := &MRS{state: mrsmsgs.HwApiStatus{Connected: true, Armed: true, Mode: "HOLD"}, rates: true}
	var err error
	if m.place, err = newPlace(n, prefix); err != nil {
		return nil, err
	}
	prefix += "hw_api/"
	if m.status, err = ros.NewPublisher[mrsmsgs.HwApiStatus](n, prefix+"status", ros.DefaultQoS()); err != nil {
		return nil, err
	}
	if m.able, err = ros.NewPublisher[mrsmsgs.HwApiCapabilities](n, prefix+"capabilities",
		ros.DefaultQoS()); err != nil {
		return nil, err
	}
	_, offboard := ros.NewService(n, prefix+"offboard", func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		m.mu.Lock()
		defer m.mu.Unlock()
		r.Success, m.state.Offboard = true, true
	})
	_, arming := ros.NewService(n, prefix+"arming", func(q *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
		m.mu.Lock()
		defer m.mu.Unlock()
		r.Success, m.state.Armed = true, q.Data
	})
	_, commands := ros.NewSubscription(n, prefix+"attitude_rate_cmd", sensorQoS(),
		func(c *mrsmsgs.HwApiAttitudeRateCmd, _ ros.Info) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.commands = append(m.commands, *c)
		})
	return m, cmp.Or(offboard, arming, commands)
}

// TakesRates says whether it does from now on.
func (m *MRS) TakesRates(rates bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rates = rates
}

// Follows reports whether it follows commands.
func (m *MRS) Follows() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Armed && m.state.Offboard
}

// Say has it report its state, its capabilities and its place.
func (m *MRS) Say() error {
	err := m.place.say()
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(err, m.status.Publish(&m.state),
		m.able.Publish(&mrsmsgs.HwApiCapabilities{ApiName: "fake", AcceptsAttitudeRateCmd: m.rates}))
}

// Take returns the commands since the last call.
func (m *MRS) Take() []mrsmsgs.HwApiAttitudeRateCmd {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.commands
	m.commands = nil
	return c
}
