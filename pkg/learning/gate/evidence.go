package gate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// EvidenceConfig is what it takes to call a bundle worse than its parent in flight.
type EvidenceConfig struct {
	Radius    float64 `param:"radius" default:"0.7" min:"0.01" max:"100" doc:"distance up to which a disturbance belongs to a neighbourhood, m/s² and rad/s"`
	Seconds   float64 `param:"seconds" default:"10.0" min:"1" max:"3600" unit:"s" doc:"least time that each bundle has flown in a neighbourhood before they are compared there"`
	Most      float64 `param:"max_seconds" default:"120.0" min:"1" max:"36000" unit:"s" doc:"newest time of each bundle in a neighbourhood that counts"`
	Block     float64 `param:"block" default:"1.0" min:"0.02" max:"60" unit:"s" doc:"time over which errors are averaged, because those of neighbouring ticks are alike"`
	Settle    float64 `param:"settle" default:"1.0" min:"0" max:"60" unit:"s" doc:"time after a change of bundle, task or neighbourhood that does not count"`
	Tolerance float64 `param:"tolerance" default:"0.005" min:"0" max:"10" unit:"m" doc:"by how much more a bundle may err than its parent"`
	Relative  float64 `param:"relative_tolerance" default:"0.2" min:"0" max:"10" doc:"the same as a share of the parent's error; the larger of the two counts"`
	Level     float64 `param:"level" default:"0.95" min:"0.5" max:"0.999" doc:"level of the bootstrap interval, over all neighbourhoods compared"`
	Resamples int     `param:"resamples" default:"2000" min:"100" max:"100000" doc:"resamples of the bootstrap"`
}

// Place is where in the space of conditions a robot flew: places of different bundles must be comparable. Latents of
// two models are not; what they do to a hovering robot is, see Disturbance.
type Place [6]float64

// Sample is what a tick showed.
type Sample struct {
	T      float64 // s, ascending within a flight
	Bundle string  // ID of the bundle that flew
	Task   string
	Place  Place
	Error  float64 // distance from the reference, m
}

// Evidence gathers the errors of bundles in flight, by task and neighbourhood of the condition. It is for one
// goroutine.
type Evidence struct {
	config EvidenceConfig
	seed   uint64
	areas  []*area
	last   Sample
	begun  float64 // when the present stretch began: one bundle, task and neighbourhood without a gap
	area   *area   // of the present stretch, nil before the first
	sum    float64 // of the errors of the present block
	n      int
	block  float64 // when the present block began
}

// area is a neighbourhood: the place where it was founded, and the means of blocks by bundle, oldest first.
type area struct {
	task   string
	center Place
	blocks map[string][]float64
}

// areas beyond which the oldest is forgotten.
const mostAreas = 512

// longestGap is the time between two samples above which a stretch ends, s.
const longestGap = 0.2

// NewEvidence begins with none.
func NewEvidence(c EvidenceConfig, seed uint64) *Evidence { return &Evidence{config: c, seed: seed} }

// Add takes a sample, in the order of time. A sample that is not finite is dropped and ends the stretch.
func (e *Evidence) Add(s Sample) {
	if !s.finite() {
		e.area = nil
		return
	}
	a := e.at(s.Task, s.Place)
	gap := s.T - e.last.T
	if e.area != a || s.Bundle != e.last.Bundle || !(gap >= 0 && gap <= longestGap) {
		e.area, e.begun, e.n = a, s.T, 0
	}
	e.last = s
	if s.T-e.begun < e.config.Settle {
		return
	}
	if e.n == 0 {
		e.block, e.sum = s.T, 0
	}
	e.sum += s.Error
	e.n++
	const rounding = 1e-9
	if s.T-e.block < e.config.Block-max(gap, 0)-rounding {
		return
	}
	blocks := append(a.blocks[s.Bundle], e.sum/float64(e.n))
	if most := max(1, int(e.config.Most/e.config.Block)); len(blocks) > most {
		blocks = slices.Delete(blocks, 0, len(blocks)-most)
	}
	a.blocks[s.Bundle], e.n = blocks, 0
}

func (s *Sample) finite() bool {
	sum := s.T*0 + s.Error*0
	for _, x := range s.Place {
		sum += x * 0
	}
	return sum == 0
}

