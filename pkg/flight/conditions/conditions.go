// Package conditions remembers the conditions that a robot was flown in: latents that stay near one another are one,
// which was seen before or is new. People name them afterwards. They are kept in a file, each with windows of flight,
// so that a bundle whose latents mean something else finds them again.
//
// Shapes: Z latent, T window rows.
package conditions

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"vnd/pkg/core/quad"
)

// Config of a Memory. Radius and time were chosen on flights in five winds: means over 3 s of a hover under one wind
// are within 0.1 of each other, of a figure-eight under one wind within 0.7, of both within 1.5, while winds of 3 m/s²
// from other directions are 3.3 to 9 away, and 0.7 m/s² is 1.2 from calm and taken for it.
type Config struct {
	Radius float64 `param:"radius" default:"2.5" min:"0.01" max:"100" read_only:"true" doc:"distance of mean latents from a condition's center up to which they are of it"`
	Time   float64 `param:"time" default:"3.0" min:"0.5" max:"60" unit:"s" read_only:"true" doc:"time over which latents are averaged; what lasts shorter is not noticed"`
}

// Encode turns windows of T+1 rows into latents, [N][Z], by the bundle that flies.
type Encode func(windows [][]quad.Row) [][]float64

// Condition is one that was flown in.
type Condition struct {
	ID      int          `json:"id"` // from 1 on, for good
	Name    string       `json:"name"`
	Visits  int          `json:"visits"`
	Seconds float64      `json:"seconds"` // flown in it
	Bundle  string       `json:"bundle"`  // of Center
	Center  []float64    `json:"middle"`  // [Z] mean latent
	Windows [][]quad.Row `json:"windows"` // a few that are typical, to be read by other bundles
}

// Label is what people call it.
func (c *Condition) Label() string {
	if c.Name != "" {
		return c.Name
	}
	return "condition " + strconv.Itoa(c.ID)
}

// State of the present flight.
type State uint8

// States.
const (
	Undecided  State = iota // the latent moves, or not enough of it has come
	FirstVisit              // on its first visit
	Known                   // seen before
)

// String names the state.
func (s State) String() string { return [...]string{"undecided", "new", "known"}[s] }

// Bounds of the memory.
const (
	maxConditions = 100
	maxWindows    = 8
	maxName       = 60
)

// Memory is for one goroutine.
type Memory struct {
	config Config
	robot  string
	path   string // "" keeps nothing
	all    []*Condition
	dirty  bool

	bundle string
	encode Encode
	rate   float64 // rows per second

	ring         [][]float64 // [n][Z] newest latents
	next         int
	filled       bool
	older        []float64 // sums over the older and the newer half of the ring
	newer        []float64
	last         float64 // time of the newest row, s
	unknownSince float64 // since when the mean is steady and of no condition, s

	current  *Condition // nil: undecided
	previous *Condition // the one before it was undecided
	state    State
	distance float64 // of the mean from the nearest center
}

// New makes a memory for a robot, of the file at path where there is one.
func New(c Config, robot, path string) (*Memory, error) {
	m := &Memory{config: c, robot: robot, path: path, last: math.NaN(), unknownSince: math.NaN()}
	if path == "" {
		return m, nil
	}
	return m, m.read()
}

// Use reads by another bundle from now on, whose rows come every dt s and whose latents have Z numbers. Centers of
// other bundles are made anew of the windows.
func (m *Memory) Use(bundle string, dt float64, encode Encode) {
	if bundle == m.bundle {
		return
	}
	m.bundle, m.encode, m.rate = bundle, encode, 1/dt
	for _, c := range m.all {
		m.updateCenter(c)
	}
	m.resetAverage()
	m.previous, m.current, m.state = m.current, nil, Undecided
}

// updateCenter sees to it that a condition has a center of the present bundle.
func (m *Memory) updateCenter(c *Condition) {
	if c.Bundle == m.bundle || len(c.Windows) == 0 {
		return
	}
	z := m.encode(c.Windows)
	if len(z) == 0 {
		return
	}
	c.Bundle, c.Center = m.bundle, make([]float64, len(z[0]))
	for _, one := range z {
		for j, x := range one {
			c.Center[j] += x / float64(len(z))
		}
	}
	m.dirty = true
}

// resetAverage begins the average anew.
func (m *Memory) resetAverage() {
	m.ring, m.next, m.filled, m.older, m.newer = nil, 0, false, nil, nil
	m.unknownSince = math.NaN()
}

// Push takes the latent of the row at time t (s), with the window that it was read from where one is at hand, and
// reports whether the state or the condition changed.
func (m *Memory) Push(t float64, z []float32, window []quad.Row) bool {
	if gap := t - m.last; !(gap >= 0 && gap <= m.config.Time) {
		m.resetAverage()
	}
	dt := t - m.last
	if !(dt >= 0 && dt < 1) {
		dt = 0
	}
	m.last = t
	m.add(z)
	before, state := m.current, m.state
	m.decide(t)
	if m.current != nil {
		m.accumulate(dt, window)
	}
	return m.current != before || m.state != state
}

