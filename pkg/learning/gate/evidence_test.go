package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/core/param"
)

const dt = 0.02

// flights feeds errors as they come in flight: alike from tick to tick.
type flights struct {
	e   *Evidence
	rng *rand.Rand
	t   float64
}

func newFlights(seed uint64) *flights {
	var c EvidenceConfig
	param.Default(&c)
	return &flights{NewEvidence(c, 1), rand.New(rand.NewPCG(seed, 9)), 0}
}

// fly has a bundle fly for some seconds with a mean error.
func (f *flights) fly(bundle, task string, at Place, seconds, mean float64) {
	slow := 0.
	for range int(seconds/dt + 0.5) {
		slow = 0.96*slow + 0.28*f.rng.NormFloat64()*mean*0.3
		place := at
		for j := range place {
			place[j] += 0.03 * f.rng.NormFloat64()
		}
		f.e.Add(Sample{T: f.t, Bundle: bundle, Task: task, Place: place, Error: math.Abs(mean + slow)})
		f.t += dt
	}
}

var calm, wind, storm = Place{}, Place{2}, Place{0, 6}

func TestTakesBackWhatFliesWorse(t *testing.T) {
	f := newFlights(1)
	f.fly("old", "hover", wind, 15, 0.02)
	f.fly("new", "hover", wind, 8, 0.08)
	if got := f.e.Compare("new", "old"); got.Worse || got.Compared != nil ||
		!strings.Contains(got.Reason, "no neighbourhood in which new and old flew for 10 s each") {
		t.Errorf("after 8 s: %+v", got)
	}
	f.fly("new", "hover", wind, 8, 0.08)
	got := f.e.Compare("new", "old")
	if !got.Worse || len(got.Compared) != 1 || got.Compared[0].ParentSeconds < 10 ||
		!strings.Contains(got.Reason, "new errs more than its parent old: 0.0") {
		t.Errorf("after 16 s: %+v", got)
	}
	if d := got.Compared[0].Difference; math.Abs(d.Mean-0.06) > 0.02 {
		t.Errorf("difference %+v, want 0.06", d)
	}
	if back := f.e.Compare("old", "new"); back.Worse {
		t.Errorf("the better one: %+v", back)
	}
	if same := f.e.Compare("new", "new"); same.Worse || same.Compared != nil {
		t.Errorf("itself: %+v", same)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
	f.e.Keep("new")
	if got := f.e.Compare("new", "old"); got.Compared != nil {
		t.Errorf("of a bundle that was forgotten: %+v", got)
	}
}

// TestOnlyTheSameCounts: a new bundle in a storm is not compared with its parent in a calm, nor hovering with tracking.
func TestOnlyTheSameCounts(t *testing.T) {
	f := newFlights(2)
	f.fly("old", "hover", calm, 30, 0.01)
	f.fly("new", "hover", storm, 30, 0.3)
	f.fly("new", "track", calm, 30, 0.3)
	if got := f.e.Compare("new", "old"); got.Compared != nil || got.Worse {
		t.Errorf("%+v", got)
	}
	f.fly("new", "hover", calm, 30, 0.01)
	if got := f.e.Compare("new", "old"); len(got.Compared) != 1 || got.Worse {
		t.Errorf("%+v", got)
	}
	f.fly("old", "hover", storm, 30, 0.1)
	got := f.e.Compare("new", "old")
	if len(got.Compared) != 2 || !got.Worse || !strings.Contains(got.Reason, "(97.5 % interval") {
		t.Errorf("worse in one of two: %+v", got)
	}
}

// TestFalseAlarms: bundles that fly alike in four neighbourhoods are rarely told apart, ones that err twice as much
// nearly always.
func TestFalseAlarms(t *testing.T) {
	const runs = 60
	alarms, found := 0, 0
	for seed := range uint64(runs) {
		f := newFlights(seed)
		for i, at := range []Place{calm, wind, storm, {0, 0, 3}} {
			f.fly("old", "hover", at, 14, 0.05)
			f.fly("same", "hover", at, 14, 0.05)
			mean := 0.05
			if i == 2 {
				mean = 0.1
			}
			f.fly("worse", "hover", at, 14, mean)
		}
		if f.e.Compare("same", "old").Worse {
			alarms++
		}
		if f.e.Compare("worse", "old").Worse {
			found++
		}
	}
	t.Logf("%d false alarms, %d found, of %d", alarms, found, runs)
	if alarms > 4 || found < 55 {
		t.Errorf("%d false alarms and %d found in %d runs", alarms, found, runs)
	}
}

// TestGapsAndNonsense: a change, a gap and numbers that are not finite end a stretch, whose beginning does not count.
func TestGapsAndNonsense(t *testing.T) {
	f := newFlights(3)
	count := func(bundle string) int {
		n := 0
		for _, a := range f.e.areas {
			n += len(a.blocks[bundle])
		}
		return n
	}
	f.fly("a", "hover", calm, 4.1, 0.1)
	if n := count("a"); n != 3 { // 1 s to settle
		t.Errorf("%d blocks of 4.1 s, want 3", n)
	}
	f.t += 1
	f.fly("a", "hover", calm, 1.9, 0.1)
	f.fly("b", "hover", calm, 1.9, 0.1)
	f.e.Add(Sample{T: f.t, Bundle: "b", Task: "hover", Error: math.NaN()})
	f.e.Add(Sample{T: f.t, Bundle: "b", Task: "hover", Place: Place{math.Inf(1)}})
	f.fly("b", "hover", calm, 1.9, 0.1)
	f.t -= 100
	f.fly("b", "hover", calm, 1.9, 0.1)
	if a, b := count("a"), count("b"); a != 3 || b != 0 {
		t.Errorf("%d and %d blocks of stretches of 1.9 s", a, b)
	}
	f.fly("c", "hover", calm, 300, 0.1)
	if n := count("c"); n != 120 {
		t.Errorf("%d blocks are kept, want the newest 120", n)
	}
	for i := range 2 * mostAreas {
		f.e.Add(Sample{T: f.t, Bundle: "c", Task: fmt.Sprint(i)})
	}
	if len(f.e.areas) > mostAreas {
		t.Errorf("%d neighbourhoods", len(f.e.areas))
	}
}
