package bag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsWrittenIsReadInEveryFormat(t *testing.T) {
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
			if info.Messages != 600 || info.Start != sampleStart || info.End != info.Start+599*20e6 ||
				info.Distro != "jazzy" {
				t.Errorf("%d messages from %d to %d, by %q", info.Messages, info.Start, info.End, info.Distro)
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

func TestMCAPKeepsSequencesAndPublishTimes(t *testing.T) {
	dir, _ := writeSamples(t, WriterOptions{}, 30)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i := 0
	for m, err := range r.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(sample(i), m); d != "" {
			t.Fatal(d)
		}
		i++
	}
	if i != 30 {
		t.Errorf("%d messages", i)
	}
}

// limited is a file on a disk with little space.
type limited struct {
	*os.File
	limit int64
}

var errFull = errors.New("no space left on device")

func (f *limited) WriteAt(p []byte, off int64) (int, error) {
	if free := f.limit - off; int64(len(p)) > free {
		n, _ := f.File.WriteAt(p[:max(0, free)], off)
		return n, errFull
	}
	return f.File.WriteAt(p, off)
}

// What was written before the error is readable.
func TestFullDiskEndsARecordingWithOneError(t *testing.T) {
	plain := createFile
	t.Cleanup(func() { createFile = plain })
	for _, limit := range []int64{2_000, 30_000, 61_000, 100_001} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			createFile = func(path string) (mcapFile, error) {
				f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
				return &limited{f, limit}, err
			}
			checkFullDisk(t, WriterOptions{Compression: "none", FlushEvery: time.Nanosecond},
				"full_0.mcap: no space left on device")
		})
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

// After an error on a full disk nothing of the bag stays. A folder that existed before stays.
func TestFinishRemovesAnIncompleteBag(t *testing.T) {
	for _, o := range []WriterOptions{{}, {Storage: SQLite}, {MaxFileSize: 60_000},
		{Storage: SQLite, MaxFileSize: 60_000}} {
		dir := filepath.Join(t.TempDir(), "half[1]")
		w := sampleWriter(t, dir, o)
		for i := range 400 {
			if err := w.Write(sample(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(errFull); !errors.Is(err, errFull) {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", kindName(o), err)
		}
	}
	in, _ := writeSamples(t, WriterOptions{}, 1000)
	plain := createFile
	t.Cleanup(func() { createFile = plain })
	for _, limit := range []int64{4, 500, 5_000, 60_000} {
		createFile = func(path string) (mcapFile, error) {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
			return &limited{f, limit}, err
		}
		there := t.TempDir()
		for _, out := range []string{filepath.Join(t.TempDir(), "new"), there} {
			_, err := Recover(in, out, WriterOptions{Compression: "none"})
			if err == nil || !strings.HasSuffix(err.Error(), "_0.mcap: no space left on device") {
				t.Errorf("%d bytes: %v", limit, err)
			}
			entries, err := os.ReadDir(out)
			if len(entries) > 0 || (err == nil) != (out == there) {
				t.Errorf("%d bytes: %v stays, %v", limit, entries, err)
			}
		}
	}
}

// libmcap compares the header's lengths like this (McapReader::ParseHeader in its reader.inl).
func TestLibraryNameIsLongEnoughForLibmcap(t *testing.T) {
	dir, _ := writeSamples(t, WriterOptions{}, 1)
	data, err := os.ReadFile(filepath.Join(dir, "sample_0.mcap"))
	if err != nil {
		t.Fatal(err)
	}
	record := data[8+1+8:]
	size := int(binary.LittleEndian.Uint64(data[9:]))
	profile := int(binary.LittleEndian.Uint32(record))
	if rest := size - 4 - profile; profile > rest-4 {
		t.Errorf("a profile of %d bytes, with %d behind it", profile, rest)
	}
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
		{full, WriterOptions{}, "the folder exists already"},
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