// add takes a latent into the two halves of the ring.
func (m *Memory) add(z []float32) {
	if m.ring == nil || len(m.older) != len(z) {
		n := max(2, 2*int(m.config.Time*m.rate/2+0.5))
		m.ring, m.next, m.filled = make([][]float64, n), 0, false
		for i := range m.ring {
			m.ring[i] = make([]float64, len(z))
		}
		m.older, m.newer = make([]float64, len(z)), make([]float64, len(z))
	}
	n := len(m.ring)
	oldest, middle := m.ring[m.next], m.ring[(m.next+n/2)%n]
	for j, x := range z {
		m.older[j] += middle[j] - oldest[j]
		m.newer[j] += float64(x) - middle[j]
		oldest[j] = float64(x)
	}
	m.next = (m.next + 1) % n
	m.filled = m.filled || m.next == 0
}

// decide says which condition is flown in.
func (m *Memory) decide(t float64) {
	if !m.filled {
		m.setUndecided()
		return
	}
	half := float64(len(m.ring)) / 2
	moved, mean := 0.0, make([]float64, len(m.older))
	for j := range mean {
		d := (m.newer[j] - m.older[j]) / half
		moved += d * d
		mean[j] = (m.newer[j] + m.older[j]) / (2 * half)
	}
	nearest := m.nearest(mean)
	const keep = 1.25 // the present one is left a bit later than another is entered
	switch radius := m.config.Radius; {
	case m.current != nil && distance(mean, m.current.Center) < keep*radius && nearest == m.current:
		m.unknownSince = math.NaN()
	case math.Sqrt(moved) > radius:
		m.unknownSince = math.NaN()
		m.setUndecided()
	case nearest != nil && m.distance < radius:
		m.unknownSince = math.NaN()
		m.enter(nearest)
	case math.IsNaN(m.unknownSince):
		m.setUndecided()
		m.unknownSince = t
	case t-m.unknownSince >= m.config.Time/2 && len(m.all) < maxConditions:
		m.discover(mean)
	}
}

// nearest is the condition with the center closest to a mean; nil for none. It leaves the distance in m.distance.
func (m *Memory) nearest(mean []float64) (best *Condition) {
	m.distance = math.Inf(1)
	for _, c := range m.all {
		if c.Bundle == m.bundle && len(c.Center) == len(mean) {
			if d := distance(mean, c.Center); d < m.distance {
				m.distance, best = d, c
			}
		}
	}
	return best
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for j := range a {
		sum += (a[j] - b[j]) * (a[j] - b[j])
	}
	return math.Sqrt(sum)
}

// setUndecided is undecided from now on.
func (m *Memory) setUndecided() {
	if m.current != nil {
		m.previous, m.current = m.current, nil
	}
	m.state = Undecided
}

// enter is in a condition from now on: on another visit, unless it was only undecided in between.
func (m *Memory) enter(c *Condition) {
	if c == m.current {
		return
	}
	if m.current != nil || m.previous != c {
		c.Visits++
		m.dirty = true
	}
	m.current, m.previous = c, c
	m.state = Known
	if c.Visits == 1 {
		m.state = FirstVisit
	}
}

// discover makes a condition of a mean that is far from all others.
func (m *Memory) discover(mean []float64) {
	id := 1
	for _, c := range m.all {
		id = max(id, c.ID+1)
	}
	c := &Condition{ID: id, Bundle: m.bundle, Center: slices.Clone(mean)}
	m.all = append(m.all, c)
	m.distance, m.unknownSince = 0, math.NaN()
	m.enter(c)
}

// accumulate counts the time in the present condition and keeps windows of it.
func (m *Memory) accumulate(dt float64, window []quad.Row) {
	c := m.current
	c.Seconds += dt
	m.dirty = m.dirty || dt > 0
	if window != nil && len(c.Windows) < maxWindows {
		c.Windows = append(c.Windows, slices.Clone(window))
	}
}

// Current is the present condition, nil while undecided, and the state. The condition is the memory's own.
func (m *Memory) Current() (*Condition, State) { return m.current, m.state }

// Distance is that of the mean latent from the nearest condition's center; +Inf without any.
func (m *Memory) Distance() float64 { return m.distance }

// All are the conditions, by their numbers.
func (m *Memory) All() []*Condition { return m.all }

// Name names a condition: "NUMBER: NAME", or "NAME" for the present one.
func (m *Memory) Name(text string) (string, error) {
	c, name := m.current, strings.TrimSpace(text)
	if number, rest, ok := strings.Cut(text, ":"); ok {
		if id, err := strconv.Atoi(strings.TrimSpace(number)); err == nil {
			name = strings.TrimSpace(rest)
			i := slices.IndexFunc(m.all, func(c *Condition) bool { return c.ID == id })
			if i < 0 {
				return "", fmt.Errorf("there is no condition %d, expected one of 1 to %d", id, len(m.all))
			}
			c = m.all[i]
		}
	}
	switch {
	case name == "" || len(name) > maxName:
		return "", fmt.Errorf("a name of %d bytes, expected 1 to %d", len(name), maxName)
	case c == nil:
		return "", fmt.Errorf("the present condition is not decided on: name one by its number, as in \"3: %s\"", name)
	}
	c.Name, m.dirty = name, true
	return fmt.Sprintf("condition %d is %s", c.ID, name), m.Save()
}
