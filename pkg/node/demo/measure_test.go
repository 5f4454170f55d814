package demo

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/ros"
)

const second = int64(time.Second)

// made is a flight at 50 Hz of 5 s stays: calm, east and west under bundle a, which errs by 0.2 m in wind and 0.02 m in
// calm; then b comes, errs by 0.04 m, and after a switch by 0.24 m for 0.5 s more.
func made() *Record {
	start := time.Unix(1000, 0)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * 1e9)) }
	r := &Record{sent: map[int64]int64{}, gauges: map[string]string{controller + ": control: ticks missed": "3",
		recorder + ": buffer: Rows lost": "many"},
		Bundles: []Bundle{{ID: "a", At: at(-1), Flew: at(0)}, {ID: "b", Parent: "a", At: at(16.5), Flew: at(17)},
			{ID: "c", Parent: "b", At: at(29)}},
		Segments: []time.Time{at(5), at(10), at(15.2), at(20)},
		Learning: []Learning{{At: at(-3), Phase: "first"}, {At: at(-2), Phase: gating}, {At: at(-1), Phase: "waiting"},
			{At: at(15.3), Phase: fitting},
			{At: at(16), Phase: gating}, {At: at(16.6), Phase: "waiting"}, {At: at(17), Phase: fitting},
			{At: at(18), Phase: gating}, {At: at(19), Phase: "waiting",
				Message: "round 2 on 900 rows: bundle c is refused: canary: errs more"},
			{At: at(22), Phase: fitting}, {At: at(28), Phase: gating}, {At: at(29), Phase: "waiting"}}}
	winds := []string{Calm, "east", "west", Calm, "east", "west"}
	for k, name := range winds {
		r.Winds = append(r.Winds, Wind{1000*second + int64(k)*5*second, name})
	}
	for i := range 1500 {
		stamp := 1000*second + int64(i)*second/50
		t := float64(i) / 50
		s := FlownStep{Stamp: stamp, Seq: uint64(i), Bundle: "a", Reference: so3.Vec3{Z: 1}, Latent: []float32{0, 0}}
		e := 0.2
		if winds[i/250] == Calm {
			e = 0.02
		}
		if t >= 17 {
			s.Bundle, s.Latent, e = "b", []float32{float32(i / 250), float32(i % 3)}, 0.04
			if since := math.Mod(t, 5); since < 0.5 {
				e = 0.24
			}
		}
		r.Steps = append(r.Steps, s)
		r.Truth = append(r.Truth, Truth{stamp - second/100, so3.Vec3{X: e, Z: 1}}, Truth{stamp, so3.Vec3{X: e, Z: 1}})
		r.sent[stamp] = stamp
		late := second / 1000
		if i == 700 {
			late = second / 20
		}
		r.commands = append(r.commands, command{stamp, stamp + late})
	}
	return r
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestMeasure(t *testing.T) {
	f := made().Measure()
	if len(f.Visits) != 6 || !near(f.Seconds, 29.98) {
		t.Fatalf("%d stays in %g s", len(f.Visits), f.Seconds)
	}
	if v := f.Visits[4]; v.Condition != "east" || v.Number != 2 || v.Start != 20 || len(v.Bundles) != 1 ||
		v.Bundles[0] != "b" || !near(v.Mean, 0.06) {
		t.Errorf("the second east: %+v", v)
	}
	if v := f.Visits[3]; len(v.Bundles) != 2 || v.Bundles[1] != "b" {
		t.Errorf("the stay in which b came: %+v", v)
	}
	if len(f.Winds) != 2 || !near(f.Base, 0.2) || !near(f.End, 0.06) || !near(f.Factor, 0.2/0.06) {
		t.Errorf("%g m before, %g m after in %+v", f.Base, f.End, f.Winds)
	}
	if c := f.Recover; c.Returns != 2 || math.Abs(c.Wide.Median-0.5) > 0.021 || math.Abs(c.Wide.Worst-0.5) > 0.021 ||
		math.Abs(c.Literal.Worst-0.5) > 0.021 {
		t.Errorf("recovery %+v", c)
	}
	if l := f.Latency; l.Ticks != 1500 || !near(l.P50, 1) || !near(l.P99, 1) || !near(l.P999, 1) || !near(l.Max, 50) {
		t.Errorf("latency %+v", l)
	}
	if b := f.Bundles; len(b) != 3 || b[0].Data != 0 || !near(b[1].Data, 17-15.2) || b[2].Flew || b[2].Data != 0 ||
		b[1].Ticks != 650 {
		t.Errorf("bundles %+v", b)
	}
	if f.Refused != 1 || len(f.Losses) != 1 || f.Losses[0].Count != 3 {
		t.Errorf("%d refused, losses %+v", f.Refused, f.Losses)
	}
}

// TestLateWind: a wind that only learned bundles met is compared with itself, and says nothing of the first bundle.
func TestLateWind(t *testing.T) {
	r := made()
	for i := range r.Steps[:500] {
		r.Steps[i].Bundle = "z"
	}
	for i := range r.Steps[500:] {
		r.Steps[500+i].Bundle = "b"
	}
	f := r.Measure()
	if len(f.Winds) != 1 || f.Winds[0].Condition != "east" || len(f.Late) != 1 || f.Late[0].Condition != "west" ||
		!near(f.Late[0].Base, 0.2) || !near(f.Late[0].End, 0.06) {
		t.Errorf("%+v, %+v", f.Winds, f.Late)
	}
}

