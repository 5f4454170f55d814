package flightlog

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

// Commands that cease are in force for the timeout, and then rows do, too.
func TestCommandTimeout(t *testing.T) {
	events := slices.DeleteFunc(recording(4, 100, 50, true), func(e event) bool {
		return e.command != nil && e.command.Stamp > epoch+1e9 && e.command.Stamp < epoch+3e9
	})
	rows, counts := run(t, DefaultOptions(), events)
	n := lengths(rows)
	if len(n) != 2 || n[0] != 55 || n[1] != 50 { // 1 s + 0.1 s, and from 3 s on
		t.Fatalf("segments of %v rows, counts %+v", n, counts)
	}
	last := rows[54].Step
	if want := steer(1); last.Command != want || rows[55].Step.T != 3 {
		t.Fatalf("row 54 has %+v, expected %+v; the next is at %g s", last.Command, want, rows[55].Step.T)
	}
}

func TestGapsCut(t *testing.T) {
	without := func(from, to float64) func(event) bool {
		return func(e event) bool {
			return e.pose != nil && e.pose.Stamp >= epoch+nanoseconds(from) && e.pose.Stamp < epoch+nanoseconds(to)
		}
	}
	events := slices.DeleteFunc(recording(6, 50, 50, true), without(1, 1.02)) // a single pose
	events = slices.DeleteFunc(events, without(3, 4))
	rows, counts := run(t, DefaultOptions(), events)
	if n := lengths(rows); !slices.Equal(n, []int{50, 99, 100}) || counts.Gaps != 2 {
		t.Fatalf("segments of %v rows, counts %+v", n, counts)
	}
	if rows[50].Step.T != 1.02 || rows[149].Step.T != 4 {
		t.Fatalf("segments start at %g and %g s", rows[50].Step.T, rows[149].Step.T)
	}
	rows, counts = run(t, options(func(o *Options) { o.MaxGap = 0.05 }), events)
	if n := lengths(rows); !slices.Equal(n, []int{150, 100}) || counts.Gaps != 1 {
		t.Fatalf("with a longer max_gap, segments of %v rows, counts %+v", n, counts)
	}
	if d := rows[50].Step.State.P.Sub(swing(1).P).Norm(); d > 0.02 {
		t.Fatalf("over the lost pose, %g m off", d)
	}
}

func TestJumpsCut(t *testing.T) {
	events := recording(4, 100, 100, false)
	for _, e := range events {
		if e.pose != nil && e.pose.Stamp >= epoch+2e9 {
			e.pose.State.P.X += 3
		}
	}
	rows, counts := run(t, DefaultOptions(), events)
	if n := lengths(rows); !slices.Equal(n, []int{100, 100}) || counts.Pose.Jumps != 1 {
		t.Fatalf("segments of %v rows, counts %+v", n, counts)
	}
}

// Both clocks are set back by 1000 s in mid-flight, and later forward again.
func TestClockJumps(t *testing.T) {
	events := recording(6, 50, 50, true)
	for _, e := range events {
		var stamp *int64
		if e.pose != nil {
			stamp = &e.pose.Stamp
		} else {
			stamp = &e.command.Stamp
		}
		if *stamp >= epoch+2e9 && *stamp < epoch+4e9 {
			*stamp -= 1000e9
		}
	}
	rows, counts := run(t, DefaultOptions(), events)
	n := lengths(rows)
	if len(n) != 3 || n[0] != 100 || n[1] < 94 || n[2] != 100 || counts.Pose.ClockResets != 1 ||
		counts.CommandsResets != 1 {
		t.Fatalf("segments of %v rows, counts %+v", n, counts)
	}
	for i, r := range rows {
		at := seconds(r.Stamp - epoch)
		if i >= n[0] && i < n[0]+n[1] {
			at += 1000
		}
		if d := r.Step.State.P.Sub(swing(at).P).Norm(); d > 1e-6 {
			t.Fatalf("row %d: %g m off", i, d)
		}
		if d := math.Abs(r.Step.Command.Thrust - steer(at).Thrust); d > 1e-6 {
			t.Fatalf("row %d: thrust %g off", i, d)
		}
	}
	var c collector
	c.take(rows, 0.02)
	end := -1.0
	for _, s := range c.segments {
		if s[0].T < end+0.03 {
			t.Fatalf("a segment starts at %g s, the one before ended at %g", s[0].T, end)
		}
		end = s[len(s)-1].T
	}
}

// A single stamp from the far future costs a few rows and no more.
func TestWildStamp(t *testing.T) {
	events := recording(4, 50, 50, true)
	for i, e := range events {
		if i == 100 && e.pose != nil || i == 200 && e.pose != nil {
			e.pose.Stamp += 3600e9
		}
		if i == 301 && e.command != nil {
			e.command.Stamp += 3600e9
		}
	}
	rows, counts := run(t, DefaultOptions(), events)
	if counts.Rows < 185 {
		t.Fatalf("%d rows, counts %+v", counts.Rows, counts)
	}
	for i, r := range rows {
		if d := r.Step.State.P.Sub(swing(seconds(r.Stamp - epoch)).P).Norm(); d > 1e-6 && r.Stamp < epoch+10e9 {
			t.Fatalf("row %d: %g m off", i, d)
		}
	}
}

