package cli

import (
	"errors"

	"vnd/pkg/bridge"
	ardupilot "vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/bridge/betaflight/sitl"
	px4 "vnd/pkg/bridge/px4/sitl"
	"vnd/pkg/node/quadsim"
	"vnd/pkg/sim"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/sim/plant"
)

// externalFlags are of flights by software of others.
type externalFlags struct {
	Firmware  string   `enum:",betaflight,ardupilot,px4" default:"" help:"betaflight, ardupilot or px4 flies."`
	Set       []string `sep:"none" placeholder:"NAME=VALUE" help:"Setting of the firmware; may be repeated."`
	Simulator string   `enum:",crazyflow,mujoco" default:"" help:"crazyflow or mujoco: that simulator's vehicle flies."`
}

// maker makes what flies a world's vehicle; nil for quad_sim's own autopilot. It refuses firmware that is not built
// before a policy is trained for it.
func (b *externalFlags) maker() (sim.NewExternal, error) {
	if b.Firmware == "" && len(b.Set) > 0 {
		return nil, errors.New("--set: expected with --firmware alone")
	}
	switch {
	case b.Firmware == "" && b.Simulator == "":
		return nil, nil
	case b.Firmware == "":
		return plant.NewFleet(b.Simulator).Start, nil
	case b.Simulator != "":
		return nil, errors.New("--simulator: expected without --firmware, for it has an autopilot of its own")
	}
	switch b.Firmware {
	case bridge.Ardupilot:
		_, err := ardupilot.Binary()
		return func(w sim.World) (sim.External, error) { return quadsim.NewArdupilot(w, b.Set) }, err
	case bridge.PX4:
		_, err := px4.Binary()
		return func(w sim.World) (sim.External, error) { return quadsim.NewPX4(w, b.Set) }, err
	}
	board := func(w sim.World) (sim.External, error) { return quadsim.NewBetaflight(w, b.Set) }
	return board, sitl.Built(sitl.Folder())
}

// respond has a campaign's guard believe how another's vehicle responds, by flights in the first of some scenarios.
func (b *externalFlags) respond(c *console, p *experiment.Campaign, in ...experiment.Scenario) error {
	r, err := p.Respond(c.ctx, in...)
	if errors.Is(err, experiment.ErrHardlyShown) {
		c.warn(err.Error())
		return nil
	}
	if r != nil {
		const ms = 1e3
		c.log.Info().Msgf("guard.response by flights without the filter: thrust after %.0f + %.0f ms, body rates "+
			"after %.0f + %.0f ms, delay and lag", ms*r.ThrustDelay, ms*r.ThrustLag, ms*r.RateDelay, ms*r.RateLag)
	}
	return err
}

// ready refuses a simulator that is not here, or scenarios that it does not fly, before a policy is trained.
func (b *externalFlags) ready(start sim.NewExternal, scenarios ...experiment.Scenario) error {
	if b.Simulator == "" {
		return nil
	}
	for _, s := range scenarios {
		vehicle, err := start(s.World)
		if err == nil {
			err = vehicle.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
