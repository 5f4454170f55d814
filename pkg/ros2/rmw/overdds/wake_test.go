package overdds

import (
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// swallower is a participant whose first Wait returns for a Wake and for something that concerns no user, at once.
type swallower struct {
	dds.Participant
	waits int
}

func (*swallower) Wake() {}

func (s *swallower) Wait(_ time.Duration, ready []dds.Ready) ([]dds.Ready, error) {
	if s.waits++; s.waits == 1 {
		return append(ready, dds.Ready{Owner: &internalOwner{}, Event: true}), nil
	}
	return ready, nil
}

// A Wake that comes together with what concerns no user ends the Wait all the same.
func TestWakeIsNotSwallowed(t *testing.T) {
	p := &swallower{}
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
