package task

import (
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/flight/reference"
)

// Maker makes a task of one's own along a path. The cost and where episodes begin are those that are configured; it
// may change them.
type Maker func(cost Cost, spread Spread, path reference.Reference) (*Task, error)

// makers are those of the tasks that were added.
var makers = map[string]Maker{}

// Add makes New and Split know a task of one's own, so that vnd and the nodes train and fly it, along spec where no
// other reference is given. A program calls it before all else. It panics where the name is there already or is none.
func Add(name string, spec reference.Spec, m Maker) {
	if name == "" || strings.ContainsAny(name, ", ") || slices.Contains(names, name) {
		panic(fmt.Sprintf("task %q: expected a name of its own, without commas and spaces", name))
	}
	reference.AddTask(name, spec)
	names, makers[name] = append(names, name), m
}

// newOwn makes a task that was added.
func newOwn(name string, cost Cost, spread Spread, path reference.Reference) (*Task, error) {
	m := makers[name]
	if m == nil {
		return nil, fmt.Errorf("task %q, expected %s", name, strings.Join(names, ", "))
	}
	if path == nil {
		var err error
		if path, err = reference.OfTask(name); err != nil {
			return nil, err
		}
	}
	t, err := m(cost, spread, path)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", name, err)
	}
	if err := t.Cost.Check(); err != nil {
		return nil, fmt.Errorf("task %s: %w", name, err)
	}
	t.Name = name
	return t, nil
}
