package overdds

import (
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// internalParticipant is a participant whose first Wait returns at once, for a Wake and for an
// internal reason.
type internalParticipant struct {
	dds.Participant
	waits int
}

func (*internalParticipant) Wake() {}

func (s *internalParticipant) Wait(_ time.Duration, ready []dds.Ready) ([]dds.Ready, error) {
	if s.waits++; s.waits == 1 {
		return append(ready, dds.Ready{Owner: &internalOwner{}, Event: true}), nil
	}
	return ready, nil
}

// A Wake that comes together with an internal reason ends the Wait.
func TestWakeIsNotSwallowed(t *testing.T) {
	p := &internalParticipant{}
	c := &context{participant: p}
	c.Wake()
	if ready, err := c.Wait(-1, nil); err != nil || len(ready) != 0 || p.waits != 1 {
		t.Errorf("%v, %v after %d waits of the participant", ready, err, p.waits)
	}
	p.waits = 0
	if _, err := c.Wait(-1, nil); err != nil || p.waits != 2 {
		t.Errorf("%v after %d waits: without a Wake it waits on", err, p.waits)
	}
}
