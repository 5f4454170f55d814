// Package plant flies the vehicles of other simulators: crazyflow and MuJoCo, both from PyPI.
// `make simulators` installs them.
package plant

import (
	_ "embed"
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
	"vnd/pkg/sim/peer"
)

// Names of the simulators.
const (
	Crazyflow = "crazyflow"
	MuJoCo    = "mujoco"
)

//go:embed plant.py
var program string

// A request is what is to be done and ten numbers.
const (
	requests = 11
	replies  = 13

	doReset  = 0 // p_W, q_WB (w, x, y, z), v_W
	doFollow = 1 // thrust (m/s²), body rates (rad/s), wind (m/s²), time (s), 0, 0
)

// Fleet has the vehicles of one simulator.
type Fleet struct{ peer.Pool }

// NewFleet returns the vehicles of a simulator.
func NewFleet(name string) *Fleet {
	return &Fleet{peer.Pool{Program: peer.Program{Name: name, Source: program, Request: requests, Reply: replies}}}
}

// Start returns a vehicle of the simulator when it is ready. It refuses a world that has more than winds.
func (f *Fleet) Start(w sim.World) (sim.External, error) {
	if err := windsAlone(f.Name, &w); err != nil {
		return nil, err
	}
	p, err := f.Take()
	if err != nil {
		return nil, err
	}
	return &vehicle{p, f}, nil
}

// vehicle goes back to its fleet.
type vehicle struct {
	process *peer.Process
	fleet   *Fleet
}

var _ sim.Plant = (*vehicle)(nil)

// Close implements io.Closer.
func (v *vehicle) Close() error { return v.fleet.Give(v.process) }

// windsAlone refuses a world of which a plant would know a part alone.
func windsAlone(name string, w *sim.World) error {
	d := sim.Default()
	for i, n := range w.Conditions.Name {
		if !w.Conditions.WindAlone(i) {
			return fmt.Errorf("%s knows winds alone: condition %q has more", name, n)
		}
	}
	if w.Gusts != d.Gusts || len(w.Fans.X) > 0 || w.Neighbour.Mass > 0 {
		return fmt.Errorf("%s knows winds alone: the world has gusts, fans or a second vehicle", name)
	}
	return nil
}

// Reset puts the vehicle at rest in a state, with motors that hold it where they can.
func (v *vehicle) Reset(s quad.State, _ quad.Command) error {
	_, err := v.process.Ask(doReset, s.P.X, s.P.Y, s.P.Z, s.Q.W, s.Q.X, s.Q.Y, s.Q.Z, s.V.X, s.V.Y, s.V.Z)
	return err
}

// Follow implements sim.Plant.
func (v *vehicle) Follow(c quad.Command, wind so3.Vec3, h float64) (s quad.State, rates so3.Vec3, err error) {
	x, err := v.process.Ask(doFollow, c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z, wind.X, wind.Y, wind.Z, h)
	if err != nil {
		return s, rates, err
	}
	s.P, s.V = so3.Vec3{X: x[0], Y: x[1], Z: x[2]}, so3.Vec3{X: x[7], Y: x[8], Z: x[9]}
	s.Q = so3.Quat{W: x[3], X: x[4], Y: x[5], Z: x[6]}
	return s, so3.Vec3{X: x[10], Y: x[11], Z: x[12]}, nil
}
