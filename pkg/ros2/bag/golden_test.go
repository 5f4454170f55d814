package bag

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/bag/bagtest"
)

// unpack puts a recorded bag into a temporary folder.
func unpack(t testing.TB, name string) string {
	t.Helper()
	return bagtest.Unpack(t, filepath.Join("testdata", name+".tar.zst"))
}

// expected is the output of ros2 bag info.
type expected struct {
	storage    string
	start, end int64
	messages   uint64
	topics     map[string]string // name: "type count encoding"
}

var (
	infoLine  = regexp.MustCompile(`(?m)^(Storage id|Start|End|Messages): +(.*)$`)
	infoTopic = regexp.MustCompile(`Topic: (\S+) \| Type: (\S+) \| Count: (\d+) \| Serialization Format: (\S+)`)
	infoTime  = regexp.MustCompile(`\((\d+)\.(\d{9})\)`)
)

func readExpected(t *testing.T, name string) expected {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".info.txt"))
	if err != nil {
		t.Fatal(err)
	}
	e := expected{topics: map[string]string{}}
	for _, m := range infoLine.FindAllStringSubmatch(string(text), -1) {
		switch m[1] {
		case "Storage id":
			e.storage = m[2]
		case "Messages":
			e.messages, err = strconv.ParseUint(m[2], 10, 64)
		case "Start":
			e.start, err = stamp(m[2])
		case "End":
			e.end, err = stamp(m[2])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range infoTopic.FindAllStringSubmatch(string(text), -1) {
		e.topics[m[1]] = m[2] + " " + m[3] + " " + m[4]
	}
	if e.messages == 0 || len(e.topics) == 0 {
		t.Fatalf("%s.info.txt: nothing found in it", name)
	}
	return e
}

func stamp(s string) (int64, error) {
	m := infoTime.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("no time in %q", s)
	}
	return strconv.ParseInt(m[1]+m[2], 10, 64)
}

func goldenBags(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tar.zst")
	if err != nil || len(files) < 17 {
		t.Fatalf("only %d bags in testdata: %v", len(files), err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".tar.zst")
	}
	return files
}

// tally counts an iterator's messages by topic and checks their order.
func tally(t testing.TB, r *Reader, topics ...string) (map[string]uint64, uint64) {
	t.Helper()
	counts := map[string]uint64{}
	var n uint64
	last := int64(0)
	for m, err := range r.Messages(topics...) {
		if err != nil {
			t.Fatal(err)
		}
		if m.LogTime < last {
			t.Fatalf("message %d of %s at %d ns, after one at %d", n, m.Topic, m.LogTime, last)
		}
		if len(m.Data) < 4 || m.Data[0] != 0 || m.Data[1] > 1 {
			t.Fatalf("message %d of %s: no CDR header in % x", n, m.Topic, m.Data[:min(len(m.Data), 8)])
		}
		last = m.LogTime
		counts[m.Topic]++
		n++
	}
	return counts, n
}

// Every recorded bag has the messages that ros2 bag info counted.
func TestGoldenBags(t *testing.T) {
	for _, name := range goldenBags(t) {
		t.Run(name, func(t *testing.T) {
			want := readExpected(t, name)
			r, err := Open(unpack(t, name))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			checkInfo(t, r.Info(), want)
			counts, n := tally(t, r)
			if n != want.messages {
				t.Errorf("%d messages read, want %d", n, want.messages)
			}
			for _, topic := range r.Topics() {
				if counts[topic.Name] != topic.Count {
					t.Errorf("%s: %d messages read, %d in the summary", topic.Name, counts[topic.Name], topic.Count)
				}
				if topic.Definition == "" && r.Info().Storage == MCAP {
					t.Errorf("%s: no definition", topic.Name)
				}
				if _, n := tally(t, r, topic.Name); n != topic.Count {
					t.Errorf("%s alone: %d messages, want %d", topic.Name, n, topic.Count)
				}
			}
			lost := r.Lost()
			killed := strings.HasSuffix(name, "_killed9")
			if cut := killed && want.storage == MCAP; lost.Truncated != cut {
				t.Errorf("truncated %v, want %v (%s)", lost.Truncated, cut, lost.String())
			}
			if !killed && lost.Any() {
				t.Errorf("lost of a whole bag: %s %q", lost.String(), lost.Notes)
			}
		})
	}
}

