package reference

import (
	"fmt"

	"vnd/pkg/core/param"
)

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
		return nil, fmt.Errorf("task %q has no reference of its own, expected hover, track or land, or a reference",
			task)
	}
	param.Default(s)
	return New(s)
}
