package bag

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/bag/metadata"
)

// sampleStart is the log time of the first sample, ns.
const sampleStart = int64(1_700_000_000_000_000_000)

var sampleQoS = QoS{
	History: "keep_last", Depth: 7, Reliability: "best_effort", Durability: "volatile",
	Deadline: metadata.Infinite, Lifespan: 10 * time.Second, Liveliness: "automatic",
	LivelinessLease: metadata.Infinite,
}

// sampleTopics have the type hashes of ROS 2 Jazzy.
func sampleTopics() []Topic {
	return []Topic{
		{
			Name: "/chat", Type: "std_msgs/msg/String", Encoding: "cdr", QoS: []QoS{sampleQoS},
			TypeHash:   "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
			Definition: "string data\n", DefinitionEncoding: "ros2msg",
		},
		{
			Name: "/point", Type: "geometry_msgs/msg/Point", Encoding: "cdr", QoS: []QoS{sampleQoS, sampleQoS},
			TypeHash:   "RIHS01_6963084842a9b04494d6b2941d11444708d892da2f4b09843b9c43f42a7f6881",
			Definition: "float64 x\nfloat64 y\nfloat64 z\n", DefinitionEncoding: "ros2msg",
		},
		{
			Name: "/long", Type: "std_msgs/msg/String", Encoding: "cdr",
			TypeHash:   "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
			Definition: "string data\n", DefinitionEncoding: "ros2msg",
		},
	}
}

// sample is the i-th of a stream of messages at 50 Hz on three topics.
func sample(i int) *Message {
	le := binary.LittleEndian
	m := &Message{LogTime: sampleStart + int64(i)*20_000_000, Sequence: uint32(i)}
	m.PublishTime = m.LogTime - 1_000_000
	data := []byte{0, 1, 0, 0}
	switch i % 3 {
	case 0:
		m.Topic, m.Type = "/point", "geometry_msgs/msg/Point"
		for _, v := range []float64{float64(i), -float64(i), 0.5} {
			data = le.AppendUint64(data, math.Float64bits(v))
		}
	default:
		m.Topic, m.Type = "/chat", "std_msgs/msg/String"
		text := fmt.Sprintf("message %d", i)
		if i%3 == 2 {
			m.Topic = "/long"
			text += strings.Repeat("x", 1500+i%1000)
		}
		data = le.AppendUint32(data, uint32(len(text)+1))
		data = append(append(data, text...), 0)
	}
	m.Data = data
	return m
}

// digest hashes messages as testdata/peer.py does.
type digest struct {
	hash   hash.Hash
	counts map[string]uint64
}

func newDigest() *digest { return &digest{sha256.New(), map[string]uint64{}} }

func (d *digest) add(m *Message) {
	var n [13]byte
	binary.LittleEndian.PutUint64(n[1:], uint64(m.LogTime))
	binary.LittleEndian.PutUint32(n[9:], uint32(len(m.Data)))
	d.hash.Write([]byte(m.Topic))
	d.hash.Write(n[:])
	d.hash.Write(m.Data)
	d.counts[m.Topic]++
}

func (d *digest) String() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// digestOf reads a whole bag.
func digestOf(t testing.TB, r *Reader) *digest {
	t.Helper()
	d := newDigest()
	for m, err := range r.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		d.add(m)
	}
	return d
}

// sampleWriter begins a bag with the samples' topics.
func sampleWriter(t testing.TB, dir string, o WriterOptions) *Writer {
	t.Helper()
	w, err := Create(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range sampleTopics() {
		if err := w.AddTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// writeSamples writes a bag of n samples and returns its folder and digest.
func writeSamples(t testing.TB, o WriterOptions, n int) (string, *digest) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sample")
	w := sampleWriter(t, dir, o)
	d := newDigest()
	for i := range n {
		m := sample(i)
		d.add(m)
		if err := w.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, d
}

// kinds are the formats that are written.
var kinds = []WriterOptions{
	{},
	{Compression: "lz4"},
	{Compression: "none"},
	{MetadataVersion: 5, Distro: "humble"},
	{MaxFileSize: 100_000},
	{MaxFileDuration: 3 * time.Second},
	{Storage: SQLite},
	{Storage: SQLite, MetadataVersion: 5, Distro: "humble"},
	{Storage: SQLite, MaxFileSize: 200_000},
	{Storage: SQLite, MaxFileDuration: 3 * time.Second},
}

func kindName(o WriterOptions) string {
	return fmt.Sprintf("%s%s_v%d_%d_%v", o.Storage, o.Compression, o.MetadataVersion, o.MaxFileSize, o.MaxFileDuration)
}
