package bag

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// peer runs testdata/peer.py with the Python that VND_PYTHON names, which has
// rosbags, mcap and mcap-ros2-support.
func peer(t *testing.T, out any, args ...string) {
	t.Helper()
	python := os.Getenv("VND_PYTHON")
	if python == "" {
		t.Skip("VND_PYTHON is not set (make test sets it): no independent reader and writer at hand")
	}
	cmd := exec.Command(python, append([]string{filepath.Join("testdata", "peer.py")}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatalf("%v: %v in %q", cmd, err, text)
	}
}

type peerDigest struct {
	Counts map[string]uint64
	Digest string
}

type peerTopic struct {
	Type, Hash, Definition string
	Depths                 []int
}

type peerBag struct {
	Rosbags struct {
		peerDigest
		Messages uint64
		Start    int64
		Distro   *string
		Topics   map[string]peerTopic
	}
	MCAP *struct {
		Library                  string
		CRCs                     int
		Indexed, Stream, Decoded peerDigest
	}
}

// rosbags, mcap and mcap-ros2-support open every format that is written, with correct CRCs.
func TestPeersReadOurs(t *testing.T) {
	for _, o := range kinds {
		t.Run(kindName(o), func(t *testing.T) {
			t.Parallel()
			const n = 600
			dir, want := writeSamples(t, o, n)
			var got peerBag
			peer(t, &got, "read", dir)
			same := func(who string, d peerDigest) {
				t.Helper()
				if d.Digest != want.String() || !cmp.Equal(d.Counts, want.counts) {
					t.Errorf("%s reads %v, written were %v (same bytes: %v)", who, d.Counts, want.counts,
						d.Digest == want.String())
				}
			}
			same("rosbags", got.Rosbags.peerDigest)
			if got.Rosbags.Messages != n || got.Rosbags.Start != sampleStart {
				t.Errorf("rosbags counts %d messages from %d on", got.Rosbags.Messages, got.Rosbags.Start)
			}
			for _, topic := range sampleTopics() {
				checkPeerTopic(t, topic, got.Rosbags.Topics[topic.Name], o)
			}
			if got.MCAP == nil {
				if o.Storage != SQLite {
					t.Error("no MCAP file found")
				}
				return
			}
			same("mcap with indexes", got.MCAP.Indexed)
			same("mcap as a stream", got.MCAP.Stream)
			same("mcap-ros2-support", got.MCAP.Decoded)
			// Data and summary of each file, and at least one chunk.
			if got.MCAP.CRCs < 3 || got.MCAP.Library != library {
				t.Errorf("%d CRCs checked, library %q", got.MCAP.CRCs, got.MCAP.Library)
			}
		})
	}
}

func checkPeerTopic(t *testing.T, want Topic, got peerTopic, o WriterOptions) {
	t.Helper()
	if o.MetadataVersion == 5 { // has no hashes, and SQLite no definitions either
		want.TypeHash = ""
		if o.Storage == SQLite {
			want.Definition = ""
		}
	}
	depths := []int{}
	for _, q := range want.QoS {
		depths = append(depths, q.Depth)
	}
	if d := cmp.Diff(peerTopic{want.Type, want.TypeHash, want.Definition, depths}, got); d != "" {
		t.Errorf("%s: %s", want.Name, d)
	}
}

// Every format that rosbags and mcap write is read, message for message.
func TestWeReadPeers(t *testing.T) {
	dir := t.TempDir()
	var bags map[string]peerDigest
	peer(t, &bags, "write", dir)
	if len(bags) < 25 {
		t.Fatalf("the peers wrote only %d bags", len(bags))
	}
	for name, want := range bags {
		t.Run(name, func(t *testing.T) {
			r, err := Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got := digestOf(t, r)
			if got.String() != want.Digest || !cmp.Equal(got.counts, want.Counts) {
				t.Errorf("read %v, written were %v (same bytes: %v)", got.counts, want.Counts,
					got.String() == want.Digest)
			}
			info := r.Info()
			if info.Messages != 400 || info.Lost.Any() || info.Live {
				t.Errorf("%d messages, live %v, %s %q", info.Messages, info.Live, info.Lost.String(), info.Lost.Notes)
			}
			if strings.HasPrefix(name, "rosbags") {
				checkRosbagsInfo(t, info)
			}
		})
	}
}

func checkRosbagsInfo(t *testing.T, info Summary) {
	t.Helper()
	if len(info.Warnings) > 0 || info.Distro != "rosbags" || info.Custom["note"] != "by rosbags" {
		t.Errorf("warnings %q, distro %q, custom %v", info.Warnings, info.Distro, info.Custom)
	}
	for _, topic := range info.Topics {
		if d := cmp.Diff([]QoS{sampleQoS}, topic.QoS); d != "" {
			t.Errorf("%s: %s", topic.Name, d)
		}
		if !strings.HasPrefix(topic.TypeHash, "RIHS01_") || topic.Definition == "" ||
			topic.DefinitionEncoding != "ros2msg" {
			t.Errorf("%s: hash %q, definition %q of %q", topic.Name, topic.TypeHash, topic.Definition,
				topic.DefinitionEncoding)
		}
	}
}

// Others open the bags that Recover makes of killed ones.
func TestPeersReadRecovered(t *testing.T) {
	for _, name := range []string{"mcap_lz4_smallchunk_killed9", "sqlite3_resilient_killed9"} {
		out := filepath.Join(t.TempDir(), name)
		if _, err := Recover(unpack(t, name), out, WriterOptions{}); err != nil {
			t.Fatal(err)
		}
		var got peerBag
		peer(t, &got, "read", out)
		if want := readExpected(t, name).messages; got.Rosbags.Messages != want {
			t.Errorf("%s: rosbags counts %d messages, want %d", name, got.Rosbags.Messages, want)
		}
	}
}
