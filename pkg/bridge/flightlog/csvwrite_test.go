package flightlog

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// anyFlight draws a flight on its grid: segments of at least 21 rows with gaps between.
func anyFlight(rt *rapid.T) quad.Flight {
	number := rapid.Float64Range(-1e3, 1e3)
	vector := func(label string) so3.Vec3 { // of what ReadCSV takes
		number := rapid.Float64Range(-200, 200)
		return so3.Vec3{X: number.Draw(rt, label), Y: number.Draw(rt, label), Z: number.Draw(rt, label)}
	}
	f := quad.Flight{Name: "f"}
	at, q := number.Draw(rt, "start"), so3.Identity()
	for range rapid.IntRange(1, 3).Draw(rt, "segments") {
		var s []quad.Row
		for k := range rapid.IntRange(21, 40).Draw(rt, "rows") {
			q = q.Mul(so3.Exp(so3.Vec3{X: rapid.Float64Range(-1, 1).Draw(rt, "turn"), Z: 0.5})).Normalize()
			s = append(s, quad.Row{
				T:       at + float64(k)*0.02,
				State:   quad.State{P: vector("p"), Q: q, V: vector("v")},
				Command: quad.Command{Thrust: rapid.Float64Range(-1, 500).Draw(rt, "thrust"), Rates: vector("rates")},
			})
		}
		f.Segments = append(f.Segments, s)
		at = s[len(s)-1].T + rapid.Float64Range(0.031, 10).Draw(rt, "gap")
	}
	return f
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	rapid.Check(t, func(rt *rapid.T) {
		want := anyFlight(rt)
		if err := WriteCSV(path, want, 0.02); err != nil {
			rt.Fatal(err)
		}
		got, _, err := ReadCSV(path, DefaultOptions())
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// Segments that follow each other without a gap stay apart.
func TestCutSurvivesWriting(t *testing.T) {
	f := mustRead(t, agile)
	s := f.Segments[0]
	f.Segments = [][]quad.Row{s[:100], s[100:]}
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := WriteCSV(path, f, 0.02); err != nil {
		t.Fatal(err)
	}
	got := mustRead(t, path)
	if len(got.Segments) != 2 || len(got.Segments[0]) != 100 || len(got.Segments[1]) != len(s)-101 {
		t.Fatalf("%d segments", len(got.Segments))
	}
	if got.Segments[1][0].State.P != s[101].State.P {
		t.Fatal("the second segment does not begin with the row after the first that was left out")
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.csv")
	good := mustRead(t, agile).Segments[0]
	nan := append([]quad.Row(nil), good...)
	nan[7].State.V.Y = math.NaN()
	for want, f := range map[string]quad.Flight{
		"the flight has no rows": {},
		`segment 0, row 7: column "vy": NaN, expected a finite number`: {Segments: [][]quad.Row{nan}},
		"segment 1, row 0: time goes back from 1.98 to 0.2 s": {Segments: [][]quad.Row{good[:100],
			good[10:]}},
	} {
		if err := WriteCSV(path, f, 0.02); err == nil || err.Error() != "write "+path+": "+want {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Fatalf("left behind: %v", entries)
	}
}

// full takes n bytes, and then the disk is full.
type full struct{ n int }

func (w *full) Write(p []byte) (int, error) {
	if len(p) > w.n {
		n := w.n
		w.n = 0
		return n, syscall.ENOSPC
	}
	w.n -= len(p)
	return len(p), nil
}

func TestFormatOnFullDisk(t *testing.T) {
	rows := mustRead(t, agile).Segments[0]
	var whole strings.Builder
	if err := formatCSV(&whole, rows); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < whole.Len(); n += 997 {
		if err := formatCSV(&full{n}, rows); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	if err := formatCSV(&full{whole.Len()}, rows); err != nil {
		t.Fatal(err)
	}
}
