package main

import (
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// fly returns the rows of a figure-eight in one condition of a world.
func fly(world sim.World, condition string, seed uint64) ([]quad.Row, error) {
	only, err := world.Only(condition)
	if err != nil {
		return nil, err
	}
	path, err := reference.Parse("path", []byte(`{"kind": "figure_eight"}`))
	if err != nil {
		return nil, err
	}
	setup := &closedloop.Setup{World: only, Seed: seed, Path: path, Seconds: seconds, Tick: dt}
	param.Default(&setup.Limits)
	param.Default(&setup.Estimate)
	law, err := guard.NewPathFollower(setup.Limits, path)
	if err != nil {
		return nil, err
	}
	r := &recorder{PathFollower: law}
	_, err = closedloop.Fly(setup, r)
	return r.rows, err
}

// recorder is the guard's control law along a path, and what it flew.
type recorder struct {
	guard.PathFollower
	rows []quad.Row
}

// Observe implements closedloop.Observer: a row with a new state, and the command given at it.
func (r *recorder) Observe(s quad.Row) {
	if n := len(r.rows); n == 0 || s.T > r.rows[n-1].T {
		r.rows = append(r.rows, s)
	}
}
