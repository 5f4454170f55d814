package overdds

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	humble "vnd/msgs/humble/rmw_dds_common"
	newer "vnd/msgs/rmw_dds_common"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
)

var compareInfo = cmp.AllowUnexported(info{}, nodeInfo{})

// infoSamples are announcements of Humble from a recorded run.
func infoSamples(t testing.TB) (samples [][]byte, writers []rmw.GID) {
	t.Helper()
	for _, r := range recording(t) {
		if r.sample != nil && r.change.GUID[14] == 4 && r.change.GUID[15] == 3 {
			samples, writers = append(samples, r.sample), append(writers, r.change.GUID)
		}
	}
	if len(samples) < 39 {
		t.Fatalf("only %d samples in the recording", len(samples))
	}
	return samples, writers
}

// TestInfoGolden: Humble's samples are decoded, and encoded again byte for byte without the
// padding at the end.
func TestInfoGolden(t *testing.T) {
	samples, writers := infoSamples(t)
	for i, sample := range samples {
		m, err := parseInfo(sample)
		if err != nil {
			t.Fatalf("%v in %x", err, sample)
		}
		if !bytes.Equal(m.gid[:12], writers[i][:12]) || len(m.nodes) > 1 {
			t.Errorf("%v has %d nodes, by writer %v", m.gid, len(m.nodes), writers[i])
		}
		again, err := appendInfo(nil, humbleGid, m)
		if err != nil {
			t.Fatal(err)
		}
		for len(again)%4 != 0 {
			again = append(again, 0)
		}
		if !bytes.Equal(again, sample) {
			t.Errorf("written  %x\nrecorded %x", again, sample)
		}
	}
}

// TestInfoSerialized: a message of rmw_serialize with all kinds of fields. Its Gids have 24 bytes
// that do not end in zeros, which no DDS makes.
func TestInfoSerialized(t *testing.T) {
	data, err := os.ReadFile("testdata/rmw_dds_common__ParticipantEntitiesInfo.cdr")
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodeInfo(data, humbleGid)
	if err != nil {
		t.Fatal(err)
	}
	from := func(start byte) (g rmw.GID) {
		for i := range g {
			g[i] = start + byte(i)
		}
		return g
	}
	want := &info{gid: from(16), nodes: []nodeInfo{
		{"/", "talker", []rmw.GID{from(32)}, []rmw.GID{from(48), from(64)}}, {namespace: "/drone1", name: "ctrl"}}}
	if d := cmp.Diff(want, m, compareInfo); d != "" {
		t.Error(d)
	}
}

// drawInfo draws a random announcement.
func drawInfo(t *rapid.T) *info {
	gids := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rmw.GID {
		return rmw.GID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "gid"))
	}), 0, 3)
	text := rapid.StringMatching(`/?[a-z0-9_]{1,20}`)
	m := &info{gid: rmw.GID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "participant"))}
	for range rapid.IntRange(0, 4).Draw(t, "nodes") {
		n := nodeInfo{namespace: text.Draw(t, "namespace"), name: text.Draw(t, "name"),
			readers: gids.Draw(t, "readers"), writers: gids.Draw(t, "writers")}
		if len(n.readers) == 0 {
			n.readers = nil
		}
		if len(n.writers) == 0 {
			n.writers = nil
		}
		m.nodes = append(m.nodes, n)
	}
	return m
}

// TestInfoBothDistributions: samples with either size of Gid are told apart, also with padding.
// The generated code of the messages decodes them too.
func TestInfoBothDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawInfo(t)
		for _, size := range []gidSize{humbleGid, newerGid} {
			data, err := appendInfo(nil, size, m)
			if err != nil {
				t.Fatal(err)
			}
			checkGenerated(t, data, size, m)
			for len(data)%4 != 0 {
				data = append(data, 0)
			}
			got, err := parseInfo(data)
			if err != nil {
				t.Fatalf("Gids of %d: %v", size, err)
			}
			if d := cmp.Diff(m, got, compareInfo); d != "" {
				t.Fatalf("Gids of %d: %s", size, d)
			}
		}
	})
}

func checkGenerated(t *rapid.T, data []byte, size gidSize, m *info) {
	if size == humbleGid {
		var g humble.ParticipantEntitiesInfo
		if err := cdr.Unmarshal(data, &g); err != nil || !bytes.Equal(g.Gid.Data[:16], m.gid[:]) ||
			len(g.NodeEntitiesInfoSeq) != len(m.nodes) {
			t.Fatalf("humble reads %v, %v", g, err)
		}
		for i, n := range g.NodeEntitiesInfoSeq {
			if n.NodeName != m.nodes[i].name || len(n.ReaderGidSeq) != len(m.nodes[i].readers) ||
				len(n.WriterGidSeq) != len(m.nodes[i].writers) {
				t.Fatalf("humble reads node %v", n)
			}
		}
		return
	}
	var g newer.ParticipantEntitiesInfo
	if err := cdr.Unmarshal(data, &g); err != nil || g.Gid.Data != m.gid || len(g.NodeEntitiesInfoSeq) != len(m.nodes) {
		t.Fatalf("newer reads %v, %v", g, err)
	}
	for i, n := range g.NodeEntitiesInfoSeq {
		for k, r := range n.ReaderGidSeq {
			if r.Data != m.nodes[i].readers[k] {
				t.Fatalf("newer reads node %v", n)
			}
		}
	}
}

// TestInfoHostile: truncated samples, huge counts and other types are errors.
func TestInfoHostile(t *testing.T) {
	samples, _ := infoSamples(t)
	whole := samples[0]
	for n := range len(whole) - 4 { // the last 3 may be padding
		if n/4 == 24/4 {
			continue // is what a newer distribution sends when it has no nodes, padding included
		}
		if m, err := parseInfo(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are read as %d nodes of %v", n, len(whole), len(m.nodes), m.gid)
		}
	}
	for _, at := range []int{28, 32, 40, 80} { // counts and lengths
		for _, v := range []uint32{1 << 31, 0xffffffff, 1000} {
			huge := bytes.Clone(whole)
			binary.LittleEndian.PutUint32(huge[at:], v)
			if m, err := parseInfo(huge); err == nil {
				t.Errorf("count %d at %d is read as %d nodes", v, at, len(m.nodes))
			}
		}
	}
	if _, err := parseInfo(append([]byte{0, 9}, whole[2:]...)); err == nil {
		t.Error("XCDR2 is read")
	}
}

func FuzzInfo(f *testing.F) {
	samples, _ := infoSamples(f)
	for _, s := range samples {
		f.Add(s)
		m, _ := parseInfo(s)
		n, _ := appendInfo(nil, newerGid, m)
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseInfo(data)
		if err != nil {
			return
		}
		total := 0
		for _, n := range m.nodes {
			total += len(n.namespace) + len(n.name) + 16*(len(n.readers)+len(n.writers))
		}
		if total > len(data) {
			t.Errorf("%d bytes of content in %d", total, len(data))
		}
	})
}
