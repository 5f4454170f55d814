package dataset

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

const (
	dt    = 0.02
	begin = int64(1_700_000_000_123_456_789)
)

// step k of ticks every period ns; its thrust tells which one it is.
func step(k int, period int64) ControllerStep {
	return ControllerStep{Seq: uint64(k), Stamp: begin + int64(k)*period, Sent: quad.Command{Thrust: float64(k)},
		State: quad.State{P: so3.Vec3{X: float64(k)}, Q: so3.Identity()}}
}

func gathered(steps []ControllerStep) (rows []flightRow, g *gatherer) {
	g = newGatherer(&CollectorConfig{Dt: dt, Guarded: 0.5, Halved: 0.1})
	for _, s := range steps {
		if r, ok := g.add(s); ok {
			rows = append(rows, r)
		}
	}
	if r, ok := g.finish(); ok {
		rows = append(rows, r)
	}
	return rows, g
}

func TestConfig(t *testing.T) {
	if err := param.Check(new(CollectorConfig)); err != nil {
		t.Error(err)
	}
}

// TestRates: at any rate a row is the state at its time and the mean command until the next, with jitter too.
func TestRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.IntRange(1, 8).Draw(t, "every")
		period := int64(20e6) / int64(every)
		var steps []ControllerStep
		for k := range 40 * every {
			s := step(k, period)
			s.Stamp += rapid.Int64Range(-period/10, period/10).Draw(t, "jitter")
			steps = append(steps, s)
		}
		rows, g := gathered(steps)
		if len(rows) != 40 || g.losses != (StepLosses{}) {
			t.Fatalf("%d rows, losses %+v", len(rows), g.losses)
		}
		for i, r := range rows {
			first := float64(i * every)
			mean := first + float64(every-1)/2
			if r.State.P.X != first || math.Abs(r.Command.Thrust-mean) > 1e-9 || r.Confidence != 1 {
				t.Fatalf("row %d: state of tick %g, mean command %g, confidence %g; expected %g, %g, 1", i, r.State.P.X,
					r.Command.Thrust, r.Confidence, first, mean)
			}
			if i > 0 && !quad.Follows(rows[i-1].T, r.T, dt) {
				t.Fatalf("row %d at %g does not follow %g", i, r.T, rows[i-1].T)
			}
		}
	})
}

func TestConfidence(t *testing.T) {
	const period = int64(5e6)
	var steps []ControllerStep
	for k := range 24 {
		s := step(k, period)
		switch {
		case k == 5: // of row 1
			continue
		case k == 9: // of row 2
			s.Stage = guard.Hold
		case k == 13:
			s.Stands = true
		case k >= 12 && k < 16:
			s.Stage = []guard.Stage{guard.Blind, guard.Off, guard.NotOffboard}[k%3]
		case k >= 20:
			s.Stage, s.Deviation = guard.Limited, 0.1 // the velocity is as unsure as halves it
		case k == 0:
			s.Deviation = math.NaN() // not known
		}
		steps = append(steps, s)
	}
	rows, g := gathered(steps)
	want := []float32{1, 0.75, 0.5, 1, 0.5}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, expected %d", len(rows), len(want))
	}
	for i, r := range rows {
		if r.Confidence != want[i] {
			t.Errorf("row %d: confidence %g, expected %g", i, r.Confidence, want[i])
		}
	}
	if quad.Follows(rows[2].T, rows[3].T, dt) {
		t.Error("rows before and after blind flight follow each other")
	}
	if got := g.losses; got != (StepLosses{Steps: 1, Unlearned: 4}) {
		t.Errorf("losses %+v", got)
	}
}

