package control

import (
	"errors"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/reference"
)

// TaskReference is a task and the reference that it follows, from the tick on at which it is taken up. It belongs to
// one Loop.
type TaskReference struct {
	Task string
	Path reference.Reference

	Blended bool // the path is a recorded one, with its transition blends

	at        func(t float64) quad.Reference // t on the loop's clock, s
	unblended func(t float64) quad.Reference // the same without the transition blend
	start     float64                        // NaN before the first tick
	blend     blend
}

// NewTaskReference follows a path; nil is the task's own.
func NewTaskReference(task string, path reference.Reference) (*TaskReference, error) {
	if path == nil {
		var err error
		if path, err = own(task); err != nil {
			return nil, err
		}
	}
	c := &TaskReference{Task: task, Path: path, start: math.NaN()}
	c.unblended = func(t float64) quad.Reference { return c.Path.At(t - c.start) }
	c.at = func(t float64) quad.Reference { return c.blend.at(t, c.unblended(t)) }
	return c, nil
}

// own is the reference that a task has by itself. Features has none here: its policy needs a camera.
func own(task string) (reference.Reference, error) {
	if task == "features" {
		return nil, errors.New(`task "features" needs a camera, which no node has`)
	}
	return reference.OfTask(task)
}