func checkInfo(t *testing.T, s Summary, want expected) {
	t.Helper()
	if s.Storage != want.storage || s.Messages != want.messages || s.Start != want.start || s.End != want.end {
		t.Errorf("%s, %d messages, %d to %d, want %s, %d, %d, %d", s.Storage, s.Messages, s.Start, s.End, want.storage,
			want.messages, want.start, want.end)
	}
	got := map[string]string{}
	for _, topic := range s.Topics {
		got[topic.Name] = fmt.Sprintf("%s %d %s", topic.Type, topic.Count, topic.Encoding)
	}
	if d := cmp.Diff(want.topics, got); d != "" {
		t.Error(d)
	}
}

// The loss of the killed MCAP bags is their last record, by the byte.
func TestKilledBagsLoseOnlyTheirEnd(t *testing.T) {
	for name, want := range map[string]Loss{
		// It ends in a MessageIndex: no message is missing.
		"mcap_chunks_killed9": {Truncated: true},
		// It ends in a Message: 120 of its 338 bytes, and the record's header.
		"mcap_fastwrite_killed9": {Truncated: true, Messages: 1, Bytes: 129},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Info(unpack(t, name))
			if err != nil {
				t.Fatal(err)
			}
			s.Lost.Notes = nil
			if d := cmp.Diff(want, s.Lost); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		})
	}
}

// Reading does not change the files of a killed bag.
func TestReadingChangesNothing(t *testing.T) {
	for _, name := range []string{"sqlite3_resilient_killed9", "sqlite3_killed9", "mcap_chunks_killed9"} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, name)
			before := contents(t, dir)
			if _, err := Info(dir); err != nil {
				t.Fatal(err)
			}
			after := contents(t, dir)
			delete(before, name+"_0.db3-shm")
			delete(after, name+"_0.db3-shm")
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("%s: the files have changed", name)
			}
		})
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// With and without a write-ahead log.
func TestBagInAReadOnlyFolderIsRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("running as root: folder permissions do not bind, only the paths are exercised")
	}
	for name, want := range map[string]uint64{"sqlite3_resilient_killed9": 206, "sqlite3": 657} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, name)
			os.Remove(filepath.Join(dir, name+"_0.db3-shm"))
			if err := os.Chmod(dir, 0o555); err != nil {
				t.Fatal(err)
			}
			s, err := Info(dir)
			os.Chmod(dir, 0o755)
			if err != nil || s.Messages != want {
				t.Errorf("%s: %d messages, %v", name, s.Messages, err)
			}
		})
	}
}

func TestStorageFilesAreReadAlone(t *testing.T) {
	for _, name := range goldenBags(t) {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, name)
			files, err := storageFiles(dir)
			if err != nil {
				t.Fatal(err)
			}
			var sum uint64
			for _, f := range files {
				r, err := Open(filepath.Join(dir, f))
				if err != nil {
					t.Errorf("%s: %v", f, err)
					continue
				}
				_, n := tally(t, r)
				if got := r.Info().Messages; got != n {
					t.Errorf("%s: %d in the summary, %d read", f, got, n)
				}
				sum += n
				r.Close()
			}
			if want := readExpected(t, name).messages; sum != want {
				t.Errorf("%s: %d messages in its files, want %d", name, sum, want)
			}
		})
	}
}

func TestBagWithoutMetadataIsRead(t *testing.T) {
	for _, name := range goldenBags(t) {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, name)
			os.Remove(filepath.Join(dir, "metadata.yaml"))
			s, err := Info(dir)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			checkInfo(t, s, readExpected(t, name))
			if s.MetadataVersion != 0 || len(s.Warnings) == 0 {
				t.Errorf("%s: metadata version %d, warnings %q", name, s.MetadataVersion, s.Warnings)
			}
		})
	}
}
