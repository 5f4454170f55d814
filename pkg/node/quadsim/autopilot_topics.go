package quadsim

import (
	"context"
	"fmt"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
)

// autopilotTopics are those of an autopilot behind mavros, or of PX4. Its methods are of the vehicle's goroutine.
type autopilotTopics interface {
	// estimate tells the autopilot's own of a time, at a stamp of the node's clock, and reports whether it was due.
	estimate(now float64, stamp int64, s quad.State) bool
	// look tells of the autopilot and its battery, where that is due.
	look(now float64, stamp int64)
	// state is the autopilot's.
	state() *autopilot
}

// Rates of what they say, Hz.
const (
	estimateRate = 100
	stateRate    = 5
	batteryRate  = 2
)

// every is a pace in simulated time.
type every struct{ next float64 }

// due reports whether something is due at a rate, or nearly so.
func (e *every) due(now, rate float64) bool {
	period := 1 / rate
	if early := e.next - now; early > period/4 && early < 2*period { // more: time was set back
		return false
	}
	e.next += period
	if e.next < now || e.next > now+2*period {
		e.next = now + period
	}
	return true
}

// newAutopilotTopics makes the topics and services of the command interface; nil for vnd.
func (n *simulator) newAutopilotTopics(ctx context.Context, p *Params) (autopilotTopics, error) {
	switch p.Interface {
	case bridge.Mavros:
		return newMavros(ctx, n)
	case bridge.PX4:
		return newPX4(n)
	}
	return nil, nil
}

// reliable is the QoS of what an autopilot says.
func reliable() ros.QoS { return ros.QoS{Reliability: dds.Reliable, Depth: 10} }

// mavros is mavros with PX4 behind it.
type mavros struct {
	n *simulator
	autopilot
	odom           *ros.Publisher[navmsgs.Odometry]
	states         *ros.Publisher[mavrosmsgs.State]
	batteries      *ros.Publisher[sensormsgs.BatteryState]
	m              navmsgs.Odometry
	est, st, power every
	published      mavrosmsgs.State
}

func newMavros(ctx context.Context, n *simulator) (autopilotTopics, error) {
	s := &mavros{n: n, autopilot: autopilot{timeout: n.params.Autopilot.Timeout}}
	var err error
	if s.odom, err = ros.NewPublisher[navmsgs.Odometry](n.Node, "mavros/local_position/odom",
		node.MocapQoS()); err != nil {
		return nil, err
	}
	if s.states, err = ros.NewPublisher[mavrosmsgs.State](n.Node, "mavros/state", reliable()); err != nil {
		return nil, err
	}
	if s.batteries, err = ros.NewPublisher[sensormsgs.BatteryState](n.Node, "mavros/battery",
		node.MocapQoS()); err != nil {
		return nil, err
	}
	if _, err = ros.NewService(n.Node, "mavros/cmd/arming",
		func(q *mavrosmsgs.CommandBoolRequest, r *mavrosmsgs.CommandBoolResponse) {
			r.Success, _ = n.order(ctx, func() error { return s.arm(q.Value, n.vehicle.Grounded()) }, "")
		}); err != nil {
		return nil, err
	}
	if _, err = ros.NewService(n.Node, "mavros/cmd/command",
		func(q *mavrosmsgs.CommandLongRequest, r *mavrosmsgs.CommandLongResponse) {
			if !bridge.Kills(uint32(q.Command), q.Param1, q.Param2) {
				n.Log().Warn().Msgf("MAVLink command %d is not known", q.Command)
				return
			}
			r.Success, _ = n.order(ctx, func() error { s.kill(n.vehicle); return nil }, "")
		}); err != nil {
		return nil, err
	}
	_, err = ros.NewService(n.Node, "mavros/set_mode",
		func(q *mavrosmsgs.SetModeRequest, r *mavrosmsgs.SetModeResponse) {
			mode := q.CustomMode
			r.ModeSent = true // to the autopilot, which may refuse it
			if ok, why := n.order(ctx, func() error { return s.enter(mode, n.vehicle.Time()) }, ""); !ok {
				n.Log().Warn().Msg(why)
			}
		})
	return s, err
}

func (s *mavros) state() *autopilot { return &s.autopilot }

func (s *mavros) estimate(now float64, stamp int64, x quad.State) bool {
	if !s.est.due(now, estimateRate) {
		return false
	}
	bridge.PutOdometry(&s.m, stamp, "map", s.n.params.BodyFrame, x)
	s.n.warn(s.odom.Publish(&s.m))
	return true
}

func (s *mavros) look(now float64, stamp int64) {
	m := mavrosmsgs.State{Connected: true, Armed: s.armed, Guided: s.offboard, Mode: s.said()}
	if changed := m != s.published; s.st.due(now, stateRate) || changed {
		s.published = m
		m.Header.Stamp = bridge.Time(stamp)
		s.n.warn(s.states.Publish(&m))
	}
	if s.power.due(now, batteryRate) {
		truth := s.n.vehicle.Truth()
		s.n.warn(s.batteries.Publish(batteryState(&truth, stamp)))
	}
}

// px4 is PX4 behind its XRCE agent. Its clock is that of the simulation, from 0.
type px4 struct {
	n *simulator
	autopilot
	odom           *ros.Publisher[px4msgs.VehicleOdometry]
	states         *ros.Publisher[px4msgs.VehicleStatus]
	batteries      *ros.Publisher[px4msgs.BatteryStatus]
	m              px4msgs.VehicleOdometry
	est, st, power every
	published      string
}

