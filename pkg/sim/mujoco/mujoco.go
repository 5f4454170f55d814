// Package mujoco steps worlds of MuJoCo in this process, many of one model side by side. It is no part of the program:
// `make simulators` installs MuJoCo and compiles the shared object libvnd_mujoco.so beside it, and New loads that.
package mujoco

import (
	"errors"
	"path/filepath"

	"vnd/pkg/sim/peer"
)

// ErrMissing is the error of New where MuJoCo is not installed.
var ErrMissing = errors.New("MuJoCo is not here: make simulators installs it")

// library is where the shared object lies.
func library() string { return filepath.Join(peer.Folder(), "lib", "libvnd_mujoco.so") }

// Columns are numbers of each world, in MuJoCo's own memory: they change with each step, and end with Close.
type Columns struct {
	data         []float64
	size, stride int
}

// Of returns the numbers of a world, for reading and writing.
func (c *Columns) Of(world int) []float64 { return c.data[world*c.stride:][:c.size:c.size] }
