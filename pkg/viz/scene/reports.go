package scene

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
)

// Bundle is a bundle that was published or flew since the scene began.
type Bundle struct {
	ID, Parent, Robot, Task string
	Came                    time.Time       // when it was heard of, on the wall
	Published               bool            // false: only steps speak of it
	Metrics                 json.RawMessage // its scores; nil where there are none or they are no JSON object
}

// mostBundles are remembered: the oldest goes first.
const mostBundles = 200

// place is where a bundle is among those known, where it is put if need be.
func (s *Scene) place(id string) int {
	if id == "" {
		return -1
	}
	for i := len(s.bundles) - 1; i >= 0; i-- {
		if s.bundles[i].ID == id {
			return i
		}
	}
	return s.remember(Bundle{ID: id, Came: time.Now()})
}

func (s *Scene) remember(b Bundle) int {
	if len(s.bundles) == mostBundles { // numbers of rows are of a history
		s.bundles = slices.Delete(slices.Clone(s.bundles), 0, mostBundles/2)
		s.begin()
	}
	s.bundles = append(s.bundles, b)
	s.changes++
	return len(s.bundles) - 1
}

// AddBundle takes a bundle that was heard of at a moment on the wall. One that comes back after another goes to the
// end.
func (s *Scene) AddBundle(m *msgs.Bundle, now time.Time) {
	if m.ID == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := Bundle{ID: m.ID, Parent: m.Parent, Robot: m.Robot, Task: m.Task, Came: now, Published: true}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(m.MetricsJSON), &object) == nil && object != nil {
		b.Metrics = json.RawMessage(m.MetricsJSON)
	}
	if i := s.place(b.ID); !s.bundles[i].Published || i == len(s.bundles)-1 {
		s.bundles[i] = b
		s.changes++
		return
	}
	s.remember(b)
}

// Learner is what the background learner said last, and how its loss came down.
type Learner struct {
	Came        time.Time // when it was said, on the wall; zero before the first
	Phase       string
	Progress    float32
	Transitions uint64
	BundleID    string
	Message     string
	Loss        float32   // the newest that was finite
	Losses      []float32 // of this phase, oldest first, evenly thinned

	every, seen int // of so many losses one is kept
}

// mostLosses of a phase are kept at a time: then every other one.
const mostLosses = 400

func (l *Learner) clone() Learner {
	c := *l
	c.Losses = slices.Clone(l.Losses)
	return c
}

// Status takes what the learner said at a moment on the wall.
func (s *Scene) Status(m *msgs.LearnerStatus, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.learner
	if l.Phase != m.Phase || m.Progress < l.Progress || l.every == 0 {
		l.Losses, l.every, l.seen = l.Losses[:0], 1, 0
	}
	l.Came, l.Phase, l.Progress, l.Transitions, l.BundleID, l.Message = now, m.Phase, m.Progress, m.Transitions,
		m.BundleID, m.Message
	if m.Loss*0 != 0 || m.Progress == 0 { // not finite, or of no phase
		return
	}
	if l.Loss = m.Loss; l.seen%l.every == 0 {
		l.keep(m.Loss)
	}
	l.seen++
}

func (l *Learner) keep(loss float32) {
	if len(l.Losses) == mostLosses {
		for i := range mostLosses / 2 {
			l.Losses[i] = l.Losses[2*i]
		}
		l.Losses, l.every = l.Losses[:mostLosses/2], 2*l.every
	}
	l.Losses = append(l.Losses, loss)
}

// Finding is what a task of a node said of its health.
type Finding struct {
	Name    string // "policy_controller: latency"
	Level   uint8  // of diagnostic_msgs/msg/DiagnosticStatus
	Message string
	Values  []diagnosticmsgs.KeyValue
	Came    time.Time
}

const (
	mostFindings = 500
	stale        = 5 * time.Second // periods of the slowest updater
)

// AddDiagnostics takes what nodes said at a moment on the wall.
func (s *Scene) AddDiagnostics(m *diagnosticmsgs.DiagnosticArray, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range m.Status {
		d := &m.Status[i]
		if _, known := s.health[d.Name]; !known && len(s.health) == mostFindings {
			continue
		}
		s.health[d.Name] = Finding{d.Name, d.Level, d.Message, slices.Clone(d.Values), now}
	}
}

// findings are what was said, by name; what was not said again for a while is stale.
func (s *Scene) findings(now time.Time) []Finding {
	all := make([]Finding, 0, len(s.health))
	for _, f := range s.health {
		if now.Sub(f.Came) > stale {
			f.Level, f.Message = diagnosticmsgs.DiagnosticStatusStale,
				"nothing heard for "+now.Sub(f.Came).Round(time.Second).String()
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Finding) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Condition is what the encoder said last of the condition that is flown in.
type Condition struct {
	Came    time.Time // on the wall; zero before the first
	State   string    // known, new or undecided
	Message string
	ID      int             // from 1 on; 0 while it is undecided
	All     json.RawMessage // those that are remembered, a JSON array
}

// SetCondition takes what the encoder said of the condition at a moment on the wall.
func (s *Scene) SetCondition(m *diagnosticmsgs.DiagnosticStatus, now time.Time) {
	c := Condition{Came: now, Message: m.Message}
	for _, v := range m.Values {
		switch v.Key {
		case "state":
			c.State = v.Value
		case "id":
			if n, err := strconv.Atoi(v.Value); err == nil && n > 0 {
				c.ID = n
			}
		case "all":
			var array []json.RawMessage
			if json.Unmarshal([]byte(v.Value), &array) == nil {
				c.All = json.RawMessage(v.Value)
			}
		}
	}
	s.mu.Lock()
	s.cond = c
	s.mu.Unlock()
}
