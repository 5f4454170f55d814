package rounds

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
)

const (
	mostFlown   = 8   // stretches of a robot that are kept
	oldestFlown = 600 // s; a robot that was mended since is another one
)

// flights keeps the newest stretches that policies have flown, as the controllers showed them. Any goroutine may call
// its methods.
type flights struct {
	dt float64
	mu sync.Mutex
	of map[string]*robotFlights // by robot
}

// robotFlights are those of a robot.
type robotFlights struct {
	newest int64 // stamp of the newest tick, ns
	flew   bool  // the guard let the policy fly
	begun  int64 // that of the first row of the stretch that is not over
	bundle string
	task   string
	open   quadgate.Stretch
	ended  []ended // oldest first
}

type ended struct {
	at     int64 // stamp of its last tick, ns
	bundle string
	quadgate.Stretch
}

func newFlights(dt float64) *flights { return &flights{dt: dt, of: map[string]*robotFlights{}} }

// add takes a tick. One that comes well before the next row is passed over. No other flight can repeat a landing.
func (f *flights) add(t *ControllerTick) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.of[t.Robot]
	if r == nil {
		r = &robotFlights{}
		f.of[t.Robot] = r
	}
	flies := t.Whole && t.Task != task.Land && t.Row.Finite() &&
		t.Reference.P.Finite() && t.Reference.V.Finite() && t.Reference.Yaw*0 == 0
	late := float64(t.Stamp-r.begun)/1e9 - float64(len(r.open.Rows))*f.dt
	goesOn := flies && t.Bundle == r.bundle && t.Task == r.task && late < 0.75*f.dt && t.Stamp > r.newest
	if r.flew && !t.Policy {
		r.end(t.Stamp, quadgate.Stretch{Tripped: true})
	}
	switch r.newest, r.flew = t.Stamp, t.Policy; {
	case !goesOn:
		r.begun, r.bundle, r.task, r.open = t.Stamp, t.Bundle, t.Task, quadgate.Stretch{Dt: f.dt}
	case late < -0.3*f.dt:
		return
	}
	if !flies {
		return
	}
	row := t.Row
	row.T = float64(len(r.open.Rows)) * f.dt
	r.open.Rows, r.open.Reference = append(r.open.Rows, row), append(r.open.Reference, t.Reference)
	if row.T >= quadgate.StretchTime {
		r.end(t.Stamp, r.open)
	}
}

// end ends a stretch, of which the newest are kept.
func (r *robotFlights) end(at int64, s quadgate.Stretch) {
	r.ended = append(r.ended, ended{at, r.bundle, s})
	r.ended = r.ended[max(0, len(r.ended)-mostFlown):]
	r.open = quadgate.Stretch{}
}

// by returns the newest stretches of a bundle, of all robots, oldest first.
func (f *flights) by(bundle string) (out []quadgate.Stretch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []ended
	newest := int64(math.MinInt64)
	for _, robot := range slices.Sorted(maps.Keys(f.of)) {
		r := f.of[robot]
		newest, all = max(newest, r.newest), append(all, r.ended...)
	}
	slices.SortStableFunc(all, func(a, b ended) int { return cmp.Compare(a.at, b.at) })
	for _, e := range all {
		if e.bundle == bundle && float64(newest-e.at)/1e9 < oldestFlown {
			out = append(out, e.Stretch)
		}
	}
	return out[max(0, len(out)-mostFlown):]
}
