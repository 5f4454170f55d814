package quadsim

import (
	"context"
	"errors"
	"math"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/bridge/betaflight/sitl"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim"
)

// Settings of the board that the firmware flies, as the firmware has them by default.
const (
	motorIdle = 0.055
	minCheck  = 1050
)

// sticksOf are those of a board in a world's vehicle, which has the world's own map of thrust: thrust goes with the
// square of what drives a motor.
func sticksOf(w *sim.World, limit float64) betaflight.Sticks {
	most := 4 * w.Motor.Thrust / w.Motor.Gain
	hover := math.Sqrt(w.Airframe.Mass * quad.Gravity / most) // output of the motors
	return betaflight.Sticks{Rates: rates.Linear(limit), MinCheck: minCheck, Thrust: betaflight.Thrust{Idle: motorIdle,
		Throttle: bridge.Throttle{Hover: (hover - motorIdle) / (1 - motorIdle), Curve: 1}}}
}

// NewBetaflight is Betaflight's firmware on a board in a world's vehicle, with settings of our own provisioning, from
// where make puts the firmware or VND_BETAFLIGHT says. It follows rates up to the world's rate_loop.max_rate, rad/s.
func NewBetaflight(w sim.World) (*sitl.Board, error) {
	return sitl.NewBoard(sitl.Folder(), sticksOf(&w, w.RateLoop.MaxRate), sitl.Settings(w.RateLoop.MaxRate))
}

// fit gives the vehicle the firmware of that name; "" is none.
func (n *simulator) fit(name string) (err error) {
	if name == "" {
		return nil
	}
	if n.firmware, err = NewBetaflight(n.vehicle.World()); err != nil {
		return err
	}
	if err = n.vehicle.Fit(n.firmware); err != nil {
		err = errors.Join(err, n.firmware.Close())
	}
	return err
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
