package demo

import (
	"sort"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim/closedloop"
)

// Record is what came over the wire.
type Record struct {
	Steps    []FlownStep
	Truth    []Truth
	Winds    []Wind
	Bundles  []Bundle
	Learning []Learning
	Segments []time.Time // when the buffer grew

	sent     map[int64]int64   // when a sample was published, by its stamp, ns
	commands []command         // in the order in which they came
	gauges   map[string]string // newest values of /diagnostics by "node: task: key"
}

// FlownStep is one tick of the controller.
type FlownStep struct {
	Stamp     int64 // of its state, ns
	Seq       uint64
	Reference so3.Vec3 // p_W, m
	Latent    []float32
	Bundle    string
	Guarded   bool // the guard flew, not the policy
}

// latent is that of a tick; none where the policy flew under the prior mean, 0, because nothing was known.
func (s *FlownStep) latent() (z []float64) {
	known := false
	for _, x := range s.Latent {
		z, known = append(z, float64(x)), known || x != 0
	}
	if !known {
		return nil
	}
	return z
}

// Truth is where the vehicle was, which no node is told.
type Truth struct {
	Stamp int64 // ns
	P     so3.Vec3
}

// Wind is the condition that set in with a stamp.
type Wind struct {
	Stamp int64 // ns
	Name  string
}

// Bundle is one that the learner published.
type Bundle struct {
	ID, Parent string
	At         time.Time // when it came here
	Flew       time.Time // when its first step came here; zero for never
}

// Learning is what the learner said of itself, when that was another phase than before.
type Learning struct {
	At      time.Time
	Phase   string
	Rows    uint64
	Message string
}

// command is when the command for a sample went out.
type command struct{ stamp, sent int64 } // ns

// began is the stamp with which the flight's time is 0.
func (r *Record) began() int64 {
	if len(r.Winds) > 0 {
		return r.Winds[0].Stamp
	}
	return 0
}

// seconds since the flight began.
func (r *Record) seconds(stamp int64) float64 { return float64(stamp-r.began()) / 1e9 }

// at is where the vehicle was at a stamp; false outside what is known. Neighbours are 10 ms apart.
func (r *Record) at(stamp int64) (so3.Vec3, bool) {
	const widest = int64(100 * time.Millisecond)
	k := sort.Search(len(r.Truth), func(i int) bool { return r.Truth[i].Stamp >= stamp })
	if k == len(r.Truth) || r.Truth[k].Stamp != stamp && k == 0 {
		return so3.Vec3{}, false
	}
	b := &r.Truth[k]
	if b.Stamp == stamp {
		return b.P, true
	}
	a := &r.Truth[k-1]
	if b.Stamp-a.Stamp > widest {
		return so3.Vec3{}, false
	}
	share := float64(stamp-a.Stamp) / float64(b.Stamp-a.Stamp)
	return a.P.Add(b.P.Sub(a.P).Scale(share)), true
}

// wind is the index of the condition in force at a stamp, −1 before the first.
func (r *Record) wind(stamp int64) int {
	return sort.Search(len(r.Winds), func(i int) bool { return r.Winds[i].Stamp > stamp }) - 1
}

// row is a tick with what was true.
type row struct {
	closedloop.TraceRow
	step *FlownStep
	wind int // index of Winds
}

// rows are the ticks whose truth is known, in order.
func (r *Record) rows() (out []row) {
	for i := range r.Steps {
		s := &r.Steps[i]
		p, known := r.at(s.Stamp)
		w := r.wind(s.Stamp)
		if !known || w < 0 || i > 0 && s.Stamp <= r.Steps[i-1].Stamp {
			continue
		}
		out = append(out, row{step: s, wind: w, TraceRow: closedloop.TraceRow{T: r.seconds(s.Stamp),
			Condition: r.Winds[w].Name,
			Truth:     quad.State{P: p, Q: so3.Identity()}, Reference: quad.Reference{P: s.Reference}}})
	}
	return out
}
