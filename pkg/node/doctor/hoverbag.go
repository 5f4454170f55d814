package doctor

import (
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/bag"
)

// HoverOfBag reads a hover as it was heard: times of arrival are those of the recording. Of the commands those count
// that the autopilot followed.
func HoverOfBag(path string, p *controller.Params) (*preflight.Hover, error) {
	r, err := bag.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	state, stateType := p.StateTopic()
	command, commandType := p.CommandTopic()
	pose, err := chosen(r, "poses", state, stateType,
		[]string{bridge.TypePoseStamped, bridge.TypeOdometry, bridge.TypeVehicleOdometry, bridge.TypeNamedPoseArray,
			bridge.TypeRigidBodies})
	if err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	sent, err := chosen(r, "commands", command, commandType,
		[]string{bridge.TypeThrustRates, bridge.TypeAttitudeTarget, bridge.TypeVehicleRatesSetpoint})
	if err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	poses, err := bridge.NewPoseDecoder(pose.Name, pose.Type, p.PoseOptions())
	if err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	commands, err := bridge.NewCommandDecoder(sent.Name, sent.Type, p.Throttle)
	if err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	o := flightlog.DefaultOptions()
	o.BatteryVoltage = p.Voltage
	autopilot, err := flightlog.NewAutopilot(sent, r.Topics(), o)
	if err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	h, names := &preflight.Hover{}, []string{pose.Name, sent.Name}
	for _, t := range autopilot.Topics() {
		names = append(names, t.Name)
	}
	for m, err := range r.Messages(names...) {
		if err != nil {
			return nil, err
		}
		if err := receive(h, m, pose.Name, sent.Name, autopilot, poses, commands); err != nil {
			return nil, fmt.Errorf("bag %s: %w", path, err)
		}
	}
	return h, nil
}

// receive takes one message of a bag.
func receive(h *preflight.Hover, m *bag.Message, pose, sent string, autopilot *flightlog.Autopilot,
	poses *bridge.PoseDecoder, commands *bridge.CommandDecoder) error {
	arrival := float64(m.LogTime) / 1e9
	autopilot.AddMessage(m)
	if m.Topic == sent {
		commands.SetVoltage(autopilot.Volts())
		c, err := commands.Decode(m.Data)
		if err == nil && autopilot.Takes() {
			h.Commands = append(h.Commands, preflight.Commanded{Arrival: arrival, Thrust: c.Command.Thrust,
				Rates: c.Command.Rates})
		}
		return err
	}
	if m.Topic != pose {
		return nil
	}
	x, found, err := poses.Decode(m.Data)
	if err == nil && found {
		h.Poses = append(h.Poses, preflight.Sample{Stamp: float64(x.Stamp) / 1e9, Arrival: arrival, P: x.State.P,
			Q: x.State.Q, V: x.State.V, Moves: x.HasVelocity})
	}
	return err
}

// chosen is the topic that is named as wanted, whatever namespace is before it, or the only one of the type, or of
// any of the types.
func chosen(r *bag.Reader, what, wanted, typeName string, types []string) (bag.Topic, error) {
	var named, alike, all []bag.Topic
	for _, t := range r.Topics() {
		switch {
		case t.Type == typeName && strings.HasSuffix(t.Name, "/"+strings.TrimPrefix(wanted, "/")):
			named = append(named, t)
		case t.Type == typeName:
			alike = append(alike, t)
		case slices.Contains(types, t.Type):
			all = append(all, t)
		}
	}
	for _, list := range [][]bag.Topic{named, alike, all} {
		if len(list) == 1 {
			return list[0], nil
		}
		if len(list) > 1 {
			var names []string
			for _, t := range list {
				names = append(names, t.Name+" ("+t.Type+")")
			}
			return bag.Topic{}, fmt.Errorf("several topics with %s: %s; "+
				"-p state_source:=… and -p command_interface:=… say which", what, strings.Join(names, ", "))
		}
	}
	return bag.Topic{}, fmt.Errorf("no topic with %s in it, expected one of type %s", what,
		strings.Join(append([]string{typeName}, types...), ", "))
}
