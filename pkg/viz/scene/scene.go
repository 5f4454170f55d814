// Package scene keeps what there is to see of a flight while it goes on: the last minutes of ticks, what the learned
// model imagined beside what was then flown, latents, bundles, the learner, the health of the nodes. Package markers
// draws it for rviz, package web for a browser.
//
// It takes messages and knows no middleware. Stamps are ns of the flight's clock, as steps have them.
package scene

import (
	"math"
	"sync"
	"time"

	"vnd/msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// MaxLatent is how many numbers of a latent are kept; those beyond are not shown.
const MaxLatent = 16

// TickRow is a tick, as much as there is to see of it. Vectors are in the world.
type TickRow struct {
	Stamp      int64 // of State, ns
	State      quad.State
	Goal       so3.Vec3     // p_W of the reference, m; NaN where the step has none
	Sent       quad.Command // after the guard
	Acting     float64      // thrust that the model believes to act, m/s²
	Residual   so3.Vec3     // acceleration that actuator and gravity do not explain, m/s²; NaN where unknown
	Stage      guard.Stage
	Confidence float32
	Novelty    float32 // of the newest latent; NaN before the first
	Bundle     int     // place in Now.Bundles of the bundle that flew; −1 for none
	Condition  int     // number that the encoder gives the condition; 0 for none
	Z          int     // size of the latent; 0 where the policy flew under the prior mean
	Latent     [MaxLatent]float32
}

// Error is how far the vehicle is from the reference, m.
func (r *TickRow) Error() float64 { return r.State.P.Sub(r.Goal).Norm() }

// Config of a Scene.
type Config struct {
	History float64 // s, how long rows are kept
	Rate    float64 // Hz of the ticks
	Horizon float64 // s, of what is imagined
}

// Spacing of the rows that are kept, s: nobody sees more.
const spacing = 0.02

// Scene is what is known now. Its methods may be called from any goroutine.
type Scene struct {
	cfg Config

	mu       sync.Mutex
	rows     ring
	epoch    uint64 // how often the history began anew
	first    int64  // stamp of the first row of this history
	seq      uint64 // expected
	lost     uint64
	steps    uint64
	frame    string
	task     string
	novelty  float32
	path     []so3.Vec3
	paths    uint64
	bundles  []Bundle
	changes  uint64 // of the bundles
	learner  Learner
	cond     Condition
	health   map[string]Finding
	latency  latencies
	models   []*predictor // newest last
	flies    *predictor   // of the bundle that flies; nil where it has none
	imagined []Prediction
	imagines uint64
	plane    *Plane
}

// New makes an empty scene.
func New(c Config) *Scene {
	return &Scene{cfg: c, rows: newRing(int(math.Ceil(c.History / spacing))), novelty: float32(math.NaN()),
		health: map[string]Finding{}}
}

// Step takes a tick and reports whether it became a row. source is when it was sent, ns on the system's clock.
func (s *Scene) Step(m *msgs.Step, source int64) bool {
	pose, command := bridge.FromStep(m), bridge.CommandFromStep(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps++
	last := s.rows.last()
	switch {
	case last != nil && pose.Stamp < last.Stamp:
		s.begin()
		last = nil
	case s.seq != 0 && m.Seq > s.seq:
		s.lost += m.Seq - s.seq
	}
	s.seq, s.frame, s.task = m.Seq+1, m.Header.FrameID, m.Task
	s.latency.step(pose.Stamp, source)
	notOffboard := guard.Stage(m.GuardState) == guard.NotOffboard
	if s.flies = s.predictor(m.BundleID); s.flies != nil && notOffboard { // its command was not flown
		s.flies.forget()
	} else if s.flies != nil {
		b := s.flies
		b.push(quad.Row{T: float64(pose.Stamp-b.origin(pose.Stamp)) / 1e9, State: pose.State,
			Command: command.Command}, s.cfg.Rate)
	}
	if last != nil && float64(pose.Stamp-last.Stamp) < (spacing-0.5/s.cfg.Rate)*1e9 {
		return false
	}
	if last == nil {
		s.first = pose.Stamp
		s.epoch++
	}
	r := s.rows.next()
	*r = TickRow{Stamp: pose.Stamp, State: pose.State, Goal: goal(m), Sent: command.Command, Acting: m.Actuator[0],
		Stage:      guard.Stage(m.GuardState),
		Confidence: m.Confidence, Novelty: s.novelty, Bundle: s.place(m.BundleID), Condition: s.cond.ID}
	if bridge.Nanoseconds(m.LatentStamp) != 0 {
		r.Z = copy(r.Latent[:], m.Latent)
	}
	if !notOffboard {
		r.Residual = s.rows.residual()
	}
	return true
}

// begin starts the history anew: the flight's clock was set back.
func (s *Scene) begin() {
	s.rows.clear()
	s.epoch++
	s.seq, s.imagined, s.plane = 0, nil, nil
	s.novelty = float32(math.NaN())
	for _, m := range s.models {
		m.forget()
	}
}

func goal(m *msgs.Step) so3.Vec3 {
	if len(m.Reference) < 3 {
		return so3.Vec3{X: math.NaN(), Y: math.NaN(), Z: math.NaN()}
	}
	return so3.Vec3{X: m.Reference[0], Y: m.Reference[1], Z: m.Reference[2]}
}

// Latent takes what the encoder said.
func (s *Scene) Latent(m *msgs.Latent) {
	s.mu.Lock()
	s.novelty = m.Novelty
	s.mu.Unlock()
}

// Sample notes when a sample of motion capture was sent: how long after it its step was is the latency.
func (s *Scene) Sample(stamp, source int64) {
	s.mu.Lock()
	s.latency.sample(stamp, source)
	s.mu.Unlock()
}

// mostPoints of a reference are shown.
const mostPoints = 2000

// Path takes the reference.
func (s *Scene) Path(m *navmsgs.Path) {
	path := make([]so3.Vec3, 0, min(len(m.Poses), mostPoints))
	for i := range m.Poses[:min(len(m.Poses), mostPoints)] {
		p := &m.Poses[i].Pose.Position
		path = append(path, so3.Vec3{X: p.X, Y: p.Y, Z: p.Z})
	}
	s.mu.Lock()
	s.path = path
	s.paths++
	s.mu.Unlock()
}

// Snapshot is what a look at the scene finds besides rows. Its slices are nobody else's, or never written to again.
type Snapshot struct {
	Epoch     uint64 // of the history
	First     int64  // stamp of its first row, ns
	Steps     uint64 // ticks heard
	Lost      uint64 // ticks lost on the way
	Frame     string // name of the world's frame
	Task      string
	Path      []so3.Vec3 // of the reference
	Paths     uint64     // how many there were
	Bundles   []Bundle   // oldest first
	Changes   uint64     // of the bundles, how many there were
	Learner   Learner
	Condition Condition
	Health    []Finding
	Latency   Latency
	Imagined  []Prediction // oldest first
	Imagines  uint64       // how many there were
	Plane     *Plane       // nil before there is one
}

// Snapshot tells what there is at a moment on the wall.
func (s *Scene) Snapshot(now time.Time) Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Snapshot{Epoch: s.epoch, First: s.first, Steps: s.steps, Lost: s.lost, Frame: s.frame, Task: s.task,
		Path: s.path, Paths: s.paths,
		Bundles: append([]Bundle(nil), s.bundles...), Changes: s.changes, Learner: s.learner.clone(), Condition: s.cond,
		Health: s.findings(now), Latency: s.latency.look(),
		Imagined: append([]Prediction(nil), s.imagined...), Imagines: s.imagines, Plane: s.plane}
}

// Newest is the newest row, with its task and the name of the world's frame; false before the first.
func (s *Scene) Newest() (r TickRow, task, frame string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.rows.last(); last != nil {
		return *last, s.task, s.frame, true
	}
	return TickRow{}, "", "", false
}

// Since appends to out copies of the rows after number n of history `epoch`, oldest first, and returns the number to
// ask after next. Rows have numbers from 1 on; those that are gone are left out. Of another history it returns false:
// begin with n = 0.
func (s *Scene) Since(epoch, n uint64, out []TickRow) (rows []TickRow, next uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch != s.epoch {
		return out, n, false
	}
	return s.rows.since(n, out), s.rows.count, true
}

// Begin appends to out what a viewer of history `epoch` begins with: of the last `total` seconds the last `whole` ones,
// and of every n rows before them only the one that is furthest from the reference. It returns the number to ask Since
// with.
func (s *Scene) Begin(epoch uint64, total, whole float64, n int, out []TickRow) (rows []TickRow, next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.rows.last()
	if epoch != s.epoch || last == nil {
		return out, 0
	}
	from := last.Stamp - int64(whole*1e9)
	out = s.rows.thinned(last.Stamp-int64(total*1e9), from, n, out)
	return s.rows.thinned(from, math.MaxInt64, 1, out), s.rows.count
}

// Last appends the rows of the last `seconds`, thinned as Begin has it.
func (s *Scene) Last(seconds float64, n int, out []TickRow) []TickRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.rows.last(); last != nil {
		out = s.rows.thinned(last.Stamp-int64(seconds*1e9), math.MaxInt64, n, out)
	}
	return out
}
