package rounds

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/learning/gate"
	"vnd/pkg/vnd/bundle"
)

// learnedBundle makes bundle 2 of a store in dir, which has a model, and returns both.
func learnedBundle(t *testing.T, dir string) (ids []string, z int) {
	t.Helper()
	long(t)
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
	b.bundles(2)
	b.stop()
	s, err := bundle.Read(filepath.Join(dir, b.sent[1]+".safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return b.sent, s.Dimensions["latent"]
}

// TestEvidence: a bundle that flies worse than the one before it where both flew is taken back by itself; one that
// flies as well, or too short, is not. The one before had no model: the new one's encoder tells where it flew.
func TestEvidence(t *testing.T) {
	dir := t.TempDir()
	ids, z := learnedBundle(t, dir)
	for _, c := range []struct {
		name        string
		seconds     float64
		error       float64
		by          bool
		wantsReturn bool
	}{
		{"as well", 30, 0.1, true, false},
		{"worse, too short", 8, 0.5, true, false},
		{"worse, and told not to", 30, 0.5, false, false},
		{"worse", 30, 0.5, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			cfg := tiny()
			cfg.Rollback = c.by
			cfg.Evidence.Radius = 100 // one neighbourhood
			b := start(t, cfg, options(t, copied))
			b.bundles(1)
			rng := rand.New(rand.NewPCG(1, 1))
			stamp := int64(1e18)
			fly := func(id string, seconds, mean float64, latent []float32) {
				for _, row := range flown(0, 0, seconds, 5) {
					b.tick(&ControllerTick{Stamp: stamp, Bundle: id, Task: "hover", Latent: latent,
						Error: mean * math.Abs(1+0.2*rng.NormFloat64()), Policy: true, Row: row.Row})
					stamp += 20e6
				}
			}
			var changed error
			if err := b.do(b.ctx, func() {
				fly(ids[0], 20, 0.1, nil)
				changed = b.watches[""].changed() // the bundle with a model comes only now
				fly(ids[1], c.seconds, c.error, make([]float32, z))
			}); err != nil || changed != nil {
				t.Fatal(err, changed)
			}
			returned := len(b.sent) == 2 && b.sent[1] == ids[0]
			if returned != c.wantsReturn {
				t.Errorf("taken back: %v; %q", returned, b.lines)
			}
			flew := map[string]bool{}
			for _, e := range b.Runner.bundles.Entries() {
				flew[e.ID] = e.Flown
			}
			if !flew[ids[0]] || flew[ids[1]] != (c.seconds >= 10) {
				t.Errorf("flown safely: %v", flew)
			}
			if returned && !strings.Contains(strings.Join(b.lines, "|"),
				ids[1]+" is taken back, "+ids[0]+" flies again: ") {
				t.Errorf("%q", b.lines)
			}
		})
	}
}

// TestTrip: flight that ends in a trip of the guard is not safe, and says nothing of the policy.
func TestTrip(t *testing.T) {
	dir := t.TempDir()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	err := b.do(b.ctx, func() {
		for k := range 3000 {
			b.tick(&ControllerTick{Stamp: int64(k) * 20e6, Bundle: b.sent[0], Policy: k%400 < 350})
		}
	})
	if err != nil || b.Runner.bundles.Entries()[0].Flown {
		t.Errorf("%v, %+v", err, b.Runner.bundles.Entries())
	}
}

// TestPlacedEvidence: ticks that say where they were are compared without latents, and a bundle that the controller
// itself gave up is taken back at once.
func TestPlacedEvidence(t *testing.T) {
	for _, c := range []struct {
		name    string
		place   float64 // of the second bundle's flight
		error   float64
		dropped bool
		back    bool
	}{
		{"as well", 0, 0.1, false, false},
		{"worse", 0, 0.5, false, true},
		{"worse, elsewhere", 9, 0.5, false, false},
		{"given up", 0, 0.1, true, true},
		{"given up for another than the one before", 0, 0.1, true, false},
	} {
		dir := t.TempDir()
		first, second := planted(t, dir)
		b := start(t, tiny(), options(t, dir))
		b.bundles(1)
		rng, stamp := rand.New(rand.NewPCG(1, 1)), int64(1e18)
		tick := ControllerTick{Task: "hover", Policy: true}
		fly := func(id string, place, mean float64) {
			for range 1000 {
				tick.Stamp, tick.Bundle, tick.Place = stamp, id, &gate.Place{place}
				tick.Error = mean * math.Abs(1+0.2*rng.NormFloat64())
				b.tick(&tick)
				stamp += 20e6
			}
		}
		if err := b.do(b.ctx, func() {
			fly(first, 0, 0.1)
			fly(second, c.place, c.error)
			if tick.Bundle = first; !c.back {
				tick.Bundle = "another"
			}
			if c.dropped {
				tick.Dropped, tick.Fault = second, "too far off"
				b.tick(&tick)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if back := len(b.sent) == 2 && b.sent[1] == first; back != c.back {
			t.Errorf("%s: taken back: %t; %q", c.name, back, b.lines)
		}
		if c.dropped && c.back {
			b.said("the controller rolled it back: too far off")
		}
		b.stop()
	}
}

// TestUnplacedFlightsHaveABound: flights without a place are kept of bundles that may be compared later, as long as
// their evidence would be, and no longer.
func TestUnplacedFlightsHaveABound(t *testing.T) {
	dir := t.TempDir()
	first, second := planted(t, dir)
	cfg := tiny()
	cfg.Evidence.Most, cfg.Evidence.Seconds = 5, 1
	b := start(t, cfg, options(t, dir))
	b.bundles(1)
	stamp := int64(1e18)
	kept := func(id string, seconds int) (n int) {
		t.Helper()
		if err := b.do(b.ctx, func() {
			for range seconds * 50 {
				b.tick(&ControllerTick{Stamp: stamp, Bundle: id, Task: "hover", Policy: true})
				stamp += 20e6
			}
			n = len(b.watches[""].unplaced)
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := kept("a file of the controller's own", 20); n != 0 {
		t.Errorf("%d ticks of a bundle that is never compared", n)
	}
	if n := kept(first, 4); n != 200 {
		t.Errorf("%d ticks of 4 s by the bundle of before, expected 200", n)
	}
	const most = 8 * 5 * 50
	if n := kept(second, 200); n < most || n > most+most/8 {
		t.Errorf("%d ticks of 200 s, expected %d and an eighth at most", n, most)
	}
}
