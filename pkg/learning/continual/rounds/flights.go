package rounds

import (
	"maps"
	"slices"
	"sync"

	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
)

// mostFlown is how many stretches of a robot are kept.
const mostFlown = 8

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
	begun  int64 // that of the first row of the stretch that is not over
	bundle string
	task   string
	open   quadgate.Stretch
	ended  []ended // oldest first
}

type ended struct {
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
	flies := t.Policy && t.Task != task.Land && t.Row.Finite() &&
		t.Reference.P.Finite() && t.Reference.V.Finite() && t.Reference.Yaw*0 == 0
	late := float64(t.Stamp-r.begun)/1e9 - float64(len(r.open.Rows))*f.dt
	goesOn := flies && t.Bundle == r.bundle && t.Task == r.task && late < f.dt/2 && t.Stamp > r.newest
	switch r.newest = t.Stamp; {
	case !goesOn:
		*r = robotFlights{t.Stamp, t.Stamp, t.Bundle, t.Task, quadgate.Stretch{Dt: f.dt}, r.ended}
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
		all := append(r.ended, ended{r.bundle, r.open})
		*r = robotFlights{ended: all[max(0, len(all)-mostFlown):]}
	}
}

// by returns the stretches of a bundle, of all robots, oldest first.
func (f *flights) by(bundle string) (out []quadgate.Stretch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, robot := range slices.Sorted(maps.Keys(f.of)) {
		for _, e := range f.of[robot].ended {
			if e.bundle == bundle {
				out = append(out, e.Stretch)
			}
		}
	}
	return out
}
