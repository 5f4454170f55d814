package bundle

import "sync/atomic"

// Holder is the one place from which flight takes its bundle. A new bundle replaces the whole old one;
// a reader loads once per tick and keeps what it got. The zero value holds none.
// The nodes latent_encoder and policy_controller keep theirs in one.
type Holder struct{ p atomic.Pointer[Bundle] }

// Load returns the current bundle, nil before the first Swap.
func (h *Holder) Load() *Bundle { return h.p.Load() }

// Swap puts b in place and returns what was there.
func (h *Holder) Swap(b *Bundle) *Bundle { return h.p.Swap(b) }
