package dataset

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

const delta = 0.02

// stretch makes a segment of n rows whose content depends on where it begins.
func stretch(flight string, start float64, n int) Segment {
	s := Segment{Flight: flight}
	for k := range n {
		t := start + float64(k)*delta
		s.Rows = append(s.Rows, WeightedRow{
			Row: quad.Row{
				T: t,
				State: quad.State{
					P: so3.Vec3{X: math.Sin(t), Y: math.Cos(t), Z: t},
					Q: so3.Exp(so3.Vec3{X: 0.3 * math.Sin(t), Z: t}),
					V: so3.Vec3{X: math.Cos(t), Y: -math.Sin(t), Z: 1},
				},
				Command: quad.Command{Thrust: 9.81 + math.Sin(7*t), Rates: so3.Vec3{Y: t, Z: -1 / (1 + t*t)}},
			},
			Confidence: float32(k%5) / 4,
		})
	}
	return s
}

func options(maxRows int) Options {
	return Options{MaxRows: maxRows, Delta: delta, Clock: func() time.Time { return time.Unix(0, 0) }}
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func mustOpen(t fataler, dir string, maxRows int) *Buffer {
	t.Helper()
	b, err := Open(dir, options(maxRows))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// holds compares the buffer's content, counts and digest with want.
func holds(t fataler, b *Buffer, want []Segment) {
	t.Helper()
	got, err := b.segments()
	must(t, err)
	same := func(a, b Segment) bool { return a.Flight == b.Flight && slices.Equal(a.Rows, b.Rows) }
	if !slices.EqualFunc(want, got, same) {
		t.Fatalf("segments differ: %s", cmp.Diff(want, got))
	}
	rows := 0
	for i, f := range b.Files() {
		rows += f.Rows
		if f.Flight != want[i].Flight || f.Digest != want[i].digest() {
			t.Fatalf("digest of %s differs", f.Name)
		}
	}
	if rows != b.Rows() || b.digest() != Digest(want) {
		t.Fatalf("%d rows by file, %d in all, or the digest differs", rows, b.Rows())
	}
}

func TestAppendAndReopen(t *testing.T) {
	t.Parallel() // waits for the disk
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		must(rt, err)
		b := mustOpen(rt, dir, 1_000_000)
		var want []Segment
		for range rapid.IntRange(0, 5).Draw(rt, "segments") {
			s := stretch(rapid.SampledFrom([]string{"a", "b", "ü/ …"}).Draw(rt, "flight"),
				rapid.Float64Range(-1e4, 1e4).Draw(rt, "start"), rapid.IntRange(1, 600).Draw(rt, "rows"))
			must(rt, b.put(s))
			want = append(want, s)
			if rapid.Bool().Draw(rt, "reopen") {
				must(rt, b.Close())
				b = mustOpen(rt, dir, 1_000_000)
			}
			holds(rt, b, want)
		}
		must(rt, b.Close())
		got, losses, err := ReadDir(dir, delta)
		if err != nil || len(losses) != 0 || Digest(got) != Digest(want) {
			rt.Fatalf("ReadDir: %d segments, losses %v, error %v", len(got), losses, err)
		}
	})
}

