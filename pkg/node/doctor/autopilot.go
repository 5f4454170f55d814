package doctor

import (
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/ros"
)

// autopilot is what that of mavros or PX4 says of itself: whether it follows commands, and its voltage.
type autopilot struct {
	topics       []named // its state, then its battery; of version 0, and none where nobody says
	makesUp      bool    // throttle for the battery
	bridged      bool    // its state is that of betaflight_bridge
	subscribed   map[string]bool
	notFollowing bool    // it does not follow
	volts        float64 // smoothed; 0: not known
	battery      bridge.Battery
}

func (e *Examiner) nameAutopilot(p *controller.Params) error {
	e.autopilot.subscribed, e.autopilot.makesUp = map[string]bool{},
		p.Voltage > 0 && p.CommandInterface != bridge.Betaflight
	mavros := []string{bridge.TypeMavrosState, bridge.TypeBatteryState}
	e.autopilot.bridged = p.CommandInterface == bridge.Betaflight
	types := map[string][]string{bridge.Mavros: mavros, bridge.Ardupilot: mavros, bridge.Betaflight: mavros[:1],
		bridge.PX4: {bridge.TypeVehicleStatus, bridge.TypeBatteryStatus}}
	for i, typeName := range types[p.CommandInterface] {
		full, err := e.ResolveTopic(p.AutopilotTopics()[i])
		if err != nil {
			return err
		}
		e.autopilot.topics = append(e.autopilot.topics, named{full, typeName})
	}
	return nil
}

// subscribeAutopilot listens to it, in whichever version of its messages there is.
func (e *Examiner) subscribeAutopilot() {
	g := e.Context().Graph()
	for name := range g.Topics() {
		for i, t := range e.autopilot.topics {
			_, ok := bridge.Version(name, t.topic)
			if !ok || len(g.Publishers(name)) == 0 || e.autopilot.subscribed[name] {
				continue
			}
			e.autopilot.subscribed[name] = true
			if i == 0 {
				e.mu.Lock()
				e.autopilot.notFollowing = true // until it says otherwise, within a second
				e.mu.Unlock()
			}
			_, err := ros.NewRawSubscription(e.Node, name, t.typeName, node.MocapQoS(), func(data []byte, _ ros.Info) {
				e.note(name, e.readAutopilot(t.typeName, data))
			})
			e.note(name, err)
		}
	}
}

// readAutopilot takes a message of the autopilot's.
func (e *Examiner) readAutopilot(typeName string, data []byte) error {
	if typeName == bridge.TypeMavrosState || typeName == bridge.TypeVehicleStatus {
		said, err := bridge.ReadAutopilot(typeName, data)
		if e.autopilot.bridged {
			said, err = bridge.ReadBridgeState(data)
		}
		if err == nil {
			e.mu.Lock()
			e.autopilot.notFollowing = !said.Follows()
			e.mu.Unlock()
		}
		return err
	}
	volts, err := bridge.ReadVoltage(typeName, data)
	if err == nil {
		e.mu.Lock()
		e.autopilot.volts = e.autopilot.battery.Measured(volts, int64(e.Now()))
		e.mu.Unlock()
	}
	return err
}

// takes reports whether a command that comes now is followed, and the voltage that it is made for.
func (e *Examiner) takes() (volts float64, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := &e.autopilot
	if !a.makesUp || len(a.topics) == 0 {
		return 0, !a.notFollowing
	}
	return a.volts, !a.notFollowing && a.volts > 0
}
