package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/so3"
	"vnd/pkg/sim/closedloop"
)

// MethodRow is a method in the table of some seeds: each figure is the median over the seeds.
type MethodRow struct {
	Name    string             `json:"name"`
	Errors  map[string]float64 `json:"errors_m"` // by Column; math.MaxFloat64: a crash
	Crashes int                `json:"crashes"`  // in all seeds
	Turns   *Turns             `json:"turns,omitempty"`
	Quarter *Turns             `json:"quarter,omitempty"` // where the wind turned by a right angle
	Returns map[string]float64 `json:"returns,omitempty"` // errors in winds that came back, by task and scenario
	Learned float64            `json:"learned_s"`
	// Landed of Landings, in all seeds: of a landing the error is where it ended.
	Landed   int `json:"landed,omitempty"`
	Landings int `json:"landings,omitempty"`
}

// Turn is a switch that a method came through.
type Turn struct {
	Task     string `json:"task"`
	Opposite bool   `json:"opposite"` // the wind turned about
	Quarter  bool   `json:"quarter"`  // the wind turned by a right angle
	closedloop.Recovery
}

// Return is how a method flew in the winds of a schedule that came back.
type Return struct {
	Task     string  `json:"task"`
	Scenario string  `json:"scenario"`
	Mean     float64 `json:"mean_m"` // math.MaxFloat64: a crash
}

// Turns sums up the recoveries after the wind turned about while tracking, medians over all turns and seeds.
type Turns struct {
	N        int     `json:"n"`
	Literal  float64 `json:"t_rec_s"`
	Wide     float64 `json:"t_rec_2cm_s"`
	Zero     float64 `json:"zero"` // share of turns that never left ε + 2 cm
	Never    float64 `json:"never"`
	Peak     float64 `json:"peak_m"`
	Envelope float64 `json:"envelope_m"`
}

// Column of the table: a task in conditions of a kind, in all that were learned in, or in those that were not.
func Column(task, kind string) string { return task + ", " + kind }

// Columns of a study, in their order.
func (s *Study) Columns() (out []string) {
	for _, k := range s.tasks() {
		for _, kind := range s.kinds() {
			out = append(out, Column(k, kind))
		}
		out = append(out, Column(k, "all"))
		if slices.ContainsFunc(s.Methods[0].Flown, func(f Flown) bool { return f.Unseen }) {
			out = append(out, Column(k, "unseen"))
		}
	}
	return out
}

func (s *Study) tasks() (out []string) {
	for _, f := range s.Methods[0].Flown {
		if !slices.Contains(out, f.Task) {
			out = append(out, f.Task)
		}
	}
	return out
}

// strength names winds.
func strength(wind float64) string { return fmt.Sprintf("%.1f m/s²", wind) }

// kinds of the scenarios that were learned in: the winds by their strength, then what is more than a wind.
func (s *Study) kinds() (out []string) {
	flown := slices.Clone(s.Methods[0].Flown)
	more := func(f *Flown) bool { return f.Kind != strength(f.Wind) }
	slices.SortStableFunc(flown, func(a, b Flown) int {
		switch {
		case more(&a) == more(&b):
			return cmp.Compare(a.Wind, b.Wind)
		case more(&b):
			return -1
		}
		return 1
	})
	for _, f := range flown {
		if !f.Unseen && !slices.Contains(out, f.Kind) {
			out = append(out, f.Kind)
		}
	}
	return out
}

// Summary is the table of some seeds of one study.
func Summary(seeds []*Study) (rows []MethodRow) {
	for i := range seeds[0].Methods {
		r := MethodRow{Name: seeds[0].Methods[i].Name, Errors: map[string]float64{}}
		of := map[string][]float64{}
		var took []float64
		var turns, quarters []Turn
		returns := map[string][]float64{}
		for _, s := range seeds {
			m := &s.Methods[i]
			for name, e := range m.errors() {
				of[name] = append(of[name], e)
			}
			for _, f := range m.Flown {
				if f.Figures.Crash != "" {
					r.Crashes++
				}
				if l := f.Landings; l != nil {
					r.Landed, r.Landings = r.Landed+l.Landed, r.Landings+l.Flights
				}
			}
			r.Crashes += m.Crashed
			took = append(took, m.Learned)
			for _, t := range m.Turns {
				switch {
				case t.Task != seeds[0].turned():
				case t.Opposite:
					turns = append(turns, t)
				case t.Quarter:
					quarters = append(quarters, t)
				}
			}
			for _, b := range m.Returns {
				name := Column(b.Task, b.Scenario)
				returns[name] = append(returns[name], b.Mean)
			}
		}
		for name, e := range of {
			r.Errors[name] = Median(e)
		}
		r.Learned, r.Turns, r.Quarter = Median(took), sum(turns), sum(quarters)
		r.Returns = map[string]float64{}
		for name, e := range returns {
			r.Returns[name] = Median(e)
		}
		rows = append(rows, r)
	}
	return rows
}

// turned is the task whose turns are summed up: the last.
func (s *Study) turned() string { k := s.tasks(); return k[len(k)-1] }

// errors are the mean errors of a method by column, math.MaxFloat64 where it crashed.
func (m *Measured) errors() map[string]float64 {
	total, n := map[string]float64{}, map[string]float64{}
	for _, f := range m.Flown {
		columns := []string{Column(f.Task, f.Kind), Column(f.Task, "all")}
		if f.Unseen {
			columns = []string{Column(f.Task, "unseen")}
		}
		e := f.Figures.Mean
		if f.Figures.Crash != "" {
			e = math.Inf(1)
		}
		for _, c := range columns {
			total[c] += e
			n[c]++
		}
	}
	for c := range total {
		total[c] = min(total[c]/n[c], math.MaxFloat64)
	}
	return total
}

func sum(turns []Turn) *Turns {
	if len(turns) == 0 {
		return nil
	}
	t := &Turns{N: len(turns)}
	of := func(figure func(Turn) float64) float64 {
		var x []float64
		for _, r := range turns {
			x = append(x, figure(r))
		}
		return Median(x)
	}
	t.Literal, t.Wide = of(func(r Turn) float64 { return r.Literal }), of(func(r Turn) float64 { return r.Wide })
	t.Peak, t.Envelope = of(func(r Turn) float64 { return r.Peak }), of(func(r Turn) float64 { return r.Envelope })
	for _, r := range turns {
		if r.Wide == 0 {
			t.Zero += 1 / float64(len(turns))
		}
		if r.Wide == math.MaxFloat64 {
			t.Never += 1 / float64(len(turns))
		}
	}
	return t
}

// Median of x, which stays as it is. A crash, math.MaxFloat64, has no mean with another one.
func Median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	if upper := s[len(s)/2]; upper == math.MaxFloat64 {
		return upper
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Winds are the true ones of the scenarios that are learned in, m/s² in the world.
func (p *Plan) Winds() (out []so3.Vec3) {
	for i := range p.Scenarios {
		out = append(out, p.Scenarios[i].winds()[p.Scenarios[i].first()])
	}
	return out
}
