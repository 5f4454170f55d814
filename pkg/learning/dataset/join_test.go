package dataset

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestJoin: where a flight goes on soon its segments are one, on one clock, with what was not measured marked.
func TestJoin(t *testing.T) {
	const dt = 0.02
	segment := func(flight string, stamps ...float64) Segment {
		s := Segment{Flight: flight}
		for _, at := range stamps {
			s.Rows = append(s.Rows, WeightedRow{Confidence: 0.5, Row: quad.Row{T: at,
				State:   quad.State{P: so3.Vec3{X: 10 * at}, Q: so3.Quat{W: 1}},
				Command: quad.Command{Thrust: 100 * at}}})
		}
		return s
	}
	for _, c := range []struct {
		name   string
		in     []Segment
		rows   []int  // of the segments that come out
		missed string // of the first: x where nothing was measured
	}{
		{"a sample is lost", []Segment{segment("a", 0, .02), segment("a", .06, .08)}, []int{5}, "..x.."},
		{"stamps jitter", []Segment{segment("a", 0, .02), segment("a", .051), segment("a", .06, .08)}, []int{5},
			"....."},
		{"every other comes early and late", []Segment{segment("a", 0, .02), segment("a", .0505),
			segment("a", .0602), segment("a", .0905), segment("a", .1001)}, []int{6}, "......"},
		{"30 Hz", []Segment{segment("a", 0), segment("a", .0333), segment("a", .0667), segment("a", .1)}, []int{6},
			".x..x."},
		{"another flight", []Segment{segment("a", 0, .02), segment("b", .06)}, []int{2, 1}, ".."},
		{"a long gap", []Segment{segment("a", 0, .02), segment("a", .16)}, []int{2, 1}, ".."},
		{"the clock is set back", []Segment{segment("a", 1, 1.02), segment("a", .06)}, []int{2, 1}, ".."},
		{"cut without a gap", []Segment{segment("a", 0, .02), segment("a", .04)}, []int{2, 1}, ".."},
		{"of two flights at once", []Segment{segment("a", 0, .02), segment("b", 0, .02, .04), segment("a", .06, .08),
			segment("b", .08)}, []int{5, 5}, "..x.."},
		{"nothing", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fmt.Sprint(c.in)
			out := Join(dt, c.in)
			var rows []int
			for _, s := range out {
				rows = append(rows, len(s.Rows))
			}
			if !slices.Equal(rows, c.rows) || fmt.Sprint(c.in) != before {
				t.Fatalf("segments of %v rows, expected %v; what was handed in is %v", rows, c.rows, c.in)
			}
			missed := ""
			for i := 0; len(out) > 0 && i < len(out[0].Rows); i++ {
				r := &out[0].Rows[i]
				missed += map[bool]string{false: ".", true: "x"}[r.Missed]
				if math.Abs(r.T-out[0].Rows[0].T-float64(i)*dt) > slack*dt || math.Abs(r.State.P.X-10*r.T) > 1e-9 ||
					r.Confidence != 0.5 {
					t.Errorf("row %d: %+v", i, *r)
				}
			}
			if missed != c.missed {
				t.Errorf("missed %q, expected %q", missed, c.missed)
			}
		})
	}
}

// TestGaps: single rows, stretches and what is too long to be bridged count; another flight, or one that ended a second
// before, is no gap.
func TestGaps(t *testing.T) {
	const dt = 0.02
	rows := func(flight string, from int, missed string) Segment {
		s := Segment{Flight: flight}
		for k, c := range missed {
			s.Rows = append(s.Rows, WeightedRow{Row: quad.Row{T: dt * float64(from+k)}, Missed: c == 'x'})
		}
		return s
	}
	for _, c := range []struct {
		name          string
		in            []Segment
		every, length float64
	}{
		{"nothing", nil, 0, 0},
		{"none is missing", []Segment{rows("a", 0, "....."), rows("a", 5, "..")}, 0, 0},
		{"one row, and three", []Segment{rows("a", 0, "..x..xxx..")}, 0.0375, 0.025},
		{"five rows between segments", []Segment{rows("a", 0, "....."), rows("a", 10, ".....")}, 0.1, 0.05},
		{"another flight", []Segment{rows("a", 0, "....."), rows("b", 10, ".....")}, 0, 0},
		{"a second later", []Segment{rows("a", 0, "....."), rows("a", 56, ".....")}, 0, 0},
		{"the clock is set back", []Segment{rows("a", 50, "....."), rows("a", 10, ".....")}, 0, 0},
		{"an empty segment", []Segment{rows("a", 0, "....."), {Flight: "a"}, rows("a", 10, ".....")}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			every, length := Gaps(dt, c.in)
			if math.Abs(every-c.every) > 1e-9 || math.Abs(length-c.length) > 1e-9 {
				t.Errorf("every %g s for %g s, expected %g for %g", every, length, c.every, c.length)
			}
		})
	}
}
