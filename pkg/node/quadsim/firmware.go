package quadsim

import (
	"context"
	"errors"
	"fmt"

	"vnd/pkg/bridge"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim"
)

// board has firmware, which commands fly, or what is at its serial line.
type board interface {
	sim.Firmware
	Address() string // of the serial line, HOST:PORT
}

// newBoard has the firmware of an autopilot, and how its throttle becomes thrust.
func newBoard(w sim.World, a *Autopilot) (board, bridge.Throttle, error) {
	if a.Firmware == bridge.Betaflight {
		b, err := NewBetaflight(w, a.Settings)
		if err != nil {
			return nil, bridge.Throttle{}, err
		}
		if a.Serial {
			b.Period = 0
		}
		return b, sticksOf(&w, w.RateLoop.MaxRate).Thrust.Throttle, nil
	}
	start := NewArdupilot
	if a.Firmware == bridge.PX4 {
		start = NewPX4
	}
	b, err := start(w, a.Settings)
	if err != nil {
		return nil, bridge.Throttle{}, err
	}
	if a.Serial {
		b.Period = 0
	}
	return b, b.Throttle(), nil
}

// fit gives the vehicle its firmware, where it has one.
func (n *simulator) fit(a *Autopilot) error {
	if a.Firmware == "" {
		return nil
	}
	if a.Serial && !n.vehicle.Grounded() {
		return fmt.Errorf("parameter autopilot.serial: a board starts disarmed, and start is at %g m: expected on the "+
			"ground", n.params.Start[2])
	}
	b, t, err := newBoard(n.vehicle.World(), a)
	if err != nil {
		return err
	}
	if err := n.vehicle.Fit(b); err != nil {
		return errors.Join(err, b.Close())
	}
	n.firmware = b
	if a.Serial {
		least := ""
		if t.Least > 0 {
			least = fmt.Sprintf(", least_thrust %.4f", t.Least)
		}
		network := "tcp"
		if a.Firmware == bridge.PX4 {
			network = "udp"
		}
		n.Log().Info().Msgf("the firmware's serial line is at %s:%s; of its airframe: hover_throttle %.4f, "+
			"thrust_curve %.2f%s", network, b.Address(), t.Hover, t.Curve, least)
	}
	return nil
}

// Run runs the node until ctx is done, and returns when its firmware has ended too.
func Run(ctx context.Context, o ros.Options) error {
	var s *simulator
	err := ros.Run(ctx, o, func(ctx context.Context, c *ros.Context) (err error) {
		s, err = newSimulator(ctx, c)
		return err
	})
	if s != nil {
		<-s.ended
	}
	return err
}

// unfit ends the firmware.
func (n *simulator) unfit() {
	defer close(n.ended)
	if n.firmware != nil {
		n.warn(n.firmware.Close())
	}
}
