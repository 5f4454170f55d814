package overdds

import (
	"bufio"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// recorded is one packet of a real graph: a change by discovery, or a sample.
type recorded struct {
	change dds.Change
	sample []byte // of change.GUID, a writer
}

// recording reads testdata/humble_service_call.txt.
func recording(t testing.TB) []recorded {
	t.Helper()
	f, err := os.Open("testdata/humble_service_call.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		// A serviceid contains a space; it is the last field.
		w := strings.SplitN(lines.Text(), " ", 5)
		r := recorded{change: dds.Change{GUID: gid(t, w[1]), Kind: kindOf(gid(t, w[1])), Alive: w[0] != "gone"}}
		copy(r.change.Participant[:], r.change.GUID[:12])
		copy(r.change.Participant[12:], []byte{0, 0, 1, 0xc1})
		switch w[0] {
		case "sample":
			r.sample = unhex(t, w[2])
		case "participant":
			r.change.UserData = []byte(w[2])
		case "writer", "reader":
			r.change.Topic = dds.Topic{Name: w[2], Type: w[3]}
			r.change.UserData = []byte(strings.TrimPrefix(w[4], "-"))
		}
		all = append(all, r)
	}
	if lines.Err() != nil || len(all) < 150 {
		t.Fatalf("%d packets, %v", len(all), lines.Err())
	}
	return all
}

func kindOf(g rmw.GID) dds.Kind {
	switch g[15] {
	case 0x03:
		return dds.WriterKind
	case 0x04:
		return dds.ReaderKind
	}
	return dds.ParticipantKind
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gid(t testing.TB, s string) rmw.GID {
	t.Helper()
	return rmw.GID(unhex(t, s))
}
