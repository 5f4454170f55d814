package assemble

import (
	"fmt"
	"slices"
	"strings"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bag"
	"vnd/pkg/bridge"
	"vnd/pkg/cdr"
)

// everyCommand is the value of Config.AutopilotTopic that takes every command as followed.
const everyCommand = "none"

// autopilot is what that of mavros or PX4 says of itself along a bag: whether it follows commands, and its voltage.
type autopilot struct {
	state, power bag.Topic // "" for none
	aside        bool      // it said last that it does not follow
	volts        float64   // smoothed, V; 0 is not known
	battery      bridge.Battery
	unfollowed   int     // commands
	unpowered    int     // commands before the voltage was known that they were made for
	wrong        []error // the first message of each topic that could not be read
}

// prepareAutopilot finds the topics of the autopilot behind the commands.
func (b *reading) prepareAutopilot() error {
	stack := bridge.CommandTypes()[b.command.Type]
	if stack != bridge.Mavros && stack != bridge.PX4 {
		return nil
	}
	var err error
	all := b.bag.Topics()
	if state := b.options.stateRole(stack); b.options.AutopilotTopic != everyCommand && state.wanted(all) {
		if b.autopilot.state, err = state.choose(all); err != nil {
			return err
		}
		b.autopilot.aside = true // until it says otherwise, within a second
	}
	if b.options.BatteryVoltage == 0 {
		return nil
	}
	b.autopilot.power, err = b.options.powerRole(stack).choose(all)
	return err
}

func (o Options) stateRole(stack string) role {
	typeName := bridge.TypeMavrosState
	if stack == bridge.PX4 {
		typeName = bridge.TypeVehicleStatus
	}
	return role{what: "an autopilot's state", parameter: "autopilot_topic", named: o.AutopilotTopic,
		fits: func(t bag.Topic) bool { return t.Type == typeName }, ambiguous: func(bag.Topic) bool { return false }}
}

func (o Options) powerRole(stack string) role {
	typeName := bridge.TypeBatteryState
	if stack == bridge.PX4 {
		typeName = bridge.TypeBatteryStatus
	}
	return role{what: "a battery's voltage, for parameter battery_voltage", parameter: "battery_topic", named: o.BatteryTopic,
		fits: func(t bag.Topic) bool { return t.Type == typeName }, ambiguous: func(bag.Topic) bool { return false }}
}

// wanted reports whether a topic of the role is named, or there.
func (r role) wanted(all []bag.Topic) bool {
	return r.named != "" || slices.ContainsFunc(all, func(t bag.Topic) bool { return r.fits(t) && t.Count > 0 })
}

func (a *autopilot) wanted() (topics []bag.Topic) {
	for _, t := range []bag.Topic{a.state, a.power} {
		if t.Name != "" {
			topics = append(topics, t)
		}
	}
	return topics
}

// hear takes a message, if it is of one of the topics. One that cannot be read says nothing.
func (a *autopilot) hear(m *bag.Message) {
	var err error
	switch {
	case m.Topic == a.state.Name && m.Type == a.state.Type:
		err = a.hearState(m)
	case m.Topic == a.power.Name && m.Type == a.power.Type:
		err = a.hearPower(m)
	}
	if err != nil && !slices.ContainsFunc(a.wrong, func(e error) bool { return strings.HasPrefix(e.Error(), "topic "+m.Topic+":") }) {
		a.wrong = append(a.wrong, fmt.Errorf("topic %s: left out: %w", m.Topic, err))
	}
}

func (a *autopilot) hearState(m *bag.Message) error {
	var s bridge.Autopilot
	var err error
	if m.Type == bridge.TypeVehicleStatus {
		s, err = bridge.FromVehicleStatus(m.Data)
	} else {
		var state mavrosmsgs.State
		if err = cdr.Unmarshal(m.Data, &state); err == nil {
			s = bridge.FromMavrosState(&state)
		}
	}
	if err == nil { // over a connection that is lost, which mavros tells as not armed, nothing arrives either
		a.aside = !(s.Armed && s.Offboard)
	}
	return err
}

func (a *autopilot) hearPower(m *bag.Message) error {
	var volts float64
	var err error
	if m.Type == bridge.TypeBatteryStatus {
		volts, err = bridge.VoltageOfBatteryStatus(m.Data)
	} else {
		var state sensormsgs.BatteryState
		if err = cdr.Unmarshal(m.Data, &state); err == nil {
			volts = float64(state.Voltage)
		}
	}
	if err == nil {
		a.volts = a.battery.Measured(volts, m.LogTime)
	}
	return err
}
