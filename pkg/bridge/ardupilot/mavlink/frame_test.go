package mavlink

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"testing"
)

// golden are frames of pymavlink 2.4.50, dialect ardupilotmega, of system 255, component 190.
var golden = []struct {
	frame string
	m     Message
}{
	{"fd09000000ffbe000000140000000203d104037099", &Heartbeat{20, 2, 3, 209, 4, 3}},
	{"fd10000001ffbe140000ffff0101475549445f4f5054494f4e533b73", &ParamRequestRead{-1, 1, 1, Name("GUID_OPTIONS")}},
	{"fd19000002ffbe1600000000803f1405ffff4154435f414e474c455f424f4f535400024aa3",
		&ParamValue{1, 1300, 65535, Name("ATC_ANGLE_BOOST"), 2}},
	{"fd17000003ffbe170000000000410101475549445f4f5054494f4e530000000009fc6c",
		&ParamSet{8, 1, 1, Name("GUID_OPTIONS"), 9}},
	{"fd06000004ffbe0b0000140000000101bb36", &SetMode{20, 1, 1}},
	{"fd20000005ffbe4c00000000803f00d03a45000000000000000000000000000000000000000090010101ff8f",
		&CommandLong{[7]float32{1, 2989}, 400, 1, 1, 0}},
	{"fd03000006ffbe4d0000900104a23a", &CommandAck{400, 4}},
	{"fd27000007ffbe520000d20400000000803f0000000000000000000000000000003f000080be000000400000c03e0101804e6d",
		&SetAttitudeTarget{1234, [4]float32{1}, [3]float32{0.5, -0.25, 2}, 0.375, 1, 1, 128}},
}

func TestFramesAreThoseOfPymavlink(t *testing.T) {
	var out bytes.Buffer
	w := Writer{To: &out, System: 255, Component: 190}
	for _, g := range golden {
		out.Reset()
		if err := w.Write(g.m); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(out.Bytes()); got != g.frame {
			t.Errorf("%T\n got %s\nwant %s", g.m, got, g.frame)
		}
	}
}

// Frames are read between bytes that are none, a message that is not known and one that is damaged.
func TestReaderFindsFrames(t *testing.T) {
	var in bytes.Buffer
	in.WriteString("hello ")
	for i, g := range golden {
		frame, err := hex.DecodeString(g.frame)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(frame)
		if i == 2 {
			frame[12]++
			in.Write(frame)
			in.WriteString("\xfd\x00\x00\x00\x00\x01\x01\x42\x42\x00\x00\x00")
		}
	}
	r := NewReader(&in)
	for _, g := range golden {
		m, err := r.Read()
		if err != nil || !reflect.DeepEqual(m, g.m) {
			t.Errorf("%+v, %v, expected %+v", m, err, g.m)
		}
	}
	if m, err := r.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("%+v, %v", m, err)
	}
}
