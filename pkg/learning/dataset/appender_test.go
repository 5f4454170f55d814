package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vnd/pkg/core/so3"
)

// clocked opens a buffer whose clock is the time of the rows that record appends.
type clocked struct {
	*Buffer
	now time.Time
}

func mustOpenClocked(t fataler, dir string, maxRows int) *clocked {
	t.Helper()
	c := &clocked{}
	o := options(maxRows)
	o.Clock = func() time.Time { return c.now }
	b, err := Open(dir, o)
	must(t, err)
	c.Buffer = b
	return c
}

func (c *clocked) record(a *Appender, r WeightedRow) error {
	c.now = time.Unix(0, 0).Add(time.Duration(r.T * float64(time.Second)))
	return a.Append(r)
}

// At any moment a reader finds all rows but those of the last second: this is what a kill leaves.
func TestKilledAtAnyMoment(t *testing.T) {
	dir := t.TempDir()
	b := mustOpenClocked(t, dir, 100_000)
	defer b.Close()
	a, err := b.Grow("a")
	must(t, err)
	want := stretch("a", 0, 300)
	for k, r := range want.Rows {
		must(t, b.record(a, r))
		got, losses, err := ReadDir(dir, delta)
		if err != nil || len(losses) > 0 || len(got) > 1 {
			t.Fatalf("row %d: %d segments, losses %v, error %v", k, len(got), losses, err)
		}
		n := 0
		if len(got) == 1 {
			prefix(t, got[0], want)
			n = len(got[0].Rows)
		}
		if lost := r.T - float64(n)*delta; lost > 1 {
			t.Fatalf("row %d: %d on disk, %.2f s would be lost", k, n, lost)
		}
		if n != b.Rows() {
			t.Fatalf("%d rows on disk, Rows says %d", n, b.Rows())
		}
	}
	if n := b.Rows(); n == 300 {
		t.Fatal("each row was flushed by itself")
	}
	must(t, a.Flush())
	if n := b.Rows(); n != 300 {
		t.Fatalf("%d rows after a flush", n)
	}
	must(t, a.Close())
	holds(t, b.Buffer, []Segment{want})
}

// However rows, gaps, flushes, whole segments and ends are mixed, the buffer holds what was appended, in order of
// the segments' beginnings.
func TestGrowingMixed(t *testing.T) {
	t.Parallel() // waits for the disk
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		must(rt, err)
		b := mustOpenClocked(rt, dir, 100_000)
		var want []Segment
		var a *Appender
		growing, at := -1, 0.0 // place of the growing segment in want
		for range rapid.IntRange(1, 15).Draw(rt, "actions") {
			switch rapid.SampledFrom([]string{"rows", "rows", "gap", "flush", "whole", "end"}).Draw(rt, "action") {
			case "rows":
				if a == nil {
					a, err = b.Grow("live")
					must(rt, err)
				}
				s := stretch("live", at, rapid.IntRange(1, 150).Draw(rt, "rows"))
				for _, r := range s.Rows {
					must(rt, b.record(a, r))
				}
				at = s.Rows[len(s.Rows)-1].T + delta
				if growing < 0 {
					growing, want = len(want), append(want, Segment{Flight: "live"})
				}
				want[growing].Rows = append(want[growing].Rows, s.Rows...)
			case "gap":
				at += rapid.SampledFrom([]float64{5, -3, delta}).Draw(rt, "gap")
				growing = -1
			case "flush":
				if a != nil {
					must(rt, a.Flush())
				}
			case "whole":
				s := stretch("whole", 0, rapid.IntRange(1, 50).Draw(rt, "rows"))
				must(rt, b.put(s))
				want = append(want, s)
			case "end":
				if a != nil {
					must(rt, a.Close())
					a, growing = nil, -1
				}
			}
		}
		if a != nil {
			must(rt, a.Close())
		}
		holds(rt, b.Buffer, want)
		must(rt, b.Close())
		again := mustOpen(rt, dir, 100_000)
		defer again.Close()
		holds(rt, again, want)
		if len(again.Losses()) > 0 {
			rt.Fatalf("losses %v", again.Losses())
		}
	})
}

// One flight without end: the bound holds after every row, the newest rows are there, and the wind of before is not
// forgotten.
func TestEndlessFlight(t *testing.T) {
	t.Parallel() // waits for the disk
	b := mustOpenClocked(t, t.TempDir(), 1000)
	defer b.Close()
	must(t, b.put(pushed("before", 0, 125, so3.Vec3{Y: -4})))
	a, err := b.Grow("endless")
	must(t, err)
	rows := stretch("endless", 0, 1500).Rows
	for k, r := range rows {
		must(t, b.record(a, r))
		if b.Rows() > 1000 {
			t.Fatalf("%d rows at row %d", b.Rows(), k)
		}
	}
	must(t, a.Close())
	segments, err := b.segments()
	must(t, err)
	n := map[string]int{}
	for _, s := range segments {
		n[s.Flight] += len(s.Rows)
	}
	if last := segments[len(segments)-1]; last.Rows[len(last.Rows)-1] != rows[1499] || n["before"] != 125 ||
		n["endless"] < 700 {
		t.Fatalf("rows by flight %v", n)
	}
}

