package bag

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fakeClock is a clock that tests set.
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

// At any moment the disk has a prefix of all messages, with every message older than one second.
func TestDiskHasEveryMessageOlderThanASecond(t *testing.T) {
	for _, o := range []WriterOptions{{}, {Compression: "none", MaxFileSize: 60_000}, {Storage: SQLite},
		{Storage: SQLite, MaxFileDuration: 2 * time.Second}} {
		t.Run(kindName(o), func(t *testing.T) {
			clock := &fakeClock{at: time.Unix(0, sampleStart)}
			o.Now = clock.now
			dir := filepath.Join(t.TempDir(), "killed")
			w := sampleWriter(t, dir, o)
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
			// Without new messages, ticks flush the last ones.
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

// checkPrefix opens a copy of a bag: it has a prefix of the first n samples, with all samples before the given
// time.
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
	got := 0
	for m, err := range r.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		if want := sample(got); got >= n || m.LogTime != want.LogTime || string(m.Data) != string(want.Data) {
			t.Fatalf("message %d of %d is not what was written", got, n)
		}
		got++
	}
	if got < n && sample(got).LogTime < safe.UnixNano() {
		t.Fatalf("%d of %d messages are there, the next is %v too old to be missing", got, n,
			safe.Sub(time.Unix(0, sample(got).LogTime)))
	}
	if info := r.Info(); info.Messages != uint64(got) {
		t.Fatalf("the summary says %d messages, %d are read", info.Messages, got)
	}
}

// unfinished is a recording that was killed: its files without an end mark or metadata.yaml.
type unfinished struct {
	o     WriterOptions
	files map[string]string
}

// record writes 150 samples in several flushes.
func record(t *testing.T, o WriterOptions) unfinished {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cut")
	w := sampleWriter(t, dir, o)
	for i := range 150 {
		if err := w.Write(sample(i)); err != nil {
			t.Fatal(err)
		}
		if i%20 == 0 || i == 149 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	u := unfinished{o, contents(t, dir)}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return u
}

// put puts the files into a folder; the one that grows, SQLite's log or the MCAP file, is cut off anywhere.
func (u *unfinished) put(t *rapid.T, dir string) {
	grows := "cut_0.mcap"
	if u.o.Storage == SQLite {
		grows = "cut_0.db3-wal"
	}
	for name, text := range u.files {
		if name == grows {
			text = text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]
		}
		if strings.HasSuffix(name, "-shm") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Of a recording that is cut off at any byte a prefix is read, and Recover makes a complete bag of it.
func TestRecordingCutAnywhereIsRecovered(t *testing.T) {
	var recorded []unfinished
	for _, o := range []WriterOptions{{}, {Compression: "lz4"}, {Compression: "none"}, {Storage: SQLite}} {
		recorded = append(recorded, record(t, o))
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "cut")
		if err != nil {
			rt.Fatal(err)
		}
		recorded[rapid.IntRange(0, len(recorded)-1).Draw(rt, "format")].put(rt, dir)
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

// A recording process that is killed by SIGKILL has lost nothing that it flushed.
func TestKilledProcessLosesNothingFlushed(t *testing.T) {
	if dir := os.Getenv("VND_TEST_RECORD"); dir != "" {
		recordForever(dir, os.Getenv("VND_TEST_STORAGE"))
		return
	}
	for _, storage := range []string{MCAP, SQLite} {
		t.Run(storage, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "victim")
			cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledProcessLosesNothingFlushed$")
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
		})
	}
}

// recordForever prints how many messages are on the disk.
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
