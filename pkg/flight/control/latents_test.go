package control

import (
	"fmt"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// latentsOf are the latents of ticks at 50 Hz, under copies of one model with these names.
func latentsOf(t *testing.T, names ...string) *Latents {
	t.Helper()
	l, err := NewLatents(.1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		m, err := LoadLatentModel(readBundle(t, "a.vnd"), 50)
		if err != nil {
			t.Fatal(err)
		}
		m.Bundle = name
		l.Add(m)
	}
	return l
}

// tickOf is tick k of a still hover.
func tickOf(k int, bundle string) *TickRecord {
	hover := quad.Command{Thrust: quad.Gravity}
	return &TickRecord{Bundle: bundle, Stamp: 1e18 + int64(k)*20e6, State: quad.State{Q: so3.Identity()}, Sent: hover}
}

func TestLatentsFollowTheBundleThatFlies(t *testing.T) {
	l := latentsOf(t, "first", "second")
	k := 0
	for ; !l.Known(); k++ {
		if z := l.Tick(tickOf(k, "first")); z == nil || z.Bundle != "first" {
			t.Fatalf("tick %d: %+v", k, z)
		}
	}
	if z := l.Tick(tickOf(k, "second")); z == nil || z.Bundle != "second" || !l.Known() {
		t.Errorf("a swap between models of one Δt: %+v, whole window %t", z, l.Known())
	}
	if z := l.Tick(tickOf(k+1, "of nobody")); z != nil || l.Model() != nil {
		t.Errorf("a bundle without a model has the latent %+v", z)
	}
	away := tickOf(k+2, "second")
	away.Stage = guard.NotOffboard
	if z := l.Tick(away); z != nil || l.Known() {
		t.Errorf("a tick that was not followed: %+v, whole window %t", z, l.Known())
	}
}

// Bundles come and are refused; the one that flies is read on, and the one before is there to go back to.
func TestLatentsKeepTheModelThatFlies(t *testing.T) {
	l := latentsOf(t, "before", "flies")
	l.Tick(tickOf(0, "before"))
	l.Tick(tickOf(0, "flies"))
	for k := range 3 * keptModels {
		one := latentsOf(t, fmt.Sprint(k))
		l.Add(one.models[0])
	}
	newest := fmt.Sprint(3*keptModels - 1)
	if !l.Has("flies") || !l.Has(newest) || l.Has("0") || len(l.models) != keptModels {
		t.Errorf("%d models; there: flies %t, newest %t, oldest %t", len(l.models), l.Has("flies"), l.Has(newest),
			l.Has("0"))
	}
	before := l.Model()
	l.Add(latentsOf(t, "flies").models[0])
	if l.Tick(tickOf(1, "flies")); l.Model() != before || len(l.models) != keptModels {
		t.Error("a bundle that came again has begun its window anew")
	}
	if l.Tick(tickOf(2, "before")) == nil {
		t.Error("back at the bundle before, there are no latents")
	}
}