func TestGrowRefuses(t *testing.T) {
	b := mustOpenClocked(t, t.TempDir(), 1000)
	defer b.Close()
	if _, err := b.Grow(""); err == nil {
		t.Error("a flight without a name")
	}
	a, err := b.Grow("a")
	must(t, err)
	if _, err := b.Grow("b"); err == nil || !strings.HasSuffix(err.Error(), `flight "a" is still being recorded`) {
		t.Errorf("second appender: %v", err)
	}
	rows := stretch("a", 0, 3).Rows
	bad := rows[1]
	bad.State.V.X = math.Inf(1)
	must(t, b.record(a, rows[0]))
	if err := b.record(a, bad); err == nil ||
		!strings.HasSuffix(err.Error(), `flight "a", t = 0.02 s: +Inf among the numbers`) {
		t.Errorf("unfit row: %v", err)
	}
	must(t, b.record(a, rows[1])) // the refusal changed nothing
	must(t, a.Close())
	holds(t, b.Buffer, []Segment{{Flight: "a", Rows: rows[:2]}})
	if err := b.record(a, rows[2]); err == nil || !strings.HasSuffix(err.Error(), "was closed") {
		t.Errorf("append after close: %v", err)
	}
	if _, err := b.Grow("b"); err != nil {
		t.Errorf("after close: %v", err)
	}
}

// tinyDisk has space for so many bytes; then a write leaves a part and says so.
type tinyDisk struct {
	*os.File
	space    *int
	failSync bool
}

func (d tinyDisk) Write(b []byte) (int, error) {
	if len(b) > *d.space {
		n, _ := d.File.Write(b[:*d.space])
		*d.space = 0
		return n, &os.PathError{Op: "write", Path: d.Name(), Err: syscall.ENOSPC}
	}
	*d.space -= len(b)
	return d.File.Write(b)
}

func (d tinyDisk) Sync() error {
	if d.failSync {
		return syscall.EIO
	}
	return d.File.Sync()
}

// A disk that fills up at any byte: what was flushed stays, the error counts the rest, and the file is whole.
func TestDiskFullWhileGrowing(t *testing.T) {
	t.Parallel() // waits for the disk
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		must(rt, err)
		b := mustOpenClocked(rt, dir, 100_000)
		defer b.Close()
		space := rapid.IntRange(0, 40000).Draw(rt, "space")
		failSync := rapid.Bool().Draw(rt, "fail at sync") && space > 39000
		b.open = func(path string) (output, error) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			return tinyDisk{f, &space, failSync}, err
		}
		want := stretch("a", 0, 400)
		a, err := b.Grow("a")
		must(rt, err)
		failedAt := -1
		for k, r := range want.Rows {
			if err = b.record(a, r); err != nil {
				failedAt = k
				break
			}
		}
		cause := syscall.ENOSPC
		if failSync {
			cause = syscall.EIO
		}
		lost := failedAt + 1 - b.Rows()
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), fmt.Sprintf("%d rows lost", lost)) ||
			strings.Contains(err.Error(), "\n") {
			rt.Fatalf("error %v after row %d, %d rows on disk", err, failedAt, b.Rows())
		}
		if again := a.Append(want.Rows[failedAt]); again == nil || again.Error() != err.Error() {
			rt.Fatalf("later error %v, first %v", again, err)
		}
		if losses := b.Losses(); len(losses) != 1 || losses[0].Rows != lost || losses[0].After != b.Rows() {
			rt.Fatalf("losses %v", losses)
		}
		segments, losses, err := ReadDir(dir, delta)
		if err != nil || len(losses) > 0 {
			rt.Fatalf("losses on disk %v, error %v", losses, err)
		}
		holds(rt, b.Buffer, segments)
		for _, s := range segments {
			prefix(rt, s, want)
		}
		space, failSync = 1<<30, false
		a, err = b.Grow("a")
		must(rt, err)
		must(rt, b.record(a, want.Rows[0]))
		must(rt, a.Close())
	})
}

func TestCannotBeginSegment(t *testing.T) {
	dir := t.TempDir()
	b := mustOpenClocked(t, dir, 1000)
	defer b.Close()
	b.open = func(string) (output, error) { return nil, syscall.EMFILE }
	a, err := b.Grow("a")
	must(t, err)
	err = b.record(a, stretch("a", 0, 1).Rows[0])
	if want := "buffer: " + filepath.Join(dir, "00000001.seg") +
		`: flight "a", 1 rows lost: too many open files`; err == nil || err.Error() != want {
		t.Fatalf("error %v, expected %q", err, want)
	}
	if names, err := list(dir); err != nil || len(names) != 0 {
		t.Fatalf("left behind: %v, error %v", names, err)
	}
}

func BenchmarkAppendRow(b *testing.B) {
	buffer := mustOpenClocked(b, b.TempDir(), 1_000_000)
	defer buffer.Close()
	a, err := buffer.Grow("a")
	must(b, err)
	r := stretch("a", 0, 1).Rows[0]
	b.ReportAllocs()
	for k := range b.N {
		r.T = float64(k) * delta
		must(b, buffer.record(a, r))
	}
}

func BenchmarkReadDir(b *testing.B) {
	dir := b.TempDir()
	buffer := mustOpen(b, dir, 1_000_000)
	defer buffer.Close()
	for i := range 10 {
		must(b, buffer.put(stretch("a", float64(i)*1000, 3000)))
	}
	b.SetBytes(30000 * rowSize)
	for b.Loop() {
		if _, _, err := ReadDir(dir, delta); err != nil {
			b.Fatal(err)
		}
	}
}
