package learner

import (
	"vnd/msgs"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/pushlearning"
	robotpusher "vnd/pkg/robot/pusher"
)

// pushTicks makes a tick of each push that push_controller reports, as if it had taken a second. The force that the box
// takes tells under which condition it was. The zero value has received none.
type pushTicks struct {
	seq, push uint64 // of the newest tick
	bundle    string
	whole     bool // it was seen from its beginning on, by one bundle
	pushed    pushlearning.Pushed
	at        *gate.Place // of the newest box that moved; nil: none did
	seconds   int64
	bundles   bundleTicks
}

// add takes a tick, and the rows of the stretch that ends there. It returns a tick for rounds where a push is over that
// tells how its bundle pushes, or where the controller gave a bundle up.
func (w *pushTicks) add(m *msgs.PushStep, rows []robotpusher.Row) *rounds.ControllerTick {
	follows := m.Seq == w.seq+1
	switch {
	case m.Push != w.push:
		w.whole, w.pushed, w.bundle = follows && m.Push == w.push+1, pushlearning.Pushed{}, m.BundleID
	case !follows || m.Fault == "" && m.BundleID != w.bundle:
		w.whole = false
	}
	w.seq, w.push = m.Seq, m.Push
	w.pushed.Add(m.Box, m.Goal)
	if at, err := pushlearning.Place(rows); err == nil { // else it is that of the push before
		w.at = at
	}
	t := &rounds.ControllerTick{Bundle: m.BundleID, Task: pushlearning.Name, Place: w.at, Policy: w.whole}
	if t.Dropped = w.bundles.dropped(m.Seq, m.BundleID, m.Fault != ""); t.Dropped != "" {
		t.Policy, t.Fault = false, m.Fault
		return t
	}
	if !w.whole || w.at == nil || !m.There && !m.PolicyFailed {
		return nil
	}
	w.seconds++
	t.Stamp = w.seconds * 1e9
	if off, ok := w.pushed.Error(m.There); ok {
		t.Error = off
		return t
	}
	return nil
}