// TestDisorder: what comes twice is left out; a controller that begins anew begins another flight, and so does a pause.
func TestDisorder(t *testing.T) {
	const period = int64(20e6)
	var steps []ControllerStep
	for k := range 10 {
		steps = append(steps, step(k, period), step(k, period))
	}
	again := step(0, period)
	again.Stamp = begin + 11*period
	later := step(1, period)
	later.Stamp = again.Stamp + int64(3*time.Second)
	bad := step(2, period)
	bad.Stamp, bad.State.V.X = later.Stamp+period, math.NaN()
	bent := step(3, period)
	bent.Stamp, bent.State.Q.W = later.Stamp+2*period, 0.9
	rows, g := gathered(append(steps, again, later, bad, bent))
	if len(rows) != 12 || g.losses != (StepLosses{Repeated: 10, Restarts: 1, Unfit: 2}) {
		t.Errorf("%d rows, losses %+v", len(rows), g.losses)
	}
	flights := map[string]int{}
	for _, r := range rows {
		flights[r.Flight]++
		if stamp, ok := FlightStart(r.Flight); !ok || stamp < begin {
			t.Errorf("flight %q began at %d", r.Flight, stamp)
		}
	}
	if len(flights) != 3 {
		t.Errorf("flights %v, expected 3", flights)
	}
	if _, ok := FlightStart("fan"); ok {
		t.Error("a foreign flight has a beginning")
	}
}

func settings() (c CollectorConfig) {
	param.Default(&c)
	c.Seconds, c.MaxRows = 1, 1000
	return c
}

// collector has ticks of the test's own.
func collector(t *testing.T, dir string, found *[]SegmentFile) (*Collector, chan time.Time) {
	t.Helper()
	ticks := make(chan time.Time)
	c, err := OpenCollector(settings(), CollectorOptions{Dir: dir, Ticks: ticks,
		Finished: func(s SegmentFile) { *found = append(*found, s) }})
	if err != nil {
		t.Fatal(err)
	}
	return c, ticks
}

