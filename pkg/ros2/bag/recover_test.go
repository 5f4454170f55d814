package bag

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"vnd/pkg/ros2/bag/mcap"
	"vnd/pkg/ros2/bag/sqlite"
)

// A recorder that is killed while it compresses a file leaves the file and the beginning of its compressed
// version. Without the file, that beginning is read.
func TestKilledWhileCompressing(t *testing.T) {
	dir, want := writeSamples(t, WriterOptions{Compression: "none"}, 3000)
	os.Remove(filepath.Join(dir, "metadata.yaml"))
	plain := filepath.Join(dir, "sample_0.mcap")
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	packed := z.EncodeAll(text, nil)
	if err := os.WriteFile(plain+".zstd", packed[:len(packed)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := digestOf(t, r); got.String() != want.String() {
		t.Errorf("%v", got.counts)
	}
	r.Close()
	os.Remove(plain)
	if r, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, n := tally(t, r)
	if lost := r.Lost(); n == 0 || n == 3000 || !lost.Truncated {
		t.Errorf("%d messages of half a file, %s", n, lost.String())
	}
}

// In a bag that is compressed by message, a damaged message costs no other.
func TestDamagedMessageIsSkipped(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "m_0.mcap"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := mcap.NewWriter(f, mcap.WriterOptions{Profile: "ros2"})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := w.AddSchema("std_msgs/msg/String", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.AddChannel(mcap.Channel{SchemaID: schema, Topic: "/chat", Encoding: "cdr"})
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		data := z.EncodeAll(sample(1).Data, nil)
		if i == 4 {
			data[len(data)-6] ^= 0xff
			data = data[:len(data)-3]
		}
		if err := w.Write(id, 0, uint64(i), uint64(i), data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if _, n := tally(t, r); n != 9 {
			t.Errorf("%d messages", n)
		}
	}
	if lost := r.Lost(); lost.Messages != 1 || len(lost.Notes) != 1 {
		t.Errorf("%s %q", lost.String(), lost.Notes)
	}
}

// A recovered bag has the messages that ros2 bag info counted in the old one.
func TestRecoveredBagsAreComplete(t *testing.T) {
	for _, name := range goldenBags(t) {
		t.Run(name, func(t *testing.T) {
			want := readExpected(t, name)
			in, out := unpack(t, name), filepath.Join(t.TempDir(), name)
			rec, err := Recover(in, out, WriterOptions{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			info, err := Info(out)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			checkInfo(t, info, want)
			killed := strings.HasSuffix(name, "_killed9")
			if rec.Written != want.messages || info.Lost.Any() || len(info.Warnings) > 0 {
				t.Errorf("%s: %d messages, %s, %q", name, rec.Written, info.Lost.String(), info.Warnings)
			}
			if rec.From.Lost.Any() && !killed || rec.From.Lost.Any() != (info.Custom["vnd.recovered"] != "") {
				t.Errorf("%s: lost %s, noted %q", name, rec.From.Lost.String(), info.Custom["vnd.recovered"])
			}
			a, err := Open(in)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Open(out)
			if err != nil {
				t.Fatal(err)
			}
			if digestOf(t, a).String() != digestOf(t, b).String() {
				t.Errorf("%s: other messages than before", name)
			}
			a.Close()
			b.Close()
		})
	}
}

// Rows from before 1970 are left out, the others are not.
func TestRecoverLeavesOutRowsBefore1970(t *testing.T) {
	dir := t.TempDir()
	w, err := sqlite.Create(filepath.Join(dir, "a_0.db3"), sqlite.SchemaHumble, "humble")
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.AddTopic(sqlite.Topic{Name: "/chat", Type: "std_msgs/msg/String", Format: "cdr"})
	for _, at := range []int64{5, -1, 7} {
		err = errors.Join(err, w.Write(id, at, sample(1).Data))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	rec, err := Recover(dir, filepath.Join(t.TempDir(), "out"), WriterOptions{})
	if err != nil || rec.Written != 2 || rec.From.Lost.Messages != 1 {
		t.Errorf("%d messages, %s, error %v", rec.Written, rec.From.Lost.String(), err)
	}
}

func TestRecoverConvertsBetweenStorages(t *testing.T) {
	for _, to := range []string{MCAP, SQLite} {
		t.Run("to "+to, func(t *testing.T) {
			dir, want := writeSamples(t, WriterOptions{Storage: map[string]string{MCAP: SQLite, SQLite: MCAP}[to]}, 90)
			out := filepath.Join(t.TempDir(), "converted")
			if _, err := Recover(dir, out, WriterOptions{Storage: to, MetadataVersion: 5}); err != nil {
				t.Fatal(err)
			}
			r, err := Open(out)
			if err != nil {
				t.Fatal(err)
			}
			if got := digestOf(t, r); got.String() != want.String() || r.Info().Storage != to ||
				r.Info().MetadataVersion != 5 {
				t.Errorf("%v in %s", got.counts, r.Info().Storage)
			}
			r.Close()
		})
	}
	dir, _ := writeSamples(t, WriterOptions{}, 3)
	if _, err := Recover(dir, dir, WriterOptions{}); err == nil ||
		!strings.Contains(err.Error(), "the folder exists already") {
		t.Errorf("onto itself: %v", err)
	}
}