// at returns the nearest neighbourhood of a place, or founds one there.
func (e *Evidence) at(task string, p Place) *area {
	var nearest *area
	least := e.config.Radius
	for _, a := range e.areas {
		if a.task != task {
			continue
		}
		if d := p.distance(&a.center); d <= least {
			nearest, least = a, d
		}
	}
	if nearest == nil {
		nearest = &area{task, p, map[string][]float64{}}
		e.areas = append(e.areas, nearest)
		if len(e.areas) > mostAreas {
			e.areas = slices.Delete(e.areas, 0, 1)
		}
	}
	return nearest
}

func (p *Place) distance(o *Place) float64 {
	sum := 0.
	for j := range p {
		sum += (p[j] - o[j]) * (p[j] - o[j])
	}
	return math.Sqrt(sum)
}

// Keep forgets all bundles but these.
func (e *Evidence) Keep(bundles ...string) {
	for _, a := range e.areas {
		for b := range a.blocks {
			if !slices.Contains(bundles, b) {
				delete(a.blocks, b)
			}
		}
	}
	e.areas = slices.DeleteFunc(e.areas, func(a *area) bool { return len(a.blocks) == 0 && a != e.area })
}

// Finding is a comparison of a bundle with its parent in flight.
type Finding struct {
	Current  string     `json:"current"`
	Parent   string     `json:"parent"`
	Worse    bool       `json:"worse"` // in a neighbourhood at least: take it back
	Reason   string     `json:"reason"`
	Compared []Compared `json:"compared,omitempty"`
}

// Compared is a neighbourhood in which both flew for long enough.
type Compared struct {
	Task           string   `json:"task"`
	Place          Place    `json:"place"`
	CurrentSeconds float64  `json:"current_s"`
	ParentSeconds  float64  `json:"parent_s"`
	CurrentError   float64  `json:"current_error_m"`
	ParentError    float64  `json:"parent_error_m"`
	Difference     Interval `json:"difference_m"` // current − parent
	Tolerance      float64  `json:"tolerance_m"`
	Worse          bool     `json:"worse"`
}

// Compare says whether a bundle flies worse than its parent in a neighbourhood in which both flew: the lower end of the
// interval of the difference is beyond the tolerance. With several neighbourhoods to compare, the level is shared among
// them (Bonferroni), so that all of them together raise a false alarm as rarely as one.
func (e *Evidence) Compare(current, parent string) *Finding {
	f := &Finding{Current: current, Parent: parent}
	least := int(math.Ceil(e.config.Seconds/e.config.Block - 1e-9))
	var both []*area
	for _, a := range e.areas {
		if len(a.blocks[current]) >= least && len(a.blocks[parent]) >= least {
			both = append(both, a)
		}
	}
	if len(both) == 0 || current == parent {
		f.Reason = fmt.Sprintf("no neighbourhood in which %s and %s flew for %g s each", current, parent,
			e.config.Seconds)
		return f
	}
	level := 1 - (1-e.config.Level)/float64(len(both))
	for i, a := range both {
		f.Compared = append(f.Compared, e.compare(a, current, parent, level, uint64(i)))
	}
	worst := slices.MaxFunc(f.Compared, func(a, b Compared) int {
		return cmp.Compare(a.Difference.Low-a.Tolerance, b.Difference.Low-b.Tolerance)
	})
	f.Worse = worst.Worse
	verdict := "is not shown to err more than"
	if f.Worse {
		verdict = "errs more than"
	}
	f.Reason = fmt.Sprintf("%s %s its parent %s: %.4f m over %.0f s and %.4f m over %.0f s in the same neighbourhood of %s, a difference of %.4f m (%.4g %% interval %.4f to %.4f, %.4f allowed)",
		current, verdict, parent, worst.CurrentError, worst.CurrentSeconds, worst.ParentError, worst.ParentSeconds,
		worst.Task,
		worst.Difference.Mean, 100*level, worst.Difference.Low, worst.Difference.High, worst.Tolerance)
	return f
}

// runOfBlocks is how many blocks are drawn together: gusts last longer than one.
const runOfBlocks = 3

func (e *Evidence) compare(a *area, current, parent string, level float64, stream uint64) Compared {
	x, y := a.blocks[current], a.blocks[parent]
	c := Compared{Task: a.task, Place: a.center, CurrentSeconds: float64(len(x)) * e.config.Block,
		ParentSeconds: float64(len(y)) * e.config.Block,
		CurrentError:  mean(x), ParentError: mean(y)}
	c.Difference = BootstrapDifference(x, y, runOfBlocks, level, e.config.Resamples,
		rand.New(rand.NewPCG(e.seed, stream)))
	c.Tolerance = max(e.config.Tolerance, e.config.Relative*c.ParentError)
	c.Worse = c.Difference.Low > c.Tolerance
	return c
}
