package pushing

import (
	"bytes"
	"strings"
	"testing"

	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// TestLearningGoesThrough takes every step of learning once, with far too little of each, and unpacks what it packs.
func TestLearningGoesThrough(t *testing.T) {
	if testing.Short() {
		t.Skip("it learns for seconds")
	}
	newWorlds(t, 1) // or it skips
	b := DefaultBudget()
	for _, c := range []*pushlearning.Training{&b.Base, &b.Policy, &b.Oracle} {
		c.Worlds, c.Steps, c.Iterations, c.Hidden, c.Layers = 8, 16, 2, 8, 2
	}
	b.Recorded, b.Task.Steps = 8, 80
	m := &b.Fit.Model
	m.EncoderDense, m.EncoderHidden, m.Hidden, b.Fit.Train.Updates = 8, 8, 16, 40
	b.Least, b.Gate.Shadow.Flights, b.Gate.Canary.Flights = 1, 4, 4
	l, err := b.Learn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := l.Rounds[0].Verdict; v == nil || len(v.Stages) == 0 || v.Pass != (l.Bundle == l.Rounds[0].Candidate) {
		t.Errorf("verdict %+v, bundle %s", v, l.Bundle.ID)
	}
	peers, err := b.Peers(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	results, err := Compare(b.Task, 2, 1, append(peers, Method{Name: "ours", Policy: l.Improved})...)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := Table(&table, results); err != nil || !strings.Contains(table.String(), "oracle") ||
		!strings.Contains(table.String(), "RMA") || !strings.Contains(table.String(), "simple residual") {
		t.Errorf("table %q, error %v", table.String(), err)
	}
	if _, r, err := vnd.FromBundle(l.Rounds[0].Candidate, pusher.Reader); err != nil || r != pushlearning.Prior {
		t.Errorf("unpacked %+v, error %v", r, err)
	}
}

// TestOracleBeginsAsThePolicyItGoesOnFrom: what it knows more makes no difference before it has learned.
func TestOracleBeginsAsThePolicyItGoesOnFrom(t *testing.T) {
	b := DefaultBudget()
	from := untrained(t, 8, 8)
	const more = 3
	informed, err := b.informed(from, more)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, from.Size()+more)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	u, v := make([]float32, 2), make([]float32, 2)
	from.Net.Forward(from.Net.NewTape(1, 1), 0, 1, x[:from.Size()], u)
	informed.Net.Forward(informed.Net.NewTape(1, 1), 0, 1, x, v)
	if u[0] != v[0] || u[1] != v[1] || u[0] == 0 {
		t.Errorf("action %v, and %v of the policy that is informed", u, v)
	}
}