func TestBadMessages(t *testing.T) {
	events := recording(3, 100, 100, false)
	bad := slices.Clone(events)
	nan := math.NaN()
	add := func(after int, e event) { bad = append(bad, event{events[after].received, e.pose, e.command}) }
	for k := 20; k < 500; k += 40 {
		p := *poseAt(0, false).pose
		p.State.P.Y = nan
		add(k, event{pose: &p})
		p.State = swing(1)
		p.State.Q.W += 0.5
		add(k, event{pose: &p})
		add(k, event{command: &bridge.Command{Stamp: events[k].received, Command: quad.Command{Thrust: nan}}})
		add(k, event{command: &bridge.Command{Stamp: events[k].received,
			Command: quad.Command{Rates: so3.Vec3{Z: math.Inf(1)}}}})
		add(k+1, events[k]) // twice
		add(k+1, events[k+1])
	}
	inOrder(bad)
	want, _ := run(t, DefaultOptions(), events)
	got, counts := run(t, DefaultOptions(), bad)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal("bad messages changed the rows: ", diff)
	}
	if counts.Pose.Invalid != 24 || counts.Invalid != 24 || counts.Pose.Duplicates+counts.Duplicates != 24 {
		t.Fatalf("counts %+v", counts)
	}
}

// Commands that overtake each other are put in order; poses that are overtaken are left out.
func TestOutOfOrder(t *testing.T) {
	events := recording(3, 100, 100, true)
	want, _ := run(t, DefaultOptions(), events)
	moved := slices.Clone(events)
	for k := 100; k+1 < len(moved); k += 50 {
		for i := k; i < k+20; i++ {
			if e := moved[i]; e.command != nil { // two commands swap stamps and contents
				j := i + 2
				moved[i].command, moved[j].command = moved[j].command, moved[i].command
				break
			}
		}
	}
	got, counts := run(t, DefaultOptions(), moved)
	if diff := cmp.Diff(want, got); diff != "" || counts.Disordered == 0 || counts.Late > 0 {
		t.Fatalf("counts %+v, rows differ: %s", counts, diff)
	}
	for k := 100; k < len(events); k += 40 {
		if e := events[k]; e.pose != nil {
			late := *e.pose
			late.Stamp -= 25e6
			moved = append(moved, event{received: e.received + 1, pose: &late})
		}
	}
	inOrder(moved)
	if _, counts = run(t, DefaultOptions(), moved); counts.Pose.Late == 0 || counts.Rows != len(want) {
		t.Fatalf("counts %+v, expected %d rows", counts, len(want))
	}
}

// A row waits for a command that is late, but not for ever.
func TestLateCommands(t *testing.T) {
	for delay, want := range map[int64]bool{200e6: true, 400e6: false} {
		events := recording(3, 100, 50, true)
		for i, e := range events {
			if e.command != nil {
				events[i].received += delay
			}
		}
		inOrder(events)
		rows, counts := run(t, options(func(o *Options) { o.CommandTimeout = 1 }), events)
		right := counts.Rows == 150 && counts.Late == 0
		for _, r := range rows {
			right = right && r.Step.Command == steer(seconds(r.Stamp-epoch))
		}
		if right != want || !want && counts.Late == 0 {
			t.Errorf("commands %g s late: right %v, counts %+v", seconds(delay), right, counts)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Options)
	}{
		{"time step Δt is 0 s, expected more than 0", func(o *Options) { o.Delta = 0 }},
		{"window is 0 rows, expected at least 1", func(o *Options) { o.Window = 0 }},
		{"estimate: parameter order is 9, expected 1 to 3", func(o *Options) { o.Estimate.Order = 9 }},
		{"estimate: parameter max_speed is 0 m/s, expected 0.1 to 1000", func(o *Options) { o.Estimate.MaxSpeed = 0 }},
		{"time step Δt is +Inf s, expected more than 0", func(o *Options) { o.Delta = math.Inf(1) }},
		{"estimate: parameter window is 0.0001 s, expected 0.01 to 1", func(o *Options) { o.Estimate.Window = 1e-4 }},
		{"estimate: parameter max_speed is 10000 m/s, expected 0.1 to 1000",
			func(o *Options) { o.Estimate.MaxSpeed = 1e4 }},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := New(options(c.change)); err == nil || err.Error() != c.want {
				t.Errorf("error %v, expected %s", err, c.want)
			}
		})
	}
	if p := DefaultOptions().Estimate; p != estimator.DefaultParams() {
		t.Errorf("the estimator's defaults are %+v here", p)
	}
}
