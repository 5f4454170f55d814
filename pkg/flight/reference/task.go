package reference

import (
	"fmt"

	"vnd/pkg/core/param"
)

// ofTasks are the default references of tasks of one's own.
var ofTasks = map[string]Spec{}

// AddTask makes OfTask know the default reference of a task of one's own. A program calls it before all else. It panics
// where no reference can be made of the spec.
func AddTask(task string, s Spec) {
	if _, err := New(s); err != nil {
		panic(fmt.Sprintf("task %s: %v", task, err))
	}
	ofTasks[task] = s
}

// OfTask returns the default reference of a task: a point for hover and features, a figure-eight for track, a
// touch-down for land.
func OfTask(task string) (Reference, error) {
	var s Spec
	switch task {
	case "hover", "features":
		s = new(Hover)
	case "track":
		s = new(FigureEight)
	case "land":
		s = new(Landing)
	default:
		if own := ofTasks[task]; own != nil {
			return New(own)
		}
		return nil, fmt.Errorf("task %q has no reference of its own, expected hover, track or land, or a reference",
			task)
	}
	param.Default(s)
	return New(s)
}
