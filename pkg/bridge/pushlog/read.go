package pushlog

import (
	"fmt"

	"vnd/msgs"
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Read reads the pushes of a rosbag2 folder, or of one of its storage files, by the ticks on a topic; empty takes the
// only one. An error is one line with path and topic.
func Read(path, topic string, s Stream) ([][]pusher.Row, []flightlog.Warning, error) {
	path = bag.Root(path)
	b, err := bag.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	rows, warnings, err := read(b, path, topic, &s)
	if err != nil {
		return nil, nil, fmt.Errorf("bag %s: %w", path, err)
	}
	return rows, warnings, nil
}

func read(b *bag.Reader, path, topic string, s *Stream) (all [][]pusher.Row, warnings []flightlog.Warning, err error) {
	t, err := flightlog.Only(b.Topics(), topic, new(msgs.PushStep).TypeName())
	if err != nil {
		return nil, nil, fmt.Errorf("ticks of push_controller (--push-steps): %w", err)
	}
	warn := func(topic, text string) {
		warnings = append(warnings, flightlog.Warning{File: path, Topic: topic, Text: text})
	}
	keep := func(x Stretch) {
		if len(x.Rows) > 0 {
			all = append(all, x.Rows)
		}
	}
	err = flightlog.Collect(b, func(m *bag.Message) error {
		step := new(msgs.PushStep)
		err := cdr.Unmarshal(m.Data, step)
		if err == nil {
			var x Stretch
			x, err = s.Add(step)
			keep(x)
		}
		return err
	}, warn, t.Name)
	if err != nil {
		return nil, nil, err
	}
	keep(s.End())
	why := s.Why()
	if len(all) == 0 {
		if why != "" {
			why = ": " + why
		}
		return nil, nil, fmt.Errorf("topic %s: there is no push of %d ticks in a row%s", t.Name, s.Least, why)
	}
	if why != "" {
		warn(t.Name, why)
	}
	if lost := b.Lost(); lost.Any() {
		warn("", lost.String())
	}
	return all, warnings, nil
}
