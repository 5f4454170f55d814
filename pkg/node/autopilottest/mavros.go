// Package autopilottest has the ROS sides of autopilots for tests: what they answer and refuse, and no physics. The
// vehicle stays where it is put.
package autopilottest

import (
	"sync"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
)

type parameterValue = rclinterfaces.ParameterValue

// Integer and Double are values of parameters.
func Integer(n int64) parameterValue {
	return parameterValue{Type: rclinterfaces.ParameterTypeParameterInteger, IntegerValue: n}
}

// Double is a parameter's value.
func Double(x float64) parameterValue {
	return parameterValue{Type: rclinterfaces.ParameterTypeParameterDouble, DoubleValue: x}
}

// sensorQoS is rclcpp's SensorDataQoS.
func sensorQoS() ros.QoS { return ros.QoS{Reliability: dds.BestEffort, Depth: 5} }

// parameters are those of a node that answers for them.
type parameters struct {
	mu     sync.Mutex
	values map[string]parameterValue
}

// serveParameters answers as rclcpp does: not set for what it does not have.
func serveParameters(n *ros.Node, of string) (*parameters, error) {
	p := &parameters{values: map[string]parameterValue{}}
	_, err := ros.NewService(n, of+"/get_parameters",
		func(q *rclinterfaces.GetParametersRequest, r *rclinterfaces.GetParametersResponse) {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, name := range q.Names {
				r.Values = append(r.Values, p.values[name])
			}
		})
	return p, err
}

// Set sets a parameter; the zero value takes it away.
func (p *parameters) Set(name string, v parameterValue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.values[name] = v
}

// Spins sets the parameters by which throttle drives motors.
func (p *parameters) Spins(s bridge.Spin) {
	p.Set(bridge.SpinMin, Double(s.Min))
	p.Set(bridge.SpinMax, Double(s.Max))
	p.Set(bridge.ThrustExpo, Double(s.Expo))
}

// place is where a vehicle is, for whoever listens to mocap/pose.
type place struct {
	pub *ros.Publisher[geometrymsgs.PoseStamped]
	m   geometrymsgs.PoseStamped
}

func newPlace(n *ros.Node, prefix string) (p place, err error) {
	p.pub, err = ros.NewPublisher[geometrymsgs.PoseStamped](n, prefix+"mocap/pose", sensorQoS())
	return p, err
}

// say has the vehicle hover a metre above the origin; no tracker sends a pose twice.
func (p *place) say() error {
	now := time.Now().UnixNano()
	at := so3.Vec3{Y: 1e-9 * float64(now%1e5), Z: 1}
	bridge.PutPoseStamped(&p.m, now, "map", quad.State{P: at, Q: so3.Identity()})
	return p.pub.Publish(&p.m)
}

// Mavros is mavros with ArduPilot Copter behind it, as its version 2.12 has topics and services.
type Mavros struct {
	Firmware *parameters // of the node mavros/param
	Setpoint *parameters // of the node mavros/setpoint_raw

	place  place
	states *ros.Publisher[mavrosmsgs.State]

	mu        sync.Mutex
	mode      string
	disarmed  bool
	setpoints []mavrosmsgs.AttitudeTarget
}

// NewMavros has all names begin with prefix. The vehicle is armed, in LOITER.
func NewMavros(n *ros.Node, prefix string) (*Mavros, error) {
	m := &Mavros{mode: mavrosmsgs.StateModeApmCopterLoiter}
	var err error
	if m.Firmware, err = serveParameters(n, prefix+"mavros/param"); err != nil {
		return nil, err
	}
	if m.Setpoint, err = serveParameters(n, prefix+"mavros/setpoint_raw"); err != nil {
		return nil, err
	}
	if m.place, err = newPlace(n, prefix); err != nil {
		return nil, err
	}
	if m.states, err = ros.NewPublisher[mavrosmsgs.State](n, prefix+"mavros/state", ros.DefaultQoS()); err != nil {
		return nil, err
	}
	if _, err = ros.NewService(n, prefix+"mavros/set_mode",
		func(q *mavrosmsgs.SetModeRequest, r *mavrosmsgs.SetModeResponse) {
			switch q.CustomMode {
			case mavrosmsgs.StateModeApmCopterGuided, mavrosmsgs.StateModeApmCopterGuidedNogps,
				mavrosmsgs.StateModeApmCopterLand, mavrosmsgs.StateModeApmCopterLoiter:
				r.ModeSent = true
				m.Enter(q.CustomMode)
			}
		}); err != nil {
		return nil, err
	}
	if _, err = ros.NewService(n, prefix+"mavros/cmd/arming",
		func(_ *mavrosmsgs.CommandBoolRequest, r *mavrosmsgs.CommandBoolResponse) { r.Result = 1 }); err != nil {
		return nil, err // it flies
	}
	const armDisarm, force = 400, 21196 // MAV_CMD_COMPONENT_ARM_DISARM, and what it takes in the air
	if _, err = ros.NewService(n, prefix+"mavros/cmd/command",
		func(q *mavrosmsgs.CommandLongRequest, r *mavrosmsgs.CommandLongResponse) {
			m.mu.Lock()
			defer m.mu.Unlock()
			r.Success = q.Command == armDisarm && q.Param1 == 0 && q.Param2 == force
			m.disarmed = m.disarmed || r.Success
		}); err != nil {
		return nil, err
	}
	_, err = ros.NewSubscription(n, prefix+"mavros/setpoint_raw/attitude", sensorQoS(),
		func(s *mavrosmsgs.AttitudeTarget, _ ros.Info) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.setpoints = append(m.setpoints, *s)
		})
	return m, err
}

// Say has it report its state and its place.
func (m *Mavros) Say() error {
	if err := m.place.say(); err != nil {
		return err
	}
	return m.states.Publish(&mavrosmsgs.State{Connected: true, Armed: m.Armed(), Mode: m.Mode()})
}

// Armed reports whether the motors may turn.
func (m *Mavros) Armed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.disarmed
}

// Mode is the one that it flies in.
func (m *Mavros) Mode() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mode
}

// Enter changes the mode, as the transmitter's switch does.
func (m *Mavros) Enter(mode string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mode = mode
}

// Take returns the setpoints since the last call.
func (m *Mavros) Take() []mavrosmsgs.AttitudeTarget {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.setpoints
	m.setpoints = nil
	return s
}
