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

// flights keeps the newest stretches that policies have flown, by what the controllers showed. Its methods may be called
// from any goroutine.
type flights struct {
	dt float64
	mu sync.Mutex
	of map[string]*robotFlights // by robot
}

// robotFlights are those of a robot.
type robotFlights struct {
	taken  int64  // stamp of the newest row, ns
	bundle string // of the stretch that is not over
	task   string
	open   quadgate.Stretch
	ended  []ended // oldest first
}

type ended struct {
	bundle string
	quadgate.Stretch
}

func newFlights(dt float64) *flights { return &flights{dt: dt, of: map[string]*robotFlights{}} }

// add takes a tick. Ticks between two rows are passed over. A landing is none that another flight can repeat.
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
	apart := float64(t.Stamp-r.taken) / 1e9
	goesOn := flies && t.Bundle == r.bundle && t.Task == r.task && apart > 0 && apart < 1.5*f.dt
	switch {
	case goesOn && apart < 0.75*f.dt:
		return
	case !goesOn:
		r.bundle, r.task, r.open = t.Bundle, t.Task, quadgate.Stretch{Dt: f.dt}
	}
	if r.taken = t.Stamp; !flies {
		return
	}
	row := t.Row
	row.T = float64(len(r.open.Rows)) * f.dt
	r.open.Rows, r.open.Reference = append(r.open.Rows, row), append(r.open.Reference, t.Reference)
	if row.T >= quadgate.StretchTime {
		r.ended = append(r.ended, ended{r.bundle, r.open})
		r.ended = r.ended[max(0, len(r.ended)-mostFlown):]
		r.open = quadgate.Stretch{Dt: f.dt}
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
