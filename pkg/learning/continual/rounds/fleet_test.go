package rounds

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate"
)

// TestFleetEvidence: robots of a fleet tick by turns. A bundle that flies worse on one of them is taken back, and what
// one robot met is not compared with what another one did.
func TestFleetEvidence(t *testing.T) {
	for _, c := range []struct {
		name   string
		errors map[string][2]float64 // by robot: under the first bundle, and under the second; 0: it does not fly
		back   bool
	}{
		{"as well", map[string][2]float64{"a": {0.1, 0.1}, "b": {0.5, 0.5}}, false},
		{"worse on one", map[string][2]float64{"a": {0.1, 0.1}, "b": {0.1, 0.5}}, true},
		{"each flew another one", map[string][2]float64{"a": {0.1, 0}, "b": {0, 0.5}}, false},
		{"of no fleet", map[string][2]float64{"": {0.1, 0.5}}, false},
	} {
		dir := t.TempDir()
		first, second := planted(t, dir)
		o := options(t, dir)
		o.Robots = []string{"a", "b"}
		b := start(t, tiny(), o)
		b.bundles(1)
		f := &fleetFlight{bench: b, rng: rand.New(rand.NewPCG(1, 1)), stamp: 1e18}
		if err := b.do(b.ctx, func() {
			for at, id := range []string{first, second} {
				f.fly(id, map[string]float64{"a": c.errors["a"][at], "b": c.errors["b"][at], "": c.errors[""][at]})
			}
		}); err != nil {
			t.Fatal(err)
		}
		if back := len(b.sent) == 2 && b.sent[1] == first; back != c.back {
			t.Errorf("%s: taken back: %t; %q", c.name, back, b.lines)
		}
		b.stop()
	}
}

// fleetFlight is one of several robots, at one place.
type fleetFlight struct {
	*bench
	rng   *rand.Rand
	stamp int64 // ns
}

// fly flies a bundle for 20 s with mean errors, by robot, in m. Those with 0 do not fly.
func (f *fleetFlight) fly(id string, errors map[string]float64) {
	for range 1000 {
		for _, robot := range []string{"a", "b", ""} {
			if mean := errors[robot]; mean > 0 {
				f.tick(&ControllerTick{Robot: robot, Task: "hover", Policy: true, Stamp: f.stamp, Bundle: id,
					Place: &gate.Place{}, Error: mean * math.Abs(1+0.2*f.rng.NormFloat64())})
			}
		}
		f.stamp += 20e6
	}
}

// TestFleetIsSurer: with more robots each has to show more, so that all of them together take back no bundle more often
// than one does.
func TestFleetIsSurer(t *testing.T) {
	var s Supervision
	s.Evidence = tiny().Evidence
	for robots, want := range map[int]string{1: "95 % interval", 10: "99.5 % interval"} {
		w := newWatch(func() *Supervision { return &s }, dt, 1, nil, places{}, robots)
		for at, id := range []string{"parent", "now"} {
			for k := range 3000 {
				w.evidence.Add(gate.Sample{T: float64(3000*at+k) * dt, Bundle: id, Task: "hover", Error: 0.1})
			}
		}
		if f := w.evidence.Compare("now", "parent"); !strings.Contains(f.Reason, want) {
			t.Errorf("%d robots: %s, expected a %s", robots, f.Reason, want)
		}
	}
}

// TestFlightsOfAFleet: flights of two robots that begin at once are two.
func TestFlightsOfAFleet(t *testing.T) {
	dir, rows := t.TempDir(), flown(0, 0, 2, 1)
	o := options(t, dir)
	o.Robots = []string{"a", "b"}
	b := start(t, tiny(), o)
	b.bundles(1)
	for _, robot := range o.Robots {
		f := segment(t, t.TempDir(), rows)
		f.Robot = robot
		b.learn(f)
	}
	if err := b.do(b.ctx, func() {
		var flights []string
		for i := range b.segments {
			flights = append(flights, b.segments[i].segment.Flight)
		}
		if len(flights) != 2 || flights[0] != "a f" || flights[1] != "b f" {
			t.Errorf("flights %q", flights)
		}
		if all := dataset.Join(dt, []dataset.Segment{b.segments[0].segment, b.segments[1].segment}); len(all) != 2 {
			t.Errorf("%d segments", len(all))
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// TestFleetShares: what is kept of flights by a bundle without a model, to be read all at once later, is no more for
// a fleet than for one robot, as long as there is enough for a comparison. What reads them is there once.
func TestFleetShares(t *testing.T) {
	dir := t.TempDir()
	ids, _ := learnedBundle(t, dir)
	cfg := tiny()
	cfg.Evidence.Most, cfg.Evidence.Seconds = 20, 5
	kept := func(robots ...string) (least, sum int) {
		o := options(t, dir)
		o.Robots = robots
		b := start(t, cfg, o)
		defer b.stop()
		b.bundles(1)
		if err := b.do(b.ctx, func() {
			for k := range 20000 {
				for _, name := range robots {
					b.tick(&ControllerTick{Robot: name, Policy: true, Stamp: int64(k) * 20e6, Bundle: ids[0]})
				}
			}
			least = math.MaxInt
			for _, w := range b.watches {
				least, sum = min(least, len(w.unplaced)), sum+len(w.unplaced)
				if p := w.place(ids[1]); p == nil || p != b.watches[robots[0]].place(ids[1]) {
					t.Errorf("the model of %s is there twice", ids[1])
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		return least, sum
	}
	alone, _ := kept("a")
	if least, sum := kept("a", "b", "c", "d"); sum > 2*alone || least < int(2*cfg.Evidence.Seconds/dt) {
		t.Errorf("a fleet keeps %d ticks, one robot of it %d, expected at most twice the %d of one robot alone", sum,
			least, alone)
	}
}
