package scene

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	"vnd/pkg/core/so3"
)

// Bundles are listed in the order in which they were published, also one that came back.
func TestBundles(t *testing.T) {
	s, f, now := scene(), newStepSource(50, so3.Vec3{}), time.Now()
	s.AddBundle(&msgs.Bundle{ID: "first", MetricsJSON: `{"round": 1}`}, now)
	s.Step(f.next(), 0)
	s.AddBundle(&msgs.Bundle{ID: "second", Parent: "first", MetricsJSON: "nonsense"}, now)
	s.AddBundle(&msgs.Bundle{ID: "second", Parent: "first"}, now) // said again
	s.AddBundle(&msgs.Bundle{ID: "first"}, now)                   // rolled back
	s.AddBundle(&msgs.Bundle{}, now)
	s.Step(f.next(), 0)
	f.tick.Bundle = "other"
	s.Step(f.next(), 0)
	var got []string
	for _, b := range s.Snapshot(now).Bundles {
		got = append(got, fmt.Sprint(b.ID, b.Published, string(b.Metrics)))
	}
	if want := []string{`firsttrue{"round": 1}`, "secondtrue", "firsttrue", "otherfalse"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var places []int
	for _, r := range all(t, s) {
		places = append(places, r.Bundle)
	}
	if !slices.Equal(places, []int{0, 2, 3}) {
		t.Errorf("rows are of bundles %v", places)
	}
	for k := range 3 * mostBundles {
		s.AddBundle(&msgs.Bundle{ID: fmt.Sprint(k)}, now)
		f.tick.Bundle = fmt.Sprint(k)
		s.Step(f.next(), 0)
		n := s.Snapshot(now)
		if r, _, _, ok := s.Newest(); ok && n.Bundles[r.Bundle].ID != f.tick.Bundle || len(n.Bundles) > mostBundles {
			t.Fatalf("bundle %d: %d are kept", k, len(n.Bundles))
		}
	}
}

func TestLearner(t *testing.T) {
	s, now := scene(), time.Now()
	for k := range 3000 {
		s.Status(&msgs.LearnerStatus{Phase: "fit", Progress: float32(k+1) / 3000, Loss: float32(3000 - k),
			Transitions: 9}, now)
	}
	s.Status(&msgs.LearnerStatus{Phase: "fit", Progress: 1, Loss: float32(math.NaN()), Message: "m", Transitions: 9},
		now)
	l := s.Snapshot(now).Learner
	if n := len(l.Losses); n < mostLosses/2 || n > mostLosses || l.Losses[0] != 3000 || l.Loss != 1 ||
		l.Message != "m" || l.Transitions != 9 {
		t.Errorf("%d losses, %+v", n, l)
	}
	for i := range l.Losses[1:] {
		if l.Losses[i]-l.Losses[i+1] != 8 {
			t.Fatalf("losses %v are not every eighth", l.Losses)
		}
	}
	s.Status(&msgs.LearnerStatus{Phase: "improve", Progress: .1, Loss: 5}, now)
	if l := s.Snapshot(now).Learner; !slices.Equal(l.Losses, []float32{5}) {
		t.Errorf("%v", l.Losses)
	}
}

func TestHealth(t *testing.T) {
	s, now := scene(), time.Now()
	a := &diagnosticmsgs.DiagnosticArray{Status: []diagnosticmsgs.DiagnosticStatus{
		{Name: "b: x", Level: 1, Message: "hm", Values: []diagnosticmsgs.KeyValue{{Key: "k", Value: "v"}}},
		{Name: "a: y"}}}
	s.AddDiagnostics(a, now)
	a.Status[0].Values[0].Value = "overwritten"
	a.Status = a.Status[1:]
	s.AddDiagnostics(a, now.Add(4*time.Second))
	h := s.Snapshot(now.Add(6 * time.Second)).Health
	if len(h) != 2 || h[0].Name != "a: y" || h[0].Level != 0 || h[1].Level != diagnosticmsgs.DiagnosticStatusStale ||
		h[1].Message != "nothing heard for 6s" || h[1].Values[0].Value != "v" {
		t.Errorf("%+v", h)
	}
	a.Status = nil
	for k := range 2 * mostFindings {
		a.Status = append(a.Status, diagnosticmsgs.DiagnosticStatus{Name: fmt.Sprint(k)})
	}
	s.AddDiagnostics(a, now)
	if n := len(s.Snapshot(now).Health); n != mostFindings {
		t.Errorf("%d findings", n)
	}
}

func TestCondition(t *testing.T) {
	s, f, now := scene(), newStepSource(50, so3.Vec3{}), time.Now()
	kv := func(all ...string) *diagnosticmsgs.DiagnosticStatus {
		m := &diagnosticmsgs.DiagnosticStatus{Message: "known: fan east"}
		for i := 0; i < len(all); i += 2 {
			m.Values = append(m.Values, diagnosticmsgs.KeyValue{Key: all[i], Value: all[i+1]})
		}
		return m
	}
	s.SetCondition(kv("state", "known", "id", "4", "all", `[{"id":4,"name":"fan east"}]`), now)
	s.Step(f.next(), 0)
	if c := s.Snapshot(now).Condition; c.ID != 4 || c.State != "known" || c.Message != "known: fan east" ||
		string(c.All) != `[{"id":4,"name":"fan east"}]` {
		t.Errorf("%+v", c)
	}
	s.SetCondition(kv("state", "undecided", "id", "", "all", "{"), now)
	s.Step(f.next(), 0)
	if c := s.Snapshot(now).Condition; c.ID != 0 || c.All != nil {
		t.Errorf("%+v", c)
	}
	if rows := all(t, s); rows[0].Condition != 4 || rows[1].Condition != 0 {
		t.Errorf("%+v", rows)
	}
}