// TestGuardedStaysDoNotCount: what the guard flew says nothing of a policy.
func TestGuardedStaysDoNotCount(t *testing.T) {
	r := made()
	r.Steps[1300].Guarded = true // in the second west
	f := r.Measure()
	if len(f.Winds) != 1 || f.Winds[0].Condition != "east" || f.Recover.Returns != 1 || f.Visits[5].Recovery != nil ||
		!near(f.Guarded, 0.02) {
		t.Errorf("%+v", f)
	}
}

// TestNothingFlew: a record without steps, and steps without truth, are measured in words.
func TestNothingFlew(t *testing.T) {
	for _, r := range []*Record{{}, {Steps: []FlownStep{{Stamp: 1}}},
		{Steps: []FlownStep{{Stamp: 1}}, Winds: []Wind{{1, "east"}}}} {
		f := r.Measure()
		var b bytes.Buffer
		if err := f.WriteText(&b); err != nil || len(f.Visits) != 0 ||
			!strings.Contains(b.String(), "no wind came back under a learned bundle") {
			t.Errorf("%v: %s", err, &b)
		}
		if err := r.Report(&b, f); err != nil {
			t.Error(err)
		}
	}
}

// TestNoFirstBundle: where the gate keeps the first bundle back there is nothing to fly with, and no use in waiting.
func TestNoFirstBundle(t *testing.T) {
	l := &listener{failed: make(failures, 1), say: func(string) {}, now: time.Now, r: Record{}}
	for _, m := range []msgs.LearnerStatus{{Phase: "first"}, {Phase: gating}, {Phase: "waiting", Message: "refused"}} {
		if len(l.failed) > 0 {
			t.Error("gave up before")
		}
		l.learning(&m, ros.Info{})
	}
	select {
	case err := <-l.failed:
		if err.Error() != "there is no bundle to fly with: refused" {
			t.Error(err)
		}
	default:
		t.Error("waits on")
	}
	l.r.Bundles, l.newest = []Bundle{{ID: "a"}}, Learning{Phase: gating}
	l.learning(&msgs.LearnerStatus{Phase: "waiting", BundleID: "a", Message: "another is refused"}, ros.Info{})
	if len(l.failed) > 0 {
		t.Error("a later bundle that is refused is no end")
	}
}

// TestTheGuardStays: a guard that will not be reset, after a crash, ends the demo with its reason; one that was reset
// does not.
func TestTheGuardStays(t *testing.T) {
	l := &listener{failed: make(failures, 1), say: func(string) {}, now: time.Now, trips: []string{"3.0 s: a gap"}}
	for range mostRefusals - 1 {
		l.answered(&stdsrvs.TriggerResponse{Message: "the tilt is too large"}, nil)
	}
	l.answered(&stdsrvs.TriggerResponse{Success: true}, nil)
	if len(l.failed) > 0 {
		t.Fatal("gave up before")
	}
	l.answered(&stdsrvs.TriggerResponse{Message: "the tilt is too large"}, nil)
	select {
	case err := <-l.failed:
		if !strings.Contains(err.Error(), "the tilt is too large; it tripped at 3.0 s: a gap") {
			t.Error(err)
		}
	default:
		t.Error("goes on")
	}
}

// TestTruthBetween: where the vehicle was between two samples of the truth, but not across a gap.
func TestTruthBetween(t *testing.T) {
	r := &Record{Truth: []Truth{{10, so3.Vec3{X: 1}}, {20, so3.Vec3{X: 2}}, {20 + second, so3.Vec3{X: 3}}}}
	for stamp, want := range map[int64]float64{10: 1, 14: 1.4, 20: 2, 20 + second: 3} {
		if p, ok := r.at(stamp); !ok || !near(p.X, want) {
			t.Errorf("at %d: %v, %v", stamp, p, ok)
		}
	}
	for _, stamp := range []int64{9, 21, 21 + second} {
		if p, ok := r.at(stamp); ok {
			t.Errorf("at %d: %v", stamp, p)
		}
	}
}

// TestReport: one file with all pictures in it and nothing to fetch, which says what the tables say.
func TestReport(t *testing.T) {
	r := made()
	f := r.Measure()
	f.World, f.Task = "params/worlds/<arena>.yaml", "track"
	var b bytes.Buffer
	if err := r.Report(&b, f); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"data:image/png;base64,", "&lt;arena&gt;.yaml",
		"0.2000 m before, 0.0600 m in the end: 3.3 × smaller", "<td>east</td>", "a → b"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	if n := strings.Count(page, "<img"); n != 3 || strings.Count(page, `src="data:`) != n ||
		strings.Contains(page, "http") || strings.Contains(page, "ZgotmplZ") {
		t.Errorf("%d pictures, of which %d are in the file", n, strings.Count(page, `src="data:`))
	}
}
