package autopilottest

import (
	"sync"

	"vnd/msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// ArmingRefused is what the bridge answers where an operator arms the board.
const ArmingRefused = "arming is refused: the pilot arms, and gives over by the switch of MSP OVERRIDE"

// Betaflight is betaflight_bridge with a board behind it.
type Betaflight struct {
	place  place
	states *ros.Publisher[mavrosmsgs.State]

	mu       sync.Mutex
	state    mavrosmsgs.State
	operator bool // arms, and has not given over
	mute     bool
	commands []msgs.ThrustRates
}

// NewBetaflight has all names but the topic of commands begin with prefix. The board is disarmed, and has no operator.
func NewBetaflight(n *ros.Node, prefix, commands string) (*Betaflight, error) {
	b := &Betaflight{state: mavrosmsgs.State{Connected: true, Mode: "disarmed"}}
	var err error
	if b.place, err = newPlace(n, prefix); err != nil {
		return nil, err
	}
	if b.states, err = ros.NewPublisher[mavrosmsgs.State](n, prefix+"betaflight_bridge/state",
		ros.DefaultQoS()); err != nil {
		return nil, err
	}
	if _, err = ros.NewService(n, prefix+"betaflight_bridge/arm",
		func(q *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.operator {
				r.Message = ArmingRefused
				return
			}
			r.Success, b.state.Armed, b.state.Guided = true, q.Data, q.Data
		}); err != nil {
		return nil, err
	}
	_, err = ros.NewSubscription(n, commands, node.CommandQoS(), func(m *msgs.ThrustRates, _ ros.Info) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.commands = append(b.commands, *m)
	})
	return b, err
}

// Operator has an operator arm the board and fly it, or give over by the switch of MSP OVERRIDE.
func (b *Betaflight) Operator(flies bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.operator, b.state.Armed, b.state.Guided, b.state.Mode = flies, true, !flies, "follows commands"
	if flies {
		b.state.Mode = "the pilot flies: MSP OVERRIDE is off"
	}
}

// Mute has its state end, or begin again.
func (b *Betaflight) Mute(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mute = on
}

// State is that of the bridge.
func (b *Betaflight) State() mavrosmsgs.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// Say has it report its state and its place.
func (b *Betaflight) Say() error {
	err := b.place.say()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil || b.mute {
		return err
	}
	return b.states.Publish(&b.state)
}

// Take returns the commands since the last call.
func (b *Betaflight) Take() []msgs.ThrustRates {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.commands
	b.commands = nil
	return c
}
