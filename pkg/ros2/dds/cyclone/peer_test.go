//go:build cgo && !nocyclone

package cyclone

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// pose is a geometry_msgs/PoseStamped in CDR: stamp, frame, position and
// orientation.
func pose(sec int32, nanosec uint32, frame string, numbers [7]float64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0, 1, 0, 0}, uint32(sec))
	b = binary.LittleEndian.AppendUint32(b, nanosec)
	b = text(b, frame)
	b = append(b, make([]byte, -(len(b)-4)&7)...) // doubles lie at multiples of 8, counted from after the header
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// text appends a string to CDR.
func text(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)+1))
	return append(append(b, s...), 0)
}

// The cyclonedds package of PyPI, of another series and with type information, exchanges
// samples with us, and does not crash us.
func TestPyPIPeer(t *testing.T) {
	python := os.Getenv("VND_PYTHON")
	if python == "" {
		t.Skip("VND_PYTHON is not set (make test sets it): no independent DDS peer at hand")
	}
	xml := loopback(newTag(), wireDomain)
	cmd := exec.Command(python, "testdata/peer.py", "3", "<CycloneDDS><Domain>"+xml+"</Domain></CycloneDDS>")
	started(t, "peer.py", cmd)
	p := open(t, Config{Domain: 2, XML: xml})
	earlier := map[string]bool{} // answers that may arrive twice
	send := func(name, typeName string, sample, want []byte) {
		t.Helper()
		w := newWriter(t, p, dds.Topic{Name: "rt/to_" + name, Type: typeName}, keepAll)
		r := newReader(t, p, dds.Topic{Name: "rt/from_" + name, Type: typeName}, keepAll)
		defer w.Close()
		defer r.Close()
		eventually(t, "the peer is there", func() bool { return w.Status().Matched == 1 && r.Status().Matched == 1 })
		// It pads without noting how much, as ROS' own middleware.
		padded, answered, sent := string(append(want, 0, 0, 0)[:(len(want)+3)&^3]), false, time.Time{}
		eventually(t, "the peer answers", func() bool {
			if time.Since(sent) > time.Second { // it may have discovered us after the last one
				if sent = time.Now(); w.Write(sample, 0) != nil {
					return false
				}
			}
			_, err := r.Take(1, func(s *dds.Sample) {
				switch got := string(s.Data); {
				case got == padded:
					answered = true
				case !earlier[got]:
					t.Errorf("%s: sent\n% x, got\n% x, expected\n% x", name, sample, s.Data, want)
				}
			})
			return answered && err == nil
		})
		earlier[padded] = true
	}
	for i := range 9 {
		frame := strings.Repeat("m", i)
		send("pose", "geometry_msgs::msg::dds_::PoseStamped_",
			pose(int32(-i), uint32(i), frame, [7]float64{0.5, 1, math.Pi, 0, 0, 0.6, 0.8}),
			pose(int32(-i), uint32(i), frame, [7]float64{1.5, 3, math.Pi + 3, 0, 0, 0.6, 0.8}))
		letters := []byte("abcdefghi")[:i]
		there := text([]byte{0, 1, 0, 0}, string(letters))
		slices.Reverse(letters)
		send("string", "std_msgs::msg::dds_::String_", there, text([]byte{0, 1, 0, 0}, string(letters)))
	}
	var seen string
	if err := p.Changes(func(c dds.Change) { seen += c.Topic.Name + " " }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(seen, "rt/from_pose") || !strings.Contains(seen, "rt/to_string") {
		t.Errorf("the graph has %s", seen)
	}
}
