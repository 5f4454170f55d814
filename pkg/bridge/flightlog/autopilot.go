package flightlog

import (
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/bridge"
	"vnd/pkg/ros2/bag"
)

// everyCommand is the value of Config.AutopilotTopic that takes every command as followed.
const everyCommand = "none"

// Autopilot is what that of mavros or PX4 says of itself along a bag: whether it follows commands, and its voltage.
type Autopilot struct {
	state, power bag.Topic // "" for none
	notFollowing bool      // it said last that it does not follow
	volts        float64   // smoothed, V; 0 is not known
	battery      bridge.Battery
	unfollowed   int     // commands
	unpowered    int     // commands before the voltage was known that they were made for
	wrong        []error // the first message of each topic that could not be read
}

// NewAutopilot finds, among all topics of a bag, those of the autopilot behind commands; there are none for commands of
// another type than those of mavros and PX4. The error names the parameter at fault.
func NewAutopilot(commands bag.Topic, all []bag.Topic, o Options) (*Autopilot, error) {
	a := &Autopilot{}
	stack := bridge.CommandTypes()[commands.Type]
	if stack != bridge.Mavros && stack != bridge.PX4 {
		return a, nil
	}
	var err error
	if state := o.stateRole(stack); o.AutopilotTopic != everyCommand && state.wanted(all) {
		if a.state, err = state.choose(all); err != nil {
			return nil, err
		}
		a.notFollowing = true // until it says otherwise, within a second
	}
	if o.BatteryVoltage > 0 {
		a.power, err = o.powerRole(stack).choose(all)
	}
	return a, err
}

// Takes reports whether a command that comes now was followed, and the voltage is known that it was made for. It counts
// those of which that is not so.
func (a *Autopilot) Takes() bool {
	switch {
	case a.notFollowing:
		a.unfollowed++
	case a.power.Name != "" && a.volts == 0:
		a.unpowered++
	default:
		return true
	}
	return false
}

// Volts of the battery, smoothed; 0 where throttle makes up for none, or before the first.
func (a *Autopilot) Volts() float64 { return a.volts }

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
	return role{what: "a battery's voltage, for parameter battery_voltage", parameter: "battery_topic",
		named: o.BatteryTopic,
		fits:  func(t bag.Topic) bool { return t.Type == typeName }, ambiguous: func(bag.Topic) bool { return false }}
}

// wanted reports whether a topic of the role is named, or there.
func (r role) wanted(all []bag.Topic) bool {
	return r.named != "" || slices.ContainsFunc(all, func(t bag.Topic) bool { return r.fits(t) && t.Count > 0 })
}

// Topics are those that AddMessage is to be given.
func (a *Autopilot) Topics() (topics []bag.Topic) {
	for _, t := range []bag.Topic{a.state, a.power} {
		if t.Name != "" {
			topics = append(topics, t)
		}
	}
	return topics
}

// AddMessage takes a message, if it is of one of the topics. One that cannot be read says nothing.
func (a *Autopilot) AddMessage(m *bag.Message) {
	var err error
	switch {
	case m.Topic == a.state.Name && m.Type == a.state.Type:
		err = a.addState(m)
	case m.Topic == a.power.Name && m.Type == a.power.Type:
		err = a.addVoltage(m)
	}
	if err != nil && !slices.ContainsFunc(a.wrong,
		func(e error) bool { return strings.HasPrefix(e.Error(), "topic "+m.Topic+":") }) {
		a.wrong = append(a.wrong, fmt.Errorf("topic %s: left out: %w", m.Topic, err))
	}
}

func (a *Autopilot) addState(m *bag.Message) error {
	s, err := bridge.ReadAutopilot(m.Type, m.Data)
	if err == nil { // over a connection that is lost, which mavros reports as not armed, nothing arrives either
		a.notFollowing = !s.Follows()
	}
	return err
}

func (a *Autopilot) addVoltage(m *bag.Message) error {
	volts, err := bridge.ReadVoltage(m.Type, m.Data)
	if err == nil {
		a.volts = a.battery.Measured(volts, m.LogTime)
	}
	return err
}
