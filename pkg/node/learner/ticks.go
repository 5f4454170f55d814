package learner

import (
	"vnd/msgs"
	"vnd/pkg/flight/guard"
)

// bundleTicks follows which bundle flies.
type bundleTicks struct {
	seq    uint64 // of the newest tick
	bundle string
}

// dropped is the bundle that the controller gave up at a tick, for its guard tripped; empty: none.
func (b *bundleTicks) dropped(m *msgs.Step) (bundle string) {
	if guard.Stage(m.GuardState).HoldsAuthority() && m.Seq == b.seq+1 && m.BundleID != b.bundle {
		bundle = b.bundle
	}
	b.seq, b.bundle = m.Seq, m.BundleID
	return bundle
}
