package web

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"time"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/viz/scene"
)

// Rows go to the page as little-endian words of 4 bytes, float32 but for the first, ms since the history's first row.
const (
	latentAt = 27
	words    = latentAt + scene.MaxLatent
)

func appendRow(b []byte, r *scene.TickRow, first int64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32((r.Stamp-first)/1e6))
	put := func(values ...float64) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	}
	p, q, v, w := r.State.P, r.State.Q, r.State.V, r.Sent.Rates
	put(p.X, p.Y, p.Z, q.W, q.X, q.Y, q.Z, v.X, v.Y, v.Z, r.Goal.X, r.Goal.Y, r.Goal.Z)
	put(r.Sent.Thrust, w.X, w.Y, w.Z, r.Residual.X, r.Residual.Y, r.Residual.Z)
	put(float64(r.Stage), float64(r.Confidence), float64(r.Novelty), float64(r.Bundle), float64(r.Z),
		float64(r.Condition))
	for _, z := range r.Latent {
		put(float64(z))
	}
	return b
}

// number is a float64 that JSON can hold: null where it is not finite.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); v*0 != 0 {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// point is a place, in mm: finer than anybody sees.
type point [3]number

func points(all []so3.Vec3) []point {
	out := make([]point, len(all))
	for i, v := range all {
		for k, x := range [3]float64{v.X, v.Y, v.Z} {
			out[i][k] = number(math.Round(1000*x) / 1000)
		}
	}
	return out
}

// hello begins a history: whatever the page had before is of another one.
type hello struct {
	Kind      string   `json:"kind"`
	Robot     string   `json:"robot"`
	Controls  bool     `json:"controls"`
	Token     bool     `json:"token"`  // is needed to have something done
	Stages    []string `json:"stages"` // of the guard, by their numbers
	Words     int      `json:"words"`
	LatentAt  int      `json:"latent_at"`
	MaxLatent int      `json:"max_latent"`
	Epoch     uint64   `json:"epoch"`
	First     float64  `json:"first"` // stamp of the time 0, ms
}

// stages are the guard's names of them.
var stages = func() (all []string) {
	for g := guard.Policy; g <= guard.NotOffboard; g++ {
		all = append(all, g.String())
	}
	return all
}()

type reference struct {
	Kind string  `json:"kind"`
	Path []point `json:"path"`
}

type imagined struct {
	Kind    string  `json:"kind"`
	Bundle  string  `json:"bundle"`
	Start   float64 `json:"start"` // ms since the history's first row
	End     float64 `json:"end"`
	Model   []point `json:"model,omitempty"` // without paths: its errors alone
	Physics []point `json:"physics,omitempty"`
	Flown   []point `json:"flown,omitempty"`
	ModelE  number  `json:"model_error"` // m
	PhysE   number  `json:"physics_error"`
}

func imaginedOf(i *scene.Prediction, first int64, paths bool) imagined {
	ms := func(stamp int64) float64 { return float64(stamp-first) / 1e6 }
	m := imagined{Kind: "imagined", Bundle: i.Bundle, Start: ms(i.Start), End: ms(i.End),
		ModelE: number(i.ModelError()), PhysE: number(i.PhysicsError())}
	if paths {
		m.Model, m.Physics, m.Flown = points(i.Model), points(i.Physics), points(i.Flown)
	}
	return m
}

type status struct {
	Kind      string     `json:"kind"`
	Task      string     `json:"task"`
	Frame     string     `json:"frame"`
	Steps     uint64     `json:"steps"`
	Lost      uint64     `json:"lost"`
	Learner   *learner   `json:"learner"`
	Condition *condition `json:"condition"`
	Health    []finding  `json:"health"`
	Latency   latency    `json:"latency"`
	Plane     *plane     `json:"plane"`
}

// bundles come when they change: scores may be long.
type bundles struct {
	Kind    string   `json:"kind"`
	Bundles []bundle `json:"bundles"`
}

func bundlesOf(n *scene.Snapshot) bundles {
	m := bundles{"bundles", []bundle{}}
	for _, b := range n.Bundles {
		m.Bundles = append(m.Bundles, bundle{b.ID, b.Parent, b.Task, float64(b.Came.UnixMilli()), b.Published,
			b.Metrics})
	}
	return m
}

type bundle struct {
	ID        string          `json:"id"`
	Parent    string          `json:"parent"`
	Task      string          `json:"task"`
	Came      float64         `json:"came"` // ms since 1970
	Published bool            `json:"published"`
	Metrics   json.RawMessage `json:"metrics"`
}

type learner struct {
	Age         float64  `json:"age"` // s
	Phase       string   `json:"phase"`
	Progress    number   `json:"progress"`
	Transitions uint64   `json:"transitions"`
	Bundle      string   `json:"bundle"`
	Message     string   `json:"message"`
	Loss        number   `json:"loss"`
	Losses      []number `json:"losses"`
}

type condition struct {
	Age     float64         `json:"age"`
	State   string          `json:"state"`
	ID      int             `json:"id"`
	Message string          `json:"message"`
	All     json.RawMessage `json:"all"`
}

type finding struct {
	Name    string      `json:"name"`
	Level   uint8       `json:"level"`
	Message string      `json:"message"`
	Values  [][2]string `json:"values"`
}

type latency struct {
	Count   int       `json:"count"`
	P50     float64   `json:"p50"` // s
	P99     float64   `json:"p99"`
	Max     float64   `json:"max"`
	Edges   []float64 `json:"edges"` // upper ends of the buckets, s
	Buckets []int     `json:"buckets"`
}

type plane struct {
	Bundle int         `json:"bundle"`
	Mean   []number    `json:"mean"`
	Axes   [2][]number `json:"axes"`
	Share  [2]number   `json:"share"`
	Scale  number      `json:"scale"`
}

// edges of the buckets of a latency.
var edges = func() (all []float64) {
	for i := range (scene.Latency{}).Buckets {
		all = append(all, scene.Edge(i))
	}
	return all
}()

func numbers[T float32 | float64](all []T) []number {
	out := make([]number, len(all))
	for i, v := range all {
		out[i] = number(v)
	}
	return out
}

func statusOf(n *scene.Snapshot, now time.Time) *status {
	s := &status{Kind: "status", Task: n.Task, Frame: n.Frame, Steps: n.Steps, Lost: n.Lost, Health: []finding{}}
	if l := &n.Learner; !l.Came.IsZero() {
		s.Learner = &learner{now.Sub(l.Came).Seconds(), l.Phase, number(l.Progress), l.Transitions, l.BundleID,
			l.Message, number(l.Loss), numbers(l.Losses)}
	}
	if c := &n.Condition; !c.Came.IsZero() {
		s.Condition = &condition{now.Sub(c.Came).Seconds(), c.State, c.ID, c.Message, c.All}
	}
	for _, f := range n.Health {
		w := finding{Name: f.Name, Level: f.Level, Message: f.Message, Values: [][2]string{}}
		for _, v := range f.Values {
			w.Values = append(w.Values, [2]string{v.Key, v.Value})
		}
		s.Health = append(s.Health, w)
	}
	l := &n.Latency
	s.Latency = latency{l.Count, l.P50.Seconds(), l.P99.Seconds(), l.Max.Seconds(), edges, l.Buckets[:]}
	if p := n.Plane; p != nil {
		s.Plane = &plane{p.Bundle, numbers(p.Mean), [2][]number{numbers(p.Axes[0]), numbers(p.Axes[1])},
			[2]number{number(p.Share[0]), number(p.Share[1])}, number(p.Scale)}
	}
	return s
}
