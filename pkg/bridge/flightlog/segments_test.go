package flightlog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
)

// Any pattern of gaps and jitter: segments are cut at the gaps, and only there, hold all rows in order and lie on a
// grid.
func TestGapsAndJitter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table := straight(0)
		at, phase := rapid.Float64Range(-10, 1e5).Draw(rt, "start"), 0.0
		var lengths []int
		for range rapid.IntRange(1, 4).Draw(rt, "segments") {
			n := rapid.IntRange(22, 60).Draw(rt, "rows")
			lengths = append(lengths, n)
			for range n {
				phase = rapid.Float64Range(-0.004, 0.004).Draw(rt, "jitter")
				record := append([]string(nil), straight(1)[1]...)
				record[colT], record[colPX] = fmt.Sprint(at+phase), fmt.Sprint(len(table))
				record[colVX] = "50"
				table = append(table, record)
				at += 0.02
			}
			at += rapid.Float64Range(0.02, 5).Draw(rt, "gap")
		}
		f, _, err := parse(table)
		if err != nil {
			rt.Fatal(err)
		}
		if len(f.Segments) != len(lengths) {
			rt.Fatalf("%d segments, expected %d", len(f.Segments), len(lengths))
		}
		row := 1.0
		for i, s := range f.Segments {
			if len(s) != lengths[i] {
				rt.Fatalf("segment %d has %d rows, expected %d", i, len(s), lengths[i])
			}
			for k, step := range s {
				if step.T != s[0].T+float64(k)*0.02 || step.State.P.X != row {
					rt.Fatalf("segment %d, row %d: t = %v, row %v of the file, expected %v", i, k, step.T,
						step.State.P.X, row)
				}
				row++
			}
		}
	})
}

// often is a flight of 30 and 40 rows of Δt, each of which comes so many times, with half a row before the gap.
func often(each int) text {
	table, random := straight(0), rand.New(rand.NewPCG(1, 1))
	put := func(k int, from float64) {
		record, at := straight(1)[1], from+0.02*float64(k)/float64(each)
		record[colT], record[colPX], record[colVX] = fmt.Sprint(at+2e-4*random.Float64()), fmt.Sprint(at), "1"
		record[colThrust] = fmt.Sprint(9 + float64(k%each))
		table = append(table, record)
	}
	for k := range 30*each + each/2 {
		put(k, 0)
	}
	for k := range 40 * each {
		put(k, 5)
	}
	return table
}

// Rows that come several times in Δt become rows of Δt: the state at its beginning and the mean command, cut at gaps.
func TestRowsOfHigherRates(t *testing.T) {
	for _, each := range []int{2, 4, 10} {
		t.Run(fmt.Sprint(50*each), func(t *testing.T) {
			f, warnings, err := parse(often(each))
			if err != nil || len(warnings) != 1 || len(f.Segments) != 2 || len(f.Segments[0]) != 30 ||
				len(f.Segments[1]) != 40 || f.First != nil {
				t.Fatalf("%d segments, first rows %v, warnings %v, error %v", len(f.Segments), f.First, warnings, err)
			}
			holdOften(t, f, each)
		})
	}
}

func holdOften(t *testing.T, f quad.Flight, each int) {
	t.Helper()
	for i, s := range f.Segments {
		for k, r := range s {
			at, thrust := 5*float64(i)+0.02*float64(k), 9+float64(each-1)/2
			if math.Abs(r.State.P.X-at) > 1e-9 || math.Abs(r.T-at) > 1e-3 || math.Abs(r.Command.Thrust-thrust) > 1e-9 {
				t.Fatalf("segment %d, row %d: %+v, expected the state at %g s", i, k, r, at)
			}
		}
	}
}

func TestSpacingWarning(t *testing.T) {
	table := straight(100)
	for k, record := range table[1:] {
		record[colT] = fmt.Sprint(0.0205 * float64(k))
	}
	f, warnings, err := parse(table)
	if err != nil || len(f.Segments) != 1 || len(warnings) != 1 {
		t.Fatalf("%d segments, warnings %v, error %v", len(f.Segments), warnings, err)
	}
	if want := `dir/f.csv: column "t": rows come every 0.0205 s and are read as 0.02 s`; warnings[0].String() != want {
		t.Fatalf("warning %q, expected %q", warnings[0], want)
	}
}