func TestDigestFollowsContent(t *testing.T) {
	base := []Segment{stretch("a", 0, 30), stretch("b", 0, 30)}
	seen := map[[32]byte]string{Digest(base): "base"}
	changed := stretch("b", 0, 30)
	changed.Rows[29].Confidence = 0.3
	for name, s := range map[string][]Segment{
		"none":       nil,
		"order":      {base[1], base[0]},
		"one":        base[:1],
		"flight":     {base[0], stretch("c", 0, 30)},
		"shorter":    {base[0], stretch("b", 0, 29)},
		"confidence": {base[0], changed},
	} {
		d := Digest(s)
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
}

func TestFromFlights(t *testing.T) {
	s := stretch("f", 3, 25)
	var steps []quad.Row
	for k := range s.Rows {
		steps = append(steps, s.Rows[k].Row)
		s.Rows[k].Confidence = 1
	}
	got := FromFlights([]quad.Flight{{Name: "f", Segments: [][]quad.Row{steps, {}, steps[:3]}}, {Name: "empty"}})
	want := []Segment{s, {Flight: "f", Rows: s.Rows[:3]}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestAppendRefuses(t *testing.T) {
	dir := t.TempDir()
	b := mustOpen(t, dir, 1000)
	defer b.Close()
	row := func(k int, spoil func(*WeightedRow)) Segment {
		s := stretch("a", 0, 30)
		spoil(&s.Rows[k])
		return s
	}
	for want, s := range map[string]Segment{
		`a flight's name has 0 bytes, expected 1 to 1024`:    stretch("", 0, 3),
		`a flight's name has 1025 bytes, expected 1 to 1024`: stretch(strings.Repeat("n", 1025), 0, 3),
		`a segment of 0 bytes, expected rows of 124`:         stretch("a", 0, 0),
		`flight "a": NaN among the numbers`: row(3,
			func(r *WeightedRow) { r.Command.Rates.Y = math.NaN() }),
		`flight "a": quaternion of norm 0`: row(4,
			func(r *WeightedRow) { r.State.Q = so3.Quat{} }),
		`flight "a": confidence 1.5, expected 0 to 1`: row(5,
			func(r *WeightedRow) { r.Confidence = 1.5 }),
		`flight "a": confidence NaN, expected 0 to 1`: row(6,
			func(r *WeightedRow) { r.Confidence = float32(math.NaN()) }),
		`flight "a": its time has a gap`: row(1,
			func(r *WeightedRow) { r.T = 0.12 }),
	} {
		if err := b.put(s); err == nil || err.Error() != "buffer "+dir+": "+want {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	holds(t, b, nil)
}

func TestOpenRefuses(t *testing.T) {
	for want, o := range map[string]Options{
		"max rows is 999, expected at least 1000":      options(999),
		"time step Δt is 0 s, expected more than 0":    {MaxRows: 1000, Clock: time.Now},
		"time step Δt is +Inf s, expected more than 0": {MaxRows: 1000, Delta: math.Inf(1), Clock: time.Now},
		"no clock": {MaxRows: 1000, Delta: delta},
	} {
		if _, err := Open(t.TempDir(), o); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}

	dir := t.TempDir()
	b := mustOpen(t, dir, 1000)
	must(t, b.put(stretch("a", 0, 30)))
	want := "buffer " + dir + ": another process is writing to it"
	if _, err := Open(dir, options(1000)); err == nil || err.Error() != want {
		t.Fatalf("second writer: error %v, expected %q", err, want)
	}
	must(t, b.Close())

	path := filepath.Join(dir, "00000001.seg")
	o := options(1000)
	o.Delta = 0.01
	want = "buffer: " + path + ": recorded at Δt = 0.02 s, expected 0.01 s"
	if _, err := Open(dir, o); err == nil || err.Error() != want {
		t.Fatalf("another Δt: error %v, expected %q", err, want)
	}
	content, err := os.ReadFile(path)
	must(t, err)
	binary.LittleEndian.PutUint32(content[8:], 7)
	must(t, os.WriteFile(path, content, 0o666))
	want = "buffer: " + path + ": segment file of version 7, this program reads version 1"
	if _, err := Open(dir, options(1000)); err == nil || err.Error() != want {
		t.Fatalf("another version: error %v, expected %q", err, want)
	}
	if _, err := Open(path, options(1000)); err == nil {
		t.Fatal("a file was opened as a directory")
	}
}

func TestClosed(t *testing.T) {
	dir := t.TempDir()
	b := mustOpen(t, dir, 1000)
	a, err := b.Grow("a")
	must(t, err)
	must(t, a.Append(stretch("a", 0, 1).Rows[0]))
	must(t, b.Close())
	must(t, b.Close())
	if err := b.put(stretch("a", 0, 30)); err == nil {
		t.Error("appended to a closed buffer")
	}
	if _, err := b.Grow("a"); err == nil {
		t.Error("grew a closed buffer")
	}
	if err := a.Append(stretch("a", 0, 2).Rows[1]); err == nil {
		t.Error("the appender outlived its buffer")
	}
	b, err = Open(dir, options(1000))
	must(t, err)
	defer b.Close()
	holds(t, b, []Segment{stretch("a", 0, 1)})
}

// Other files in the directory are none of the buffer's business, but those of a killed write go.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notes.txt", "1.seg", "-0000001.seg", "00000000.seg", "x.seg",
		".00000001.seg.unfinished-0badcafe"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("not ours"), 0o666))
	}
	must(t, os.Mkdir(filepath.Join(dir, "00000007.seg"), 0o777))
	b := mustOpen(t, dir, 1000)
	defer b.Close()
	holds(t, b, nil)
	must(t, b.put(stretch("a", 0, 3)))
	holds(t, b, []Segment{stretch("a", 0, 3)})
	for name, want := range map[string]bool{"x.seg": true, "notes.txt": true,
		".00000001.seg.unfinished-0badcafe": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEviction holds the bound; that the newest segment stays, if need be without its oldest rows; and that the others
// stay or go as a whole. Reopening changes nothing.
func TestEviction(t *testing.T) {
	t.Parallel() // waits for the disk
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		must(rt, err)
		maxRows := rapid.IntRange(LeastMaxRows, 1800).Draw(rt, "bound")
		b := mustOpen(rt, dir, maxRows)
		defer b.Close()
		var put []Segment
		for k := range rapid.IntRange(1, 8).Draw(rt, "segments") {
			flight := rapid.StringMatching("[a-f]").Draw(rt, "flight")
			s := stretch(flight, 1000*float64(k), rapid.IntRange(1, 2000).Draw(rt, "rows"))
			must(rt, b.put(s))
			put = append(put, s)
			checkKept(rt, b, put, maxRows)
		}
		before := b.digest()
		must(rt, b.Close())
		b = mustOpen(rt, dir, maxRows)
		defer b.Close()
		if b.digest() != before {
			rt.Fatal("the digest changed with reopening")
		}
	})
}

func checkKept(rt *rapid.T, b *Buffer, put []Segment, maxRows int) {
	if b.Rows() > maxRows {
		rt.Fatalf("%d rows, bound %d", b.Rows(), maxRows)
	}
	segments, err := b.segments()
	must(rt, err)
	for i, s := range segments {
		newest := i == len(segments)-1
		ok := func(p Segment) bool {
			lost := len(p.Rows) - len(s.Rows)
			short := lost == 0 || lost > 0 && len(p.Rows) > maxRows-maxRows/slackShare
			return p.Flight == s.Flight && short && slices.Equal(p.Rows[lost:], s.Rows)
		}
		if !slices.ContainsFunc(put, ok) || newest && !ok(put[len(put)-1]) {
			rt.Fatalf("segment %d of %d: flight %s with %d rows is not what was put", i+1, len(segments), s.Flight,
				len(s.Rows))
		}
	}
}

// TestRareConditionStays: ten seconds in a wind are still there after a long flight in calm, whatever is reopened and
// however often the writer is killed in the middle of an eviction.
func TestRareConditionStays(t *testing.T) {
	t.Parallel() // waits for the disk
	dir := t.TempDir()
	b := mustOpen(t, dir, 5000)
	rare := []Segment{pushed("rare", 0, 250, so3.Vec3{X: 3}), pushed("rare", 5, 250, so3.Vec3{X: 3})}
	must(t, b.put(rare[0]))
	must(t, b.put(rare[1]))
	for k := range 60 {
		must(t, b.put(pushed("calm", 5*float64(k), 250, so3.Vec3{X: 0.01 * float64(k%5)})))
		if k%20 == 0 {
			must(t, b.Close())
			b = mustOpen(t, dir, 5000)
		}
	}
	defer b.Close()
	segments, err := b.segments()
	must(t, err)
	if len(segments) < 15 || Digest(segments[:2]) != Digest(rare) {
		t.Errorf("%d segments, the first of flight %q: the rare condition is forgotten", len(segments),
			segments[0].Flight)
	}
	if last := segments[len(segments)-1]; last.Rows[0].T != 5*59 {
		t.Errorf("the newest segment begins at %g s", last.Rows[0].T)
	}
}

// A buffer that is opened with a smaller bound shrinks at once.
func TestShrink(t *testing.T) {
	dir := t.TempDir()
	b := mustOpen(t, dir, 10000)
	must(t, b.put(stretch("a", 0, 3000)))
	must(t, b.put(stretch("b", 0, 3000)))
	must(t, b.Close())
	b = mustOpen(t, dir, 1000)
	defer b.Close()
	c := stretch("b", 0, 3000)
	c.Rows = c.Rows[3000-985:]
	holds(t, b, []Segment{c})
}