func newPX4(n *simulator) (autopilotTopics, error) {
	const alive = 1.0 // COM_OF_LOSS_T
	s := &px4{n: n, autopilot: autopilot{timeout: alive, heartbeat: true}}
	var err error
	if s.odom, err = ros.NewPublisher[px4msgs.VehicleOdometry](n.Node, "fmu/out/vehicle_odometry",
		node.MocapQoS()); err != nil {
		return nil, err
	}
	version := fmt.Sprintf("fmu/out/vehicle_status_v%d", px4msgs.VehicleStatusMessageVersion)
	if s.states, err = ros.NewPublisher[px4msgs.VehicleStatus](n.Node, version, node.MocapQoS()); err != nil {
		return nil, err
	}
	if s.batteries, err = ros.NewPublisher[px4msgs.BatteryStatus](n.Node, "fmu/out/battery_status",
		node.MocapQoS()); err != nil {
		return nil, err
	}
	if _, err = ros.NewSubscription(n.Node, "fmu/in/offboard_control_mode", node.MocapQoS(),
		func(m *px4msgs.OffboardControlMode, _ ros.Info) {
			ours := m.BodyRate && !m.Position && !m.Velocity && !m.Acceleration && !m.Attitude
			n.later(func() {
				if ours {
					s.beat(n.vehicle.Time())
				}
			})
		}); err != nil {
		return nil, err
	}
	_, err = ros.NewSubscription(n.Node, "fmu/in/vehicle_command", node.CommandQoS(),
		func(m *px4msgs.VehicleCommand, _ ros.Info) {
			c := *m
			n.later(func() { s.heed(&c) })
		})
	return s, err
}

// heed carries out a command; what is refused is logged.
func (s *px4) heed(m *px4msgs.VehicleCommand) {
	arm, disarm, offboard, known := bridge.FromVehicleCommand(m)
	err := error(nil)
	switch {
	case bridge.Kills(m.Command, m.Param1, m.Param2):
		s.kill(s.n.vehicle)
	case m.Command == uint32(px4msgs.VehicleCommandVehicleCmdNavTakeoff):
		err = s.enter(modeTakeoff, s.n.vehicle.Time())
	case !known:
		err = fmt.Errorf("vehicle command %d is not known", m.Command)
	case offboard:
		err = s.follow(s.n.vehicle.Time())
	case arm || disarm:
		err = s.arm(arm, s.n.vehicle.Grounded())
	default:
		err = s.enter(autoMode(m), s.n.vehicle.Time())
	}
	s.n.warn(err)
}

// autoMode is the mode that VEHICLE_CMD_DO_SET_MODE asks for, as PX4 numbers them: main mode 4, and the mode under
// that.
func autoMode(m *px4msgs.VehicleCommand) string {
	const auto, takeoff, loiter = 4, 2, 3
	switch {
	case m.Param2 == auto && m.Param3 == takeoff:
		return modeTakeoff
	case m.Param2 == auto && m.Param3 == loiter:
		return modeLoiter
	}
	return fmt.Sprintf("%g.%g", m.Param2, m.Param3)
}

func (s *px4) state() *autopilot { return &s.autopilot }

// own is the autopilot's clock.
func (s *px4) own(stamp int64) int64 { return stamp - s.n.epoch + 1e9 }

func (s *px4) estimate(now float64, stamp int64, x quad.State) bool {
	if !s.est.due(now, estimateRate) {
		return false
	}
	bridge.PutVehicleOdometry(&s.m, s.own(stamp), x, s.n.vehicle.Truth().Rates)
	s.n.warn(s.odom.Publish(&s.m))
	return true
}

// navStates are PX4's of the modes.
var navStates = map[string]uint8{
	modeOffboard: px4msgs.VehicleStatusNavigationStateOffboard,
	modePosition: px4msgs.VehicleStatusNavigationStatePosctl,
	modeManual:   px4msgs.VehicleStatusNavigationStateManual, modeLand: px4msgs.VehicleStatusNavigationStateAutoLand,
	modeTakeoff: px4msgs.VehicleStatusNavigationStateAutoTakeoff,
	modeLoiter:  px4msgs.VehicleStatusNavigationStateAutoLoiter,
}

func (s *px4) look(now float64, stamp int64) {
	us := uint64(max(s.own(stamp), 0)) / 1000
	if published := fmt.Sprint(s.armed, s.said()); s.st.due(now, stateRate) || published != s.published {
		s.published = published
		m := px4msgs.VehicleStatus{Timestamp: us, ArmingState: px4msgs.VehicleStatusArmingStateDisarmed,
			NavState:              navStates[s.said()],
			NavStateUserIntention: navStates[s.said()], VehicleType: px4msgs.VehicleStatusVehicleTypeRotaryWing}
		if s.armed {
			m.ArmingState = px4msgs.VehicleStatusArmingStateArmed
		}
		s.n.warn(s.states.Publish(&m))
	}
	if s.power.due(now, batteryRate) {
		s.n.warn(s.batteries.Publish(&px4msgs.BatteryStatus{Timestamp: us, Connected: true,
			VoltageV:  float32(s.n.vehicle.Truth().Voltage),
			Remaining: float32(s.n.vehicle.Truth().Charge)}))
	}
}

// later has f done by the vehicle's goroutine, without an answer.
func (n *simulator) later(f func()) {
	select {
	case n.orders <- f:
	case <-n.done:
	}
}
