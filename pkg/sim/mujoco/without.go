//go:build !cgo

package mujoco

import "errors"

// Worlds are none in a build without C.
type Worlds struct{ Positions, Velocities, Controls Columns }

// New returns an error: MuJoCo takes a build with C.
func New(string, int, int) (*Worlds, error) {
	return nil, errors.New("built without C, so without MuJoCo; build with cgo")
}

// Close does nothing.
func (*Worlds) Close() {}

// Size is 0.
func (*Worlds) Size() int { return 0 }

// Parameter is never called: there are no worlds.
func (*Worlds) Parameter(string) (Columns, error) { return Columns{}, ErrMissing }

// Body is never called.
func (*Worlds) Body(string) (int, error) { return 0, ErrMissing }

// Pair is never called.
func (*Worlds) Pair(string) (int, error) { return 0, ErrMissing }

// Reset is never called.
func (*Worlds) Reset([]int32) error { return ErrMissing }

// Step is never called.
func (*Worlds) Step(int) error { return ErrMissing }
