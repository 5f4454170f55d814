package experiment

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// Scenario is a world in which to fly.
type Scenario struct {
	sim.World
	Name      string  // of the world
	Condition string  // in which a flight stays; empty: as scheduled
	Seconds   float64 // of the schedule, 0 without
}

// Label names the scenario in one or two words.
func (f *Scenario) Label() string { return strings.TrimSpace(f.Name + " " + f.Condition) }

// inWords names the condition, or the world where it has none of its own.
func (f *Scenario) inWords() string {
	if len(f.Conditions.Name) == 0 {
		return f.Name
	}
	return f.Condition
}

// kind names the condition that a flight begins in by the strength of its wind, or by its own name where there is
// more to it.
func (f *Scenario) kind() string {
	if i := f.first(); !f.Conditions.WindAlone(i) {
		return f.Conditions.Name[i]
	}
	return strength(f.Wind())
}

// Scenarios reads a world's file: one with a schedule is one scenario, any other has a scenario for each of its
// conditions.
func Scenarios(path string) ([]Scenario, error) {
	w, err := sim.Load(path)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if n := len(w.Schedule.Start); n > 1 {
		last := w.Schedule.Start[n-1]
		return []Scenario{{w, name, "", max(w.Schedule.Period, last+last/float64(n-1))}}, nil
	}
	var out []Scenario
	for _, condition := range w.Names() {
		one, err := w.Only(condition)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, Scenario{one, name, condition, 0})
	}
	return out, nil
}

// winds of the conditions, m/s² in the world.
func (f *Scenario) winds() (out []so3.Vec3) {
	at := func(x []float64, i int) float64 {
		if i < len(x) {
			return x[i]
		}
		return 0
	}
	c := &f.Conditions
	for i := range max(1, len(c.Name)) {
		out = append(out, so3.Vec3{X: at(c.WindX, i), Y: at(c.WindY, i), Z: at(c.WindZ, i)})
	}
	return out
}

// first is the condition that a flight begins in.
func (f *Scenario) first() int {
	name := f.Condition
	if len(f.Schedule.Condition) > 0 {
		name = f.Schedule.Condition[0]
	}
	return max(0, slices.Index(f.Conditions.Name, name))
}

// opposite reports whether the wind turns about between two conditions.
func (f *Scenario) opposite(from, to string) bool {
	w := f.winds()
	a, b := w[slices.Index(f.Conditions.Name, from)], w[slices.Index(f.Conditions.Name, to)]
	return a.Norm() > 0 && a.Add(b).Norm() < 0.1*a.Norm()
}

// quarter reports whether the wind turns by a right angle between two conditions, and keeps its strength.
func (f *Scenario) quarter(from, to string) bool {
	w := f.winds()
	a, b := w[slices.Index(f.Conditions.Name, from)], w[slices.Index(f.Conditions.Name, to)]
	return a.Norm() > 0 && math.Abs(a.Norm()-b.Norm()) < 0.1*a.Norm() && math.Abs(a.Dot(b)) < 0.1*a.Dot(a)
}

// returned is the mean error of a flight in winds that it had met before, m; false where none comes back.
func (f *Scenario) returned(t *closedloop.Trace) (mean float64, ok bool) {
	winds, met, now, back, n := f.winds(), map[string]bool{}, "", false, 0.
	for i := range t.Rows {
		r := &t.Rows[i]
		if i == 0 || r.Condition != now {
			now = r.Condition
			back = met[now] && winds[slices.Index(f.Conditions.Name, now)].Norm() > 0
			met[now] = true
		}
		if back {
			mean, n = mean+r.Error(), n+1
		}
	}
	if t.Crash != "" && n > 0 {
		return math.MaxFloat64, true
	}
	return mean / n, n > 0
}
