package dataset

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// pushed is a flight with a level attitude and hover thrust in a wind, m/s², and some that is not steady.
func pushed(flight string, start float64, n int, wind so3.Vec3) Segment {
	s := Segment{Flight: flight}
	for k := range n {
		t := float64(k) * delta
		s.Rows = append(s.Rows, WeightedRow{Confidence: 1, Row: quad.Row{T: start + t,
			State:   quad.State{Q: so3.Identity(), P: wind.Scale(t * t / 2), V: wind.Scale(t)},
			Command: quad.Command{Thrust: quad.Gravity + 0.3*math.Sin(11*t)}}})
	}
	return s
}

// of makes pieces of so many rows each, at places along a line; windows are 0.1 from there.
func of(rows int, places ...float64) (out []Piece) {
	for i, x := range places {
		s := stretch(fmt.Sprint(i), 0, 1)
		p := NewPiece(&s, []float32{float32(x) - 0.1, float32(x) + 0.1}, 1)
		p.Rows = rows
		out = append(out, p)
	}
	return out
}

func kept(pieces []Piece, keep []bool) (rows int, at []int) {
	for i, k := range keep {
		if k {
			rows, at = rows+pieces[i].Rows, append(at, i)
		}
	}
	return rows, at
}

// TestPushWindows finds a wind in the rows alone.
func TestPushWindows(t *testing.T) {
	s := pushed("f", 3, 101, so3.Vec3{X: 2, Y: -1, Z: 0.5})
	w := PushWindows(&s, delta)
	if len(w) != 5*PushSize {
		t.Fatalf("%d numbers of 101 rows", len(w))
	}
	for i, x := range w {
		if want := [...]float64{2, -1, 0.5}[i%3]; math.Abs(float64(x)-want) > 0.2 {
			t.Errorf("push %d is %.3f, expected %.1f", i, x, want)
		}
	}
}

// TestBalance: half of what is kept are the newest pieces, and a rare condition stays whole however long others last.
func TestBalance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		conditions := rapid.IntRange(1, 8).Draw(rt, "conditions")
		rare := rapid.IntRange(1, 2).Draw(rt, "rare")
		var places []float64
		for range rare {
			places = append(places, 100)
		}
		for range rapid.IntRange(20, 60).Draw(rt, "others") {
			places = append(places, float64(rapid.IntRange(1, conditions).Draw(rt, "condition")))
		}
		pieces := of(100, places...)
		most := 100 * 2 * 2 * (conditions + 1) // two of each condition, and as many new ones
		keep := Balance(pieces, most)
		rows, at := kept(pieces, keep)
		if all := 100 * len(pieces); rows > most || rows < min(most, all) {
			rt.Fatalf("%d of %d rows, bound %d", rows, all, most)
		}
		newest := min(len(pieces), most/200)
		if !slices.Equal(keep[len(keep)-newest:], slices.Repeat([]bool{true}, newest)) {
			rt.Fatalf("kept %v: the newest %d are not among them", at, newest)
		}
		if len(at) < rare || at[rare-1] != rare-1 {
			rt.Fatalf("kept %v of %v: the rare condition is not whole", at, places)
		}
		if again := Balance(pieces, most); !slices.Equal(keep, again) {
			rt.Fatal("another choice of the same pieces")
		}
	})
}

// TestBalanceIsAReservoir: whatever is flown on, each old piece of a condition is as likely to stay as a younger one.
func TestBalanceIsAReservoir(t *testing.T) {
	const runs, flown, bound = 200, 60, 20
	var young, old int
	for run := range runs {
		var pieces []Piece
		var first []int // when each piece was flown
		for k := range flown {
			s := stretch(fmt.Sprintf("%d %d", run, k), 0, 1)
			pieces, first = append(pieces, NewPiece(&s, []float32{1, 1.2}, 1)), append(first, k)
			_, at := kept(pieces, Balance(pieces, bound))
			var left []Piece
			var when []int
			for _, i := range at {
				left, when = append(left, pieces[i]), append(when, first[i])
			}
			pieces, first = left, when
		}
		for _, k := range first {
			switch {
			case k < 25:
				old++
			case k < 50:
				young++
			}
		}
	}
	// Ten of the fifty that are not the newest stay: five of each half.
	for name, n := range map[string]int{"old": old, "younger": young} {
		if mean := float64(n) / runs; math.Abs(mean-5) > 0.5 {
			t.Errorf("%.2f of the %s pieces stay, expected 5", mean, name)
		}
	}
}

// TestBalanceOfOddPieces: pieces without windows are one condition, and one that is too long stays alone.
func TestBalanceOfOddPieces(t *testing.T) {
	s := stretch("f", 0, 10)
	nan := NewPiece(&s, []float32{float32(math.NaN()), 1}, 1)
	none := NewPiece(&s, nil, 3)
	for name, c := range map[string]struct {
		pieces []Piece
		most   int
		want   []bool
	}{
		"none":            {nil, 10, []bool{}},
		"all fit":         {[]Piece{nan, none}, 20, []bool{true, true}},
		"too long alone":  {[]Piece{none, nan}, 5, []bool{false, true}},
		"without windows": {[]Piece{nan, none, none}, 20, nil},
	} {
		keep := Balance(c.pieces, c.most)
		rows, _ := kept(c.pieces, keep)
		if c.want == nil && rows != c.most || c.want != nil && !slices.Equal(keep, c.want) {
			t.Errorf("%s: %v", name, keep)
		}
	}
}

// TestAnnouncesRareConditions: of more segments than the topic keeps, a learner that starts receives the newest and the
// rare condition of before.
func TestAnnouncesRareConditions(t *testing.T) {
	t.Parallel() // waits for the disk
	dir := t.TempDir()
	b := mustOpen(t, dir, 1_000_000)
	must(t, b.put(pushed("rare", 0, 50, so3.Vec3{X: 3})))
	for k := range most + 20 {
		must(t, b.put(pushed("calm", float64(k), 50, so3.Vec3{})))
	}
	must(t, b.Close())
	var got []string
	c, err := OpenCollector(CollectorConfig{Dt: delta, Seconds: 10, MaxRows: 1_000_000}, CollectorOptions{Dir: dir,
		Ticks: make(chan time.Time), Finished: func(s SegmentFile) { got = append(got, s.File) }})
	must(t, err)
	must(t, c.Close())
	newest := names(most+22-most/2, most+21)
	if len(got) != most || got[0] != fileName(1) || !slices.Equal(got[most/2:], newest) {
		t.Errorf("%d segments announced: %v", len(got), got)
	}
}

func names(from, to int) (out []string) {
	for n := from; n <= to; n++ {
		out = append(out, fileName(n))
	}
	return out
}
