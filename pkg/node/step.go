package node

import (
	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/dataset"
)

// ControllerStep is a tick of the controller as the buffer takes it.
func ControllerStep(m *msgs.Step) dataset.ControllerStep {
	s := dataset.ControllerStep{Seq: m.Seq, Stamp: bridge.Nanoseconds(m.Header.Stamp), State: bridge.FromStep(m).State,
		Sent: bridge.CommandFromStep(m).Command, Stage: guard.Stage(m.GuardState)}
	if len(m.Reference) >= 3 && m.Task == "land" {
		s.Stands = reference.Standing(&s.State, m.Reference[2])
	}
	return s
}
