package bag

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// replace changes a file's text.
func replace(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("no %q in %s", old, path)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// oneLine checks that an error or warning is one line with some texts.
func oneLine(t *testing.T, got string, says ...string) {
	t.Helper()
	if strings.Contains(got, "\n") {
		t.Errorf("more than one line: %q", got)
	}
	for _, s := range says {
		if !strings.Contains(got, s) {
			t.Errorf("%q does not say %q", got, s)
		}
	}
}

func TestMessagesRefusesAnUnknownTopic(t *testing.T) {
	dir, _ := writeSamples(t, WriterOptions{}, 10)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for m, err := range r.Messages("/chat", "/drone1/pose") {
		if n++; m != nil || err == nil {
			t.Fatal("no error")
		}
		oneLine(t, err.Error(), dir, `no topic "/drone1/pose"`,
			"it has /chat (std_msgs/msg/String), /point (geometry_msgs/msg/Point)")
	}
	if n != 1 {
		t.Errorf("%d errors", n)
	}
}

func TestOpenRefusesWhatIsNoBag(t *testing.T) {
	dir := t.TempDir()
	foreign, old := filepath.Join(dir, "notes.mcap"), filepath.Join(dir, "old.bag")
	if err := errors.Join(os.WriteFile(foreign, []byte("take care\n"), 0o644),
		os.WriteFile(old, []byte("#ROSBAG V2.0\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if IsFile(foreign) || !IsFile(old) {
		t.Error("IsFile is true only for the bag of ROS 1")
	}
	empty := t.TempDir()
	otherDB := filepath.Join(dir, "other.db3")
	if err := os.WriteFile(otherDB, []byte("SQLite format 3\x00 but no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		filepath.Join(dir, "missing"): "no such file",
		foreign:                       `neither MCAP nor SQLite: begins with "take care\n"`,
		old:                           "a bag of ROS 1: rosbags-convert",
		empty:                         "no .mcap or .db3 file in this folder",
		otherDB:                       "not a readable SQLite database",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, err := Open(path)
			if err == nil {
				t.Errorf("%s was opened", path)
				return
			}
			oneLine(t, err.Error(), "bag "+path, says)
		})
	}
}

func TestBagIsOpenedByItsMetadataOrAnyFileName(t *testing.T) {
	for _, o := range []WriterOptions{{}, {Storage: SQLite}} {
		t.Run(kindName(o), func(t *testing.T) {
			dir, _ := writeSamples(t, o, 10)
			info, err := Info(filepath.Join(dir, "metadata.yaml"))
			if err != nil || info.Messages != 10 || info.Path != dir || info.MetadataVersion == 0 {
				t.Errorf("%+v, %v", info, err)
			}
			renamed := filepath.Join(dir, "recording")
			if err := os.Rename(filepath.Join(dir, info.Files[0].Name), renamed); err != nil {
				t.Fatal(err)
			}
			if info, err := Info(renamed); err != nil || info.Messages != 10 || !IsFile(renamed) {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
}

func TestEmptyBagIsRead(t *testing.T) {
	for _, storage := range []string{MCAP, SQLite} {
		t.Run(storage, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "empty")
			w, err := Create(dir, WriterOptions{Storage: storage})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			info := r.Info()
			if _, n := tally(t, r); n != 0 || info.Messages != 0 || info.Start != 0 || info.End != 0 ||
				info.Lost.Any() {
				t.Errorf("%+v", info)
			}
			if len(info.Warnings) != 1 || info.Warnings[0] != "the bag is empty: no messages" {
				t.Errorf("warnings %q", info.Warnings)
			}
			r.Close()
		})
	}
	// Killed before the first write.
	for _, name := range []string{"a_0.mcap", "a_0.db3"} {
		t.Run("killed "+name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			info, err := Info(dir)
			if err != nil {
				t.Fatal(err)
			}
			if info.Messages != 0 || !info.Lost.Truncated ||
				!strings.Contains(strings.Join(info.Lost.Notes, ""), "0 bytes: killed before the first write") {
				t.Errorf("%s: %+v", name, info.Lost)
			}
		})
	}
}

// A bag that is written at this moment is read as far as it is, with a warning.
func TestLiveRecordingIsRead(t *testing.T) {
	for _, storage := range []string{MCAP, SQLite} {
		t.Run(storage, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "live")
			w := sampleWriter(t, dir, WriterOptions{Storage: storage})
			for i := range 50 {
				if err := w.Write(sample(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			info := r.Info()
			if _, n := tally(t, r); n != 50 || !info.Live {
				t.Errorf("%s: %d messages, live %v", storage, n, info.Live)
			}
			oneLine(t, info.Warnings[len(info.Warnings)-1], "seems to be written right now",
				"only what is there is read")
			r.Close()
			later := func() time.Time { return time.Now().Add(time.Minute) }
			if r, err = open(dir, later); err != nil {
				t.Fatal(err)
			}
			if r.Info().Live {
				t.Errorf("%s: still live a minute after the last write", storage)
			}
			r.Close()
			// Reading has not disturbed the writer.
			if err := w.Write(sample(50)); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if info, err := Info(dir); err != nil || info.Messages != 51 || info.Live {
				t.Errorf("%s: %d messages in the end, live %v, %v", storage, info.Messages, info.Live, err)
			}
		})
	}
}

// Where metadata.yaml and the storage files differ, the files decide, with a warning.
func TestFilesCountMoreThanMetadata(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{"storage_identifier: mcap", "storage_identifier: sqlite3",
			`metadata.yaml says storage "sqlite3", but the files are mcap`},
		{"storage_identifier: mcap", "storage_identifier: rosbag_v2",
			`metadata.yaml names the unknown storage "rosbag_v2", the files are mcap`},
		{"  message_count: 600", "  message_count: 7", "metadata.yaml counts 7 messages, the files hold 600"},
		{"version: 8", "version: 77", "metadata.yaml cannot be used, the storage files are read instead: version 77"},
		{"version: 8", "version: {", "metadata.yaml cannot be used, the storage files are read instead: yaml: line"},
	} {
		t.Run(c.new, func(t *testing.T) {
			dir, _ := writeSamples(t, WriterOptions{}, 600)
			replace(t, filepath.Join(dir, "metadata.yaml"), c.old, c.new)
			r, err := Open(dir)
			if err != nil {
				t.Errorf("%s: %v", c.new, err)
				return
			}
			if _, n := tally(t, r); n != 600 || r.Info().Messages != 600 {
				t.Errorf("%s: %d messages read", c.new, n)
			}
			warnings := r.Info().Warnings
			if len(warnings) != 1 {
				t.Errorf("%s: warnings %q", c.new, warnings)
				return
			}
			oneLine(t, warnings[0], c.says)
			r.Close()
		})
	}
}

func TestOpenRefusesAnUnknownStorage(t *testing.T) {
	dir, _ := writeSamples(t, WriterOptions{}, 6)
	replace(t, filepath.Join(dir, "metadata.yaml"), "storage_identifier: mcap", "storage_identifier: rosbag_v2")
	if err := os.WriteFile(filepath.Join(dir, "sample_0.mcap"), []byte("#ROSBAG V2.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir)
	if err == nil {
		t.Fatal("opened")
	}
	oneLine(t, err.Error(), `storage "rosbag_v2" is not known (known: mcap, sqlite3)`)
}

// One file is missing, one is damaged, and one is not in metadata.yaml yet.
func TestSplitBagIsReadWithoutSomeFiles(t *testing.T) {
	for _, o := range []WriterOptions{{MaxFileDuration: 2 * time.Second},
		{Storage: SQLite, MaxFileDuration: 2 * time.Second}} {
		t.Run(kindName(o), func(t *testing.T) {
			dir, _ := writeSamples(t, o, 500) // 5 files of 100 messages
			end := o.extension()
			if end == ".mcap" && o.Storage == SQLite {
				t.Fatal("wrong end")
			}
			whole, err := Info(dir)
			if err != nil || len(whole.Files) != 5 || whole.Messages != 500 {
				t.Fatalf("%d files, %d messages, %v", len(whole.Files), whole.Messages, err)
			}
			replace(t, filepath.Join(dir, "metadata.yaml"), "    - sample_4"+end+"\n", "")
			info, err := Info(dir)
			if err != nil || info.Messages != 500 ||
				!strings.Contains(strings.Join(info.Warnings, ""),
					"sample_4"+end+" is not in metadata.yaml: the recording was cut off, or continues") {
				t.Errorf("%d messages, %v, %q", info.Messages, err, info.Warnings)
			}
			if err := os.Remove(filepath.Join(dir, "sample_1"+end)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "sample_3"+end), []byte("nothing of a bag"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "another_0"+end), []byte("nothing of a bag"), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, n := tally(t, r); n != 300 {
				t.Errorf("%d messages in the other files", n)
			}
			all := strings.Join(r.Info().Warnings, "\n")
			for _, says := range []string{
				"metadata.yaml names sample_1" + end + ", which does not exist",
				"sample_3" + end + ": neither MCAP nor SQLite",
				"another_0" + end + " is left out",
			} {
				if !strings.Contains(all, says) {
					t.Errorf("%q does not say %q", all, says)
				}
			}
			if lost := r.Lost(); lost.Chunks != 2 {
				t.Errorf("%s %q", lost.String(), lost.Notes)
			}
			r.Close()
		})
	}
}

// The times of two files of one bag interleave.
func TestOverlappingFilesAreMerged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "two")
	w := sampleWriter(t, dir, WriterOptions{})
	want := newDigest()
	for half := range 2 {
		for i := half; i < 200; i += 2 {
			if err := w.Write(sample(i)); err != nil {
				t.Fatal(err)
			}
		}
		if half == 0 {
			if err := w.Split(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 200 {
		want.add(sample(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := digestOf(t, r); got.String() != want.String() || len(r.Info().Files) != 2 {
		t.Errorf("%v", got.counts)
	}
}

// A loop that ends early leaves nothing open, and the next one begins anew.
func TestMessagesMayBeLeftEarly(t *testing.T) {
	dir, _ := writeSamples(t, WriterOptions{Storage: SQLite}, 10)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	messages := r.Messages("/chat")
	for range 2 {
		for m, err := range messages {
			if err != nil || m.LogTime != sample(1).LogTime {
				t.Fatalf("%+v, %v", m, err)
			}
			break
		}
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}
