package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/dist"
	"vnd/pkg/core/dist/mpi"
)

// shared are the commands that several processes do together.
var shared = []string{"train", "fit", "bench policy", "bench fit", "sweep"}

// alone refuses the other commands where mpirun started several processes: each would do the same, to the same files.
func alone(command string) error {
	is := func(name string) bool { return command == name || strings.HasPrefix(command, name+" ") }
	if _, size := mpi.Started(); size > 1 && !slices.ContainsFunc(shared, is) {
		return fmt.Errorf("started as %d processes, expected one: only %s are shared among several", size,
			strings.Join(shared, ", "))
	}
	return nil
}

// together runs f in all processes that mpirun started with this one, or alone. What f returns on one rank and not on
// the others is a *ranks.Error.
func (c *console) together(f func(g dist.Group) error) error {
	if launcher := mpi.Foreign(); launcher != "" {
		return fmt.Errorf("started by %s, expected mpirun of Open MPI (apt-get install openmpi-bin)", launcher)
	}
	if _, size := mpi.Started(); size == 1 {
		return f(dist.Solo{})
	}
	w, err := mpi.Open()
	if err != nil {
		return err
	}
	err = f(w)
	if errors.As(err, new(*dist.Error)) {
		return err // the others wait for this rank elsewhere: mpirun ends them
	}
	c.agreed = err != nil
	return errors.Join(err, w.Close())
}

// claim makes sure that a bundle can be written in the end, and by nobody else until then. Rank 0 does so for all.
func claim(g dist.Group, out, work string) (unlock func(), err error) {
	if g.Rank() > 0 {
		return func() {}, nil
	}
	if err := atomicfile.Writable(out); err != nil {
		return func() {}, err
	}
	unlock, err = atomicfile.Lock(out + ".lock")
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return func() {}, fmt.Errorf("write %s: another %s to it is under way", out, work)
	case err != nil:
		return func() {}, err
	}
	return unlock, nil
}
