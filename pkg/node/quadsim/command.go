package quadsim

import (
	"fmt"
	"time"

	actuatormsgs "vnd/msgs/actuator_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/motors"
	"vnd/pkg/node"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim/closedloop"
)

// command is one that came: thrust and body rates, or of each motor.
type command struct {
	bridge.Command
	motors motors.Command
	direct bool // motors count
}

// obey has the vehicle follow it.
func (c *command) obey(v *closedloop.Vehicle) {
	if c.direct {
		v.Motors(c.motors)
	} else {
		v.Command(c.Command.Command)
	}
}

// listen subscribes to the commands of the interface.
func (n *simulator) listen(p *Params) error {
	topic, typeName := p.commandTopic()
	full, err := n.ResolveTopic(topic)
	if err != nil {
		return err
	}
	read, err := reader(full, typeName, p)
	if err != nil {
		return err
	}
	_, err = ros.NewRawSubscription(n.Node, topic, typeName, node.CommandQoS(), func(data []byte, _ ros.Info) {
		c, err := read(data)
		if err != nil {
			if n.refused.Add(1) == 1 {
				n.Log().Error().Msg(err.Error())
			}
			return
		}
		select {
		case n.commands <- c:
		default:
			n.lost.Add(1)
		}
	})
	return err
}

// reader reads the commands of a topic.
func reader(topic, typeName string, p *Params) (func(data []byte) (command, error), error) {
	if typeName == bridge.TypeActuators {
		m := new(actuatormsgs.Actuators)
		return func(data []byte) (c command, err error) {
			if err = cdr.Unmarshal(data, m); err == nil {
				c.motors, err = bridge.FromActuators(m)
			}
			if err != nil {
				return c, fmt.Errorf("topic %s: %w", topic, err)
			}
			c.Stamp, c.direct = bridge.Nanoseconds(m.Header.Stamp), true
			return c, nil
		}, nil
	}
	d, err := bridge.NewCommandDecoder(topic, typeName, p.Throttle)
	if err != nil {
		return nil, err
	}
	return func(data []byte) (command, error) {
		c, err := d.Decode(data)
		if err == nil {
			err = plausible(topic, &c)
		}
		return command{Command: c}, err
	}, nil
}

// mostThrust is beyond that of any vehicle that is published, m/s²: a greater one is of another unit.
const mostThrust = 200.0

// plausible refuses what is not in our units. What is not finite the vehicle does not take.
func plausible(topic string, c *bridge.Command) error {
	if w := c.Command.Rates.Norm(); w > bridge.FastestTurn {
		return fmt.Errorf("topic %s: body rates of %.4g rad/s in all, expected at most %d: are these degrees per "+
			"second?", topic, w, bridge.FastestTurn)
	}
	if c.Command.Thrust > mostThrust {
		return fmt.Errorf("topic %s: a thrust of %.4g m/s², expected at most %g, mass-normalised: hover is 9.81", topic,
			c.Command.Thrust, mostThrust)
	}
	return nil
}

func (n *simulator) command(c command) {
	if c.Stamp == 0 { // PX4's is of another clock
		c.Stamp = n.newest
	}
	if n.autopilot == nil || n.autopilot.state().setpoint(n.vehicle.Time()) {
		c.obey(n.vehicle)
	}
	n.latency.Observe(time.Duration(n.now() - c.Stamp))
	n.pace.Came(c.Stamp)
}
