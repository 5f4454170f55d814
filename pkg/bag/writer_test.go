package bag

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestWriteAndRead: every format gives back what went in.
func TestWriteAndRead(t *testing.T) {
	for _, o := range kinds {
		t.Run(kindName(o), func(t *testing.T) {
			o.Distro = "jazzy"
			dir, want := writeSamples(t, o, 600)
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if got := digestOf(t, r); got.String() != want.String() {
				t.Errorf("read %v, written were %v", got.counts, want.counts)
			}
			info := r.Info()
			if info.Messages != 600 || info.Start != sampleStart || info.Duration() != 599*20*time.Millisecond || info.Distro != "jazzy" {
				t.Errorf("%d messages from %d, %v, by %q", info.Messages, info.Start, info.Duration(), info.Distro)
			}
			if len(info.Warnings) > 0 || info.Lost.Any() || info.Live {
				t.Errorf("warnings %q, %s", info.Warnings, info.Lost.String())
			}
			if split := o.MaxFileSize > 0 || o.MaxFileDuration > 0; split != (len(info.Files) > 2) {
				t.Errorf("%d files", len(info.Files))
			}
			checkTopics(t, info.Topics, o)
		})
	}
}

func checkTopics(t *testing.T, got []Topic, o WriterOptions) {
	t.Helper()
	want := sampleTopics()
	for i := range want {
		want[i].Count = 200
		if o.MetadataVersion == 5 && o.Storage == SQLite {
			want[i].TypeHash, want[i].Definition, want[i].DefinitionEncoding = "", "", ""
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSequencesAndPublishTimes survive in MCAP.
func TestSequencesAndPublishTimes(t *testing.T) {
	dir, _ := writeSamples(t, WriterOptions{}, 30)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	it, err := r.Messages()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		m, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(sample(i), m); d != "" {
			t.Fatal(d)
		}
	}
}

// fakeClock is time that only tests move.
type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// TestKillAtAnyMoment: what is on the disk at any moment holds every message
// older than one second, and of all messages a prefix.
func TestKillAtAnyMoment(t *testing.T) {
	for _, o := range []WriterOptions{{}, {Compression: "none", MaxFileSize: 60_000}, {Storage: SQLite}, {Storage: SQLite, MaxFileDuration: 2 * time.Second}} {
		t.Run(kindName(o), func(t *testing.T) {
			clock := &fakeClock{at: time.Unix(0, sampleStart)}
			o.Now = clock.now
			dir := filepath.Join(t.TempDir(), "killed")
			w, err := Create(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, topic := range sampleTopics() {
				if err := w.AddTopic(topic); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 300 {
				m := sample(i)
				clock.add(20 * time.Millisecond) // the message's own time has passed
				if err := w.Write(m); err != nil {
					t.Fatal(err)
				}
				if i%23 == 0 {
					checkPrefix(t, dir, i+1, clock.now().Add(-time.Second))
				}
			}
			// Then silence: ticks alone bring the last messages to the disk.
			clock.add(900 * time.Millisecond)
			if err := w.Tick(); err != nil {
				t.Fatal(err)
			}
			checkPrefix(t, dir, 300, clock.now())
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			checkPrefix(t, dir, 300, clock.now())
		})
	}
}

// checkPrefix opens a copy of what is on the disk: a prefix of the first n
// samples, with all those from before the given time.
func checkPrefix(t testing.TB, dir string, n int, safe time.Time) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	it, err := r.Messages()
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for ; ; got++ {
		m, err := it.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := sample(got); got >= n || m.LogTime != want.LogTime || string(m.Data) != string(want.Data) {
			t.Fatalf("message %d of %d is not what was written", got, n)
		}
	}
	if got < n && sample(got).LogTime < safe.UnixNano() {
		t.Fatalf("%d of %d messages are there, the next is %v too old to be missing", got, n, safe.Sub(time.Unix(0, sample(got).LogTime)))
	}
	if info := r.Info(); info.Messages != uint64(got) {
		t.Fatalf("the summary says %d messages, %d are read", info.Messages, got)
	}
}

// TestTornFile: a recording cut at any byte gives a prefix, and Recover makes
// a whole bag of it.
func TestTornFile(t *testing.T) {
	type torn struct {
		o     WriterOptions
		files map[string]string
	}
	var bags []torn
	for _, o := range []WriterOptions{{}, {Compression: "lz4"}, {Compression: "none"}, {Storage: SQLite}} {
		dir := filepath.Join(t.TempDir(), "torn")
		w, err := Create(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, topic := range sampleTopics() {
			if err := w.AddTopic(topic); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 150 {
			if err := w.Write(sample(i)); err != nil {
				t.Fatal(err)
			}
			if i%20 == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		bags = append(bags, torn{o, contents(t, dir)}) // still open: no end, no metadata
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := bags[rapid.IntRange(0, len(bags)-1).Draw(rt, "format")]
		dir, err := os.MkdirTemp(t.TempDir(), "torn")
		if err != nil {
			rt.Fatal(err)
		}
		// The file that grows: SQLite's log, or the MCAP file.
		grows := "torn_0.mcap"
		if b.o.Storage == SQLite {
			grows = "torn_0.db3-wal"
		}
		for name, text := range b.files {
			if name == grows {
				text = text[:rapid.IntRange(0, len(text)).Draw(rt, "cut")]
			}
			if strings.HasSuffix(name, "-shm") {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		out := dir + "-recovered"
		rec, err := Recover(dir, out, WriterOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		if rec.Written > 150 {
			rt.Fatalf("%d messages of 150", rec.Written)
		}
		info, err := Info(out)
		if err != nil {
			rt.Fatal(err)
		}
		if info.Messages != rec.Written || info.Lost.Any() || info.Live || info.Storage != rec.From.Storage {
			rt.Fatalf("recovered %d messages, the new bag has %d; %s", rec.Written, info.Messages, info.Lost.String())
		}
		checkPrefix(t, out, int(rec.Written), time.Now())
	})
}

// TestKilledProcess kills a recording process with SIGKILL: what it had
// flushed is there.
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv("VND_TEST_RECORD"); dir != "" {
		recordForever(dir, os.Getenv("VND_TEST_STORAGE"))
		return
	}
	for _, storage := range []string{MCAP, SQLite} {
		dir := filepath.Join(t.TempDir(), "victim")
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledProcess$")
		cmd.Env = append(os.Environ(), "VND_TEST_RECORD="+dir, "VND_TEST_STORAGE="+storage)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		flushed := 0
		for lines := bufio.NewScanner(out); flushed < 200 && lines.Scan(); {
			if flushed, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatalf("%q", lines.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // says that it was killed
		s, err := Info(dir)
		if err != nil {
			t.Fatal(err)
		}
		if flushed < 200 || s.Messages < uint64(flushed) || !s.Live {
			t.Errorf("%s: %d messages were flushed, %d are there; live %v", storage, flushed, s.Messages, s.Live)
		}
		checkPrefix(t, dir, int(s.Messages), time.Unix(0, sample(flushed).LogTime))
	}
}

// recordForever tells on standard output how many messages are on the disk.
func recordForever(dir, storage string) {
	w, err := Create(dir, WriterOptions{Storage: storage})
	if err != nil {
		panic(err)
	}
	for _, topic := range sampleTopics() {
		if err := w.AddTopic(topic); err != nil {
			panic(err)
		}
	}
	for i := 0; ; i++ {
		if err := w.Write(sample(i)); err != nil {
			panic(err)
		}
		if i%9 == 8 {
			if err := w.Flush(); err != nil {
				panic(err)
			}
			fmt.Println(i + 1)
		}
	}
}

// limited is a file on a disk that is full at some size.
type limited struct {
	*os.File
	limit int64
}

var errFull = errors.New("no space left on device")

func (f *limited) WriteAt(p []byte, off int64) (int, error) {
	if room := f.limit - off; int64(len(p)) > room {
		n, _ := f.File.WriteAt(p[:max(0, room)], off)
		return n, errFull
	}
	return f.File.WriteAt(p, off)
}

// TestFullDisk: one clear error, and what was written before is readable.
func TestFullDisk(t *testing.T) {
	plain := createFile
	t.Cleanup(func() { createFile = plain })
	for _, limit := range []int64{2_000, 30_000, 61_000, 100_001} {
		createFile = func(path string) (mcapFile, error) {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
			return &limited{f, limit}, err
		}
		checkFullDisk(t, WriterOptions{Compression: "none", FlushEvery: time.Nanosecond}, "full_0.mcap: no space left on device")
	}
}

func checkFullDisk(t *testing.T, o WriterOptions, says string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "full")
	w, err := Create(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range sampleTopics() {
		if err = w.AddTopic(topic); err != nil {
			break
		}
	}
	i := 0
	for ; err == nil && i < 1000; i++ {
		err = w.Write(sample(i))
	}
	if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("after %d messages: %v", i, err)
	}
	if again := w.Write(sample(i)); again == nil || again.Error() != err.Error() {
		t.Errorf("the next error is another: %v", again)
	}
	stats := w.Stats()
	cerr := w.Close()
	if cerr == nil || !strings.Contains(cerr.Error(), err.Error()) {
		t.Errorf("Close says %v", cerr)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d := digestOf(t, r)
	n := d.counts["/chat"] + d.counts["/long"] + d.counts["/point"]
	if n != stats.Written || n+stats.Lost != uint64(i)+1 {
		t.Errorf("%d of %d messages readable, %d counted as written, %d as lost", n, i, stats.Written, stats.Lost)
	}
	checkPrefix(t, dir, int(n), time.Unix(0, 0))
}

func TestWriterRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		o    WriterOptions
		says string
	}{
		{full, WriterOptions{}, "the folder is there already"},
		{"", WriterOptions{Storage: "rosbag_v2"}, `storage "rosbag_v2" is not known (known: mcap, sqlite3)`},
		{"", WriterOptions{Compression: "gzip"}, `compression "gzip" is not known (known: zstd, lz4, none)`},
		{"", WriterOptions{Storage: SQLite, Compression: "zstd"}, "SQLite bags are written uncompressed"},
		{"", WriterOptions{MetadataVersion: 9}, "metadata version 9 is not written"},
	} {
		if c.dir == "" {
			c.dir = filepath.Join(t.TempDir(), "new")
		}
		if _, err := Create(c.dir, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: want %q", err, c.says)
		}
	}
	w, err := Create(filepath.Join(t.TempDir(), "new"), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	topic := sampleTopics()[0]
	if err := errors.Join(w.AddTopic(topic), w.AddTopic(topic)); err != nil {
		t.Error(err)
	}
	topic.Type = "std_msgs/msg/Int8"
	for want, err := range map[string]error{
		"topic /chat has the type std_msgs/msg/String already": w.AddTopic(topic),
		"topic /other was not added":                           w.Write(&Message{Topic: "/other"}),
		"/chat: a time before 1970":                            w.Write(&Message{Topic: "/chat", LogTime: -1}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestRecorder: everything that fits the queue is in the bag, and what was
// dropped shows in the statistics, in the sequence numbers and in the bag.
func TestRecorder(t *testing.T) {
	for _, storage := range []string{MCAP, SQLite} {
		dir := filepath.Join(t.TempDir(), "recorded")
		w, err := Create(dir, WriterOptions{Storage: storage})
		if err != nil {
			t.Fatal(err)
		}
		// Ticks that never come, and a queue so small that bursts overflow it.
		r := NewRecorder(w, 20_000, make(chan time.Time))
		for _, topic := range sampleTopics() {
			if err := r.AddTopic(topic); err != nil {
				t.Fatal(err)
			}
		}
		other := sampleTopics()[0]
		other.Type = "another"
		if err := r.AddTopic(other); err == nil {
			t.Error("a second type for a topic")
		}
		const n = 3000
		taken := map[string]uint64{}
		for i := range n {
			if m := sample(i); r.Write(m) {
				taken[m.Topic]++
			}
		}
		if r.Write(&Message{Topic: "/unknown"}) {
			t.Error("a topic that was not added")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r.Write(sample(n)) {
			t.Error("taken after Close")
		}
		checkRecorded(t, dir, r.Stats(), taken, n)
	}
}

func checkRecorded(t *testing.T, dir string, stats Stats, taken map[string]uint64, n int) {
	t.Helper()
	info, err := Info(dir)
	if err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, topic := range info.Topics {
		if topic.Count != taken[topic.Name] {
			t.Errorf("%s: %d messages taken, %d in the bag", topic.Name, taken[topic.Name], topic.Count)
		}
		// One more of /point was offered after the end.
		offered := topic.Count + info.Dropped[topic.Name]
		if offered != uint64(n/3) {
			t.Errorf("%s: %d written and %d dropped of %d", topic.Name, topic.Count, info.Dropped[topic.Name], n/3)
		}
		sum += topic.Count
	}
	if stats.Written != sum || stats.Dropped["/unknown"] != 1 || stats.Queued != 0 || stats.Err != nil || stats.Files != 1 {
		t.Errorf("statistics %+v, %d messages in the bag", stats, sum)
	}
	if sum == uint64(n) {
		t.Log("the disk was so fast that nothing was dropped")
	}
}

// TestRecorderDrops: while the disk stands still, a queue takes what fits and
// not a byte more; the gaps show in the sequence numbers.
func TestRecorderDrops(t *testing.T) {
	plain := createFile
	t.Cleanup(func() { createFile = plain })
	gate := make(chan struct{})
	createFile = func(path string) (mcapFile, error) {
		f, err := plain(path)
		return &stuck{f, gate}, err
	}
	dir := filepath.Join(t.TempDir(), "stuck")
	go func() { gate <- struct{}{} }() // the first flush, when the file is made
	w, err := Create(dir, WriterOptions{FlushEvery: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddTopic(sampleTopics()[0]); err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(w, 10*(queuedSize+16), make(chan time.Time))
	data := make([]byte, 16)
	for i := range 100 {
		r.Write(&Message{Topic: "/chat", LogTime: int64(i), Data: data})
	}
	stats := r.Stats()
	// One batch is being written, one is waiting.
	if d := stats.Dropped["/chat"]; d < 80 || d > 90 {
		t.Errorf("%d of 100 dropped, with room for 10 at a time", d)
	}
	close(gate)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	bag, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer bag.Close()
	it, err := bag.Messages()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		m, err := it.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || int64(m.Sequence) != m.LogTime+1 {
			t.Fatalf("message %v %v", m, err)
		}
	}
	if want := 100 - int(stats.Dropped["/chat"]); n != want || bag.Info().Dropped["/chat"] != stats.Dropped["/chat"] {
		t.Errorf("%d messages, want %d; dropped %v", n, want, bag.Info().Dropped)
	}
}

// stuck is a file that syncs only when it is let.
type stuck struct {
	mcapFile
	gate chan struct{}
}

func (f *stuck) Sync() error {
	<-f.gate
	return f.mcapFile.Sync()
}

// TestRecorderFlushesBySilence: the ticks alone bring the last messages to the
// disk.
func TestRecorderFlushesBySilence(t *testing.T) {
	clock := &fakeClock{at: time.Unix(0, sampleStart)}
	dir := filepath.Join(t.TempDir(), "silent")
	w, err := Create(dir, WriterOptions{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	ticks := make(chan time.Time)
	r := NewRecorder(w, 0, ticks)
	for _, topic := range sampleTopics() {
		if err := r.AddTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		r.Write(sample(i))
	}
	ticks <- clock.now() // all of them are with the writer
	clock.add(600 * time.Millisecond)
	ticks <- clock.now() // they are old by now
	ticks <- clock.now() // and that was done
	checkPrefix(t, dir, 10, time.Unix(0, sample(10).LogTime))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
