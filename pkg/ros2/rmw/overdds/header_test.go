package overdds

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
)

// TestHeaderGolden: requests and responses of Humble are split into header and message, which our
// types decode, and joined again byte for byte.
func TestHeaderGolden(t *testing.T) {
	var seen []string
	for _, r := range recording(t) {
		topic := recordedTopic(t, r.change.GUID)
		var m cdr.Message
		switch topic {
		case "rq/drone1/armRequest":
			m = &stdsrvs.SetBoolRequest{}
		case "rr/drone1/armReply":
			m = &stdsrvs.SetBoolResponse{}
		case "rq/drone1/talker/get_parametersRequest":
			m = &rclinterfaces.GetParametersRequest{}
		case "rr/drone1/talker/get_parametersReply":
			m = &rclinterfaces.GetParametersResponse{}
		}
		if r.sample == nil || m == nil {
			continue
		}
		id, message, ok := unwrap(nil, r.sample)
		if !ok || id.Sequence != 1 || id.Client == 0 {
			t.Fatalf("%s: %v, %v", topic, id, ok)
		}
		if err := cdr.Unmarshal(message, m); err != nil {
			t.Fatalf("%s: %v in %x", topic, err, message)
		}
		body, err := cdr.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := wrap(nil, id, body)
		for len(again)%4 != 0 {
			again = append(again, 0)
		}
		if !bytes.Equal(again, r.sample) {
			t.Errorf("%s: written %x, recorded %x", topic, again, r.sample)
		}
		seen = append(seen, topic)
	}
	if len(seen) != 6 {
		t.Errorf("the recording has requests and responses of %q", seen)
	}
}

func recordedTopic(t *testing.T, g rmw.GID) string {
	for _, r := range recording(t) {
		if r.change.GUID == g && r.change.Topic.Name != "" {
			return r.change.Topic.Name
		}
	}
	return ""
}

func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rmw.RequestID{Client: rapid.Uint64().Draw(t, "client"), Sequence: rapid.Int64().Draw(t, "sequence")}
		big := rapid.Bool().Draw(t, "big endian")
		message := append([]byte{0, 1, 0, 0}, rapid.SliceOf(rapid.Byte()).Draw(t, "body")...)
		o := binary.ByteOrder(binary.LittleEndian)
		if big {
			message[1], o = 0, binary.BigEndian
		}
		sample, ok := wrap(nil, id, message)
		if !ok || len(sample) != len(message)+16 || o.Uint64(sample[4:]) != id.Client {
			t.Fatalf("%x", sample)
		}
		got, body, ok := unwrap(nil, sample)
		if !ok || got != id || !bytes.Equal(body, message) {
			t.Fatalf("%v %x, want %v %x", got, body, id, message)
		}
	})
}

// TestHeaderHostile: samples without a whole header or not in plain CDR are not accepted, nor can
// they be sent.
func TestHeaderHostile(t *testing.T) {
	good, _ := wrap(nil, rmw.RequestID{Client: 1, Sequence: 2}, []byte{0, 1, 0, 0})
	for n := range good {
		if _, _, ok := unwrap(nil, good[:n]); ok {
			t.Errorf("%d bytes are taken for a request", n)
		}
	}
	for _, encapsulation := range [][]byte{{0, 2, 0, 0}, {0, 7, 0, 0}, {1, 0, 0, 0}} {
		if _, _, ok := unwrap(nil, append(encapsulation, good[4:]...)); ok {
			t.Errorf("encapsulation %x is taken for CDR", encapsulation)
		}
		if _, ok := wrap(nil, rmw.RequestID{}, encapsulation); ok {
			t.Errorf("encapsulation %x is sent", encapsulation)
		}
	}
	if _, ok := wrap(nil, rmw.RequestID{}, []byte{0, 1, 0}); ok {
		t.Error("three bytes are sent")
	}
}

func FuzzHeader(f *testing.F) {
	for _, r := range recording(f) {
		f.Add(r.sample)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		id, message, ok := unwrap(nil, data)
		if !ok {
			return
		}
		if again, ok := wrap(nil, id, message); !ok || !bytes.Equal(again, data) {
			t.Errorf("%x became %x", data, again)
		}
	})
}
