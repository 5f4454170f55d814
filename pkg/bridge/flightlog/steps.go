package flightlog

import (
	"fmt"
	"iter"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Steps reads a bag to be looked at: the steps of vnd's controller as they were recorded, and own is true. Of
// recordings of others it makes rows, as ReadBag does, and of them steps that have pose, velocity and command_sent
// alone. A step is valid until the next one; an error ends them.
func Steps(path string, o Options) (steps iter.Seq2[*msgs.Step, error], own bool, warnings []Warning, err error) {
	path = bag.Root(path)
	info, err := bag.Info(path)
	if err != nil {
		return nil, false, nil, err
	}
	pose, _, err := o.Topics(info.Topics)
	if err != nil {
		return nil, false, nil, fmt.Errorf("bag %s: %w", path, err)
	}
	if pose.Type == bridge.TypeStep {
		return stepsOf(path, pose.Name), true, nil, nil
	}
	f, warnings, err := ReadBag(path, o)
	return asSteps(f, info.Start), false, warnings, err
}

// stepsOf are the steps of a topic. One without a stamp gets the time of its recording.
func stepsOf(path, topic string) iter.Seq2[*msgs.Step, error] {
	return func(yield func(*msgs.Step, error) bool) {
		r, err := bag.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		var s msgs.Step
		for m, err := range r.Messages(topic) {
			if err == nil {
				if err = cdr.Unmarshal(m.Data, &s); err != nil {
					err = fmt.Errorf("bag %s: topic %s: %w", path, topic, err)
				}
			}
			if err == nil && bridge.Nanoseconds(s.Header.Stamp) == 0 {
				s.Header.Stamp = bridge.Time(m.LogTime)
			}
			if !yield(&s, err) || err != nil {
				return
			}
		}
	}
}

// asSteps are a flight's rows, of which the first is at start, ns.
func asSteps(f quad.Flight, start int64) iter.Seq2[*msgs.Step, error] {
	return func(yield func(*msgs.Step, error) bool) {
		var s msgs.Step
		for _, segment := range f.Segments {
			for _, row := range segment {
				bridge.PutStep(&s, &control.TickRecord{Stamp: start + nanoseconds(row.T), State: row.State,
					Sent: row.Command}, worldFrame)
				if !yield(&s, nil) {
					return
				}
			}
		}
	}
}
