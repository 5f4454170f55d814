package quadsim

import (
	"fmt"
	"regexp"
	"slices"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/bridge/betaflight/sitl"
	"vnd/pkg/core/quad"
	"vnd/pkg/sim"
)

// Settings of the board that the firmware flies, as the firmware has them by default.
const (
	motorIdle = 0.055
	minCheck  = 1050
)

// sticksOf are those of a board in a world's vehicle, which has the world's own map of thrust.
func sticksOf(w *sim.World, limit float64) betaflight.Sticks {
	share := w.Airframe.Mass * quad.Gravity / (4 * w.Motor.Thrust / w.Motor.Gain) // of the full thrust, in hover
	whole := bridge.Throttle{Hover: 1, Curve: w.Motor.Curve}
	hover, _ := whole.Of(share*quad.Gravity, 0) // output of the motors
	return betaflight.Sticks{Rates: rates.Linear(limit), MinCheck: minCheck, Thrust: betaflight.Thrust{Idle: motorIdle,
		Throttle: bridge.Throttle{Hover: (hover - motorIdle) / (1 - motorIdle), Curve: w.Motor.Curve}}}
}

// NewBetaflight is Betaflight's firmware on a board in a world's vehicle, with settings of our own provisioning, from
// where make puts the firmware or VND_BETAFLIGHT says. It follows rates up to the world's rate_loop.max_rate, rad/s. Of
// settings, written NAME=VALUE, each takes the place of ours of that name.
func NewBetaflight(w sim.World, settings []string) (*sitl.Board, error) {
	all := sitl.Settings(w.RateLoop.MaxRate)
	for _, text := range settings {
		s, err := betaflight.ParseSetting(text)
		if err != nil {
			return nil, err
		}
		if ours.MatchString(s.Name) {
			return nil, fmt.Errorf("setting %s: commands become sticks by it, expected another one", s.Name)
		}
		at := slices.IndexFunc(all, func(x betaflight.Setting) bool { return x.Name == s.Name })
		if at < 0 {
			all = append(all, s)
		} else {
			all[at] = s
		}
	}
	return sitl.NewBoard(sitl.Folder(), sticksOf(&w, w.RateLoop.MaxRate), all)
}

// ours are settings that sticksOf and arming go by.
var ours = regexp.MustCompile(
	`^(map|rates_type|(roll|pitch|yaw)_(rc_rate|srate|expo|rate_limit)|min_check|motor_idle|aux.*)$`)
