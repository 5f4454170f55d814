package pushing

import (
	"bytes"
	"strings"
	"testing"

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
	b.Worlds, b.Steps, b.Base, b.Improve, b.Oracle, b.Recorded, b.Updates = 8, 16, 2, 2, 2, 8, 40
	b.Policy, b.Nets, b.Task.Steps = []int{8, 8}, 8, 80
	l, err := b.Learn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := b.TrainOracle(t.Context(), l.Improved)
	if err != nil {
		t.Fatal(err)
	}
	results, err := Compare(b.Task, 2, 1, Method{Name: "ours", Policy: l.Improved},
		Method{Name: "oracle", Policy: oracle, Informed: true})
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := Table(&table, results); err != nil || !strings.Contains(table.String(), "oracle") {
		t.Errorf("table %q, error %v", table.String(), err)
	}
	packed, err := Pack(l.Model, l.Improved)
	if err != nil {
		t.Fatal(err)
	}
	if _, r, err := vnd.FromBundle(packed, pusher.Reader); err != nil || r != Prior {
		t.Errorf("unpacked %+v, error %v", r, err)
	}
	if p, err := vnd.ActorFromBundle(packed); err != nil || p.Size() != l.Improved.Size() {
		t.Errorf("unpacked policy %v, error %v", p, err)
	}
}

// TestOracleBeginsAsThePolicyItGoesOnFrom: what it knows more makes no difference before it has learned.
func TestOracleBeginsAsThePolicyItGoesOnFrom(t *testing.T) {
	b := DefaultBudget()
	e := newEpisodes(t, 1, func(*Task) {})
	from := untrained(t, &b, e)
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