// TestSegments: segments end in time and are told of, whole, once, and again after a restart; what is older than the
// buffer's bound goes, and what was cut is told of anew.
func TestSegments(t *testing.T) {
	dir := t.TempDir()
	var found []SegmentFile
	c, _ := collector(t, dir, &found)
	for k := range 130 {
		c.Add(step(k, 20e6))
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{50, 50, 30} {
		s := found[i]
		data, err := os.ReadFile(filepath.Join(s.Dir, s.File))
		if err != nil || sha256.Sum256(data) != s.SHA256 || s.Rows != want || !filepath.IsAbs(s.Dir) {
			t.Errorf("segment %d: %+v, %v", i, s, err)
		}
		last := min(50*i+49, 129)
		if d := s.Stamp - begin - int64(last)*20e6; d < -1000 || d > 1000 {
			t.Errorf("segment %d ends %d ns beside its last row", i, d)
		}
	}
	if n := c.Counts(); len(found) != 3 || n.Rows != 130 || n.Segments != 3 || n.Steps != 130 || n.Err != nil {
		t.Errorf("%d segments, %+v", len(found), n)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err == nil {
		t.Error("a closed collector flushes")
	}
	var again []SegmentFile
	c, _ = collector(t, dir, &again)
	if len(again) != 3 || again[2] != found[2] {
		t.Errorf("after a restart: %+v", again)
	}
	if _, err := OpenCollector(settings(), CollectorOptions{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "another process") {
		t.Errorf("a second writer: %v", err)
	}
	for k := 130; k < 1200; k++ {
		c.Add(step(k, 20e6))
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	latest := map[string]SegmentFile{}
	for _, s := range again {
		latest[s.File] = s
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	for _, f := range files {
		if sum, err := FileSHA256(f); err != nil || latest[filepath.Base(f)].SHA256 != sum {
			t.Errorf("%s is not what was told of it last, %v", f, err)
		}
	}
}

// TestAnnouncedHasABound: what was announced of segments that have gone is forgotten.
func TestAnnouncedHasABound(t *testing.T) {
	var found []SegmentFile
	c, _ := collector(t, t.TempDir(), &found)
	const segments = 200
	for k := range segments * 50 {
		c.Add(step(k, 20e6))
		if k%2000 == 0 {
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n, known := c.Counts().Segments, len(c.announced); known > 2*n+most || len(found) < segments {
		t.Errorf("%d segments announced, %d remembered of which %d are there", len(found), known, n)
	}
}

// TestFullDisk: without space, or a folder, it reports that and goes on when there is space again.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "buffer")
	now := time.Unix(0, begin)
	var found []SegmentFile
	ticks := make(chan time.Time)
	c, err := OpenCollector(settings(), CollectorOptions{Dir: dir, Ticks: ticks, Now: func() time.Time { return now },
		Finished: func(s SegmentFile) { found = append(found, s) }})
	if err != nil {
		t.Fatal(err)
	}
	away := dir + "-away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	for k := range 10 {
		c.Add(step(k, 20e6))
	}
	if err := c.Flush(); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("without its folder: %v", err)
	}
	if n := c.Counts(); n.Lost != 10 || n.Err == nil {
		t.Errorf("%+v", n)
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Second)
	for k := 10; k < 20; k++ {
		c.Add(step(k, 20e6))
	}
	if err := c.Flush(); err != nil {
		t.Errorf("with its folder again: %v", err)
	}
	if len(found) != 1 || found[0].Rows != 10 {
		t.Errorf("found %+v", found)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestQueue: a disk that stands still costs steps, counted, and never holds up who adds them.
func TestQueue(t *testing.T) {
	blocked, release := make(chan struct{}), make(chan struct{})
	first := true
	c, err := OpenCollector(settings(), CollectorOptions{Dir: t.TempDir(), Ticks: make(chan time.Time),
		Now: func() time.Time {
			if first {
				first = false
				close(blocked)
				<-release
			}
			return time.Unix(0, begin)
		}})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 { // the second completes the first row
		c.Add(step(k, 20e6))
	}
	<-blocked
	taken := 2
	for k := 2; k < 5000; k++ {
		if c.Add(step(k, 20e6)) {
			taken++
		}
	}
	if n := c.Counts(); taken > queue+2 || n.Dropped != uint64(5000-taken) || n.Dropped == 0 {
		t.Errorf("%d of 5000 taken, %+v", taken, n)
	}
	close(release)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestKilled: what a killed process had brought to disk is there, as one segment that a restart tells of.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("VND_TEST_COLLECT"); dir != "" {
		collectForever(dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), "VND_TEST_COLLECT="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	durable := 0
	for lines := bufio.NewScanner(out); durable < 300 && lines.Scan(); {
		if durable, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("%q", lines.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	var found []SegmentFile
	c, _ := collector(t, dir, &found)
	rows := 0
	for _, s := range found {
		g, loss, err := ReadFile(filepath.Join(s.Dir, s.File), dt)
		if err != nil || loss != nil && loss.Rows > 25 || uint64(len(g.Rows)) != s.Rows {
			t.Errorf("%+v: %d rows, %v, %v", s, len(g.Rows), loss, err)
		}
		rows += int(s.Rows)
	}
	if durable < 300 || rows < durable {
		t.Errorf("%d rows were on disk, %d are there", durable, rows)
	}
	c.Add(step(0, 20e6))
	if err := c.Close(); err != nil || len(found) < 2 {
		t.Errorf("it does not go on: %v, %d segments", err, len(found))
	}
}

// collectForever says after every half second of flight, and the tick that belongs to it, how many rows are safe.
func collectForever(dir string) {
	ticks := make(chan time.Time)
	cfg := settings()
	cfg.Seconds, cfg.MaxRows = 3, 1e6
	c, err := OpenCollector(cfg, CollectorOptions{Dir: dir, Ticks: ticks})
	if err != nil {
		panic(err)
	}
	for k := 0; ; k++ {
		for !c.Add(step(k, 20e6)) {
			time.Sleep(time.Millisecond)
		}
		if k%25 == 24 {
			for len(c.steps) > 0 {
				time.Sleep(time.Millisecond)
			}
			ticks <- time.Time{}
			ticks <- time.Time{} // taken after the first was served
			fmt.Println(k)       // row k waits for its successor
		}
	}
}
