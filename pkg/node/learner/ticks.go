package learner

// bundleTicks follows which bundle flies. The zero value has seen none.
type bundleTicks struct {
	seq    uint64 // of the newest tick
	bundle string
}

// dropped is the bundle that a controller gave up at a tick, if its guard has tripped; empty: none.
func (b *bundleTicks) dropped(seq uint64, bundle string, tripped bool) (before string) {
	if tripped && seq == b.seq+1 && bundle != b.bundle {
		before = b.bundle
	}
	b.seq, b.bundle = seq, bundle
	return before
}