// withoutVelocity formats the rows with empty velocities.
func withoutVelocity(steps []quad.Row) text {
	table := straight(0)
	for _, step := range steps {
		var record []string
		for c, x := range values(step) {
			if c >= colVX && c <= colVZ {
				record = append(record, "")
			} else {
				record = append(record, fmt.Sprint(x))
			}
		}
		table = append(table, record)
	}
	return table
}

// TestVelocityFromPositions states how far the causal velocity is from a smoothed one that sees the future, on two
// real flights with the position noise of an on-board estimate. All three axes together.
func TestVelocityFromPositions(t *testing.T) {
	for path, stated := range map[string]float64{zigzag: 0.1156, agile: 0.1040} {
		want := mustRead(t, path).Segments[0]
		got, warnings, err := parse(withoutVelocity(want))
		if err != nil || len(warnings) > 0 || len(got.Segments) != 1 || len(got.Segments[0]) != len(want) {
			t.Fatalf("%s: %d segments, warnings %v, error %v", path, len(got.Segments), warnings, err)
		}
		sum := 0.0
		for k, step := range got.Segments[0] {
			d := step.State.V.Sub(want[k].State.V)
			sum += d.Dot(d)
		}
		rms := math.Sqrt(sum / float64(len(want)))
		t.Logf("%s: %.0f mm/s rms", path, 1e3*rms)
		if rms > 1.02*stated || rms < 0.98*stated {
			t.Errorf("%s: velocity error %.4f m/s rms, stated %.4f", path, rms, stated)
		}
	}
}

// What a row says does not depend on later rows, once the window is full.
func TestVelocityIsCausal(t *testing.T) {
	steps := mustRead(t, agile).Segments[0]
	whole, _, err := parse(withoutVelocity(steps))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{21, 22, 50, 200} {
		head, _, err := parse(withoutVelocity(steps[:n]))
		if err != nil {
			t.Fatal(err)
		}
		for k, step := range head.Segments[0] {
			if step != whole.Segments[0][k] {
				t.Fatalf("row %d of the first %d: %+v, with later rows %+v", k, n, step, whole.Segments[0][k])
			}
		}
	}
}

func TestJumpCuts(t *testing.T) {
	table := withoutVelocity(mustRead(t, agile).Segments[0])
	for _, record := range table[101:] {
		record[colPX] = "9" + record[colPX] // "1.2" becomes "91.2", "-1.2" is no number
	}
	for _, record := range table[1:] {
		record[colPX] = strings.ReplaceAll(record[colPX], "-", "")
	}
	f, warnings, err := parse(table)
	if err != nil || len(f.Segments) != 2 || len(f.Segments[0]) != 100 {
		t.Fatalf("%d segments, warnings %v, error %v", len(f.Segments), warnings, err)
	}
	want := `dir/f.csv:102: column "px": the position jumps, here first of 1 times: the flight is cut at each`
	if warnings[0].String() != want {
		t.Fatalf("warnings %q, expected %q", warnings, want)
	}
}

// Two rows between gaps longer than the window have no velocity.
func TestRowsWithoutVelocity(t *testing.T) {
	steps := mustRead(t, agile).Segments[0]
	kept := append(append(append([]quad.Row(nil), steps[:100]...), steps[120:122]...), steps[140:]...)
	f, warnings, err := parse(withoutVelocity(kept))
	if err != nil || len(f.Segments) != 2 || len(warnings) != 1 {
		t.Fatalf("%d segments, warnings %v, error %v", len(f.Segments), warnings, err)
	}
	if !slices.Equal(f.First, []int{0, 102}) {
		t.Fatalf("segments begin with rows %v of the file, expected 0 and 102", f.First)
	}
	want := `dir/f.csv: column "vx": 2 rows left out: too few between gaps for a velocity`
	if warnings[0].String() != want {
		t.Fatalf("warning %q, expected %q", warnings[0], want)
	}
}

func BenchmarkParseCSV(b *testing.B) {
	s := straight(3000).String() // one minute
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if _, _, err := ParseCSV("f.csv", strings.NewReader(s), DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
}
