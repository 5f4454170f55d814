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

// simulated are frames between a simulator and PX4, of the dialect all.
var simulated = []struct {
	frame string
	m     Message
}{
	{"fd09000000ffbe04000005000000000000000793aa", &Ping{Microseconds: 5, Sequence: 7}},
	{"fd51000001ffbe5d0000e8030000000000000100000000000000000000000000003e0000803e0000c03e0000003f0000203f" +
		"0000403f0000603f0000803f0000903f0000a03f0000b03f0000c03f0000d03f0000e03f0000f03f8150ef",
		&HilActuatorControls{1000, 1, [16]float32{0, .125, .25, .375, .5, .625, .75, .875, 1, 1.125, 1.25, 1.375, 1.5,
			1.625, 1.75, 1.875}, 129}},
	{"fd41000002ffbe6b000087d61200000000000000803f0000004000004040000080400000a0400000c0400000e04000000041" +
		"00001041000020410000304100004041000050413f00000001cd66",
		&HilSensor{1234567, [3]float32{1, 2, 3}, [3]float32{4, 5, 6}, [3]float32{7, 8, 9}, [3]float32{10, 11, 12}, 13,
			63, 1}},
	{"fde9000003ffbe4b0100e8030000000000000000803f00000040000040400000803f00000000000000000000000000008040" +
		"0000a0400000c0400000e0400000004100001041000000000000803f0000004000004040000080400000a0400000c0400000" +
		"e040000000410000104100002041000030410000404100005041000060410000704100008041000088410000904100009841" +
		"0000a0410000003f0000c03f0000204000006040000090400000b0400000d0400000f0400000084100001841000028410000" +
		"3841000048410000584100006841000078410000844100008c410000944100009c410000a44101140302324310",
		&Odometry{1000, [3]float32{1, 2, 3}, [4]float32{1}, [3]float32{4, 5, 6}, [3]float32{7, 8, 9}, triangle(0),
			triangle(0.5), 1, 20, 3, 2, 50}},
}

// triangle counts from a number on.
func triangle(from float32) (all [21]float32) {
	for i := range all {
		all[i] = from + float32(i)
	}
	return all
}

func TestFramesAreThoseOfPymavlink(t *testing.T) {
	var out bytes.Buffer
	w := Writer{To: &out, System: 255, Component: 190}
	for i, g := range append(golden, simulated...) {
		out.Reset()
		if i == len(golden) {
			w.sequence = 0
		}
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

// FuzzReader reads bytes that may be no frames. What is read is written, and read again, as the same bytes.
func FuzzReader(f *testing.F) {
	for _, g := range append(golden, simulated...) {
		frame, err := hex.DecodeString(g.frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(from io.Reader) (all []byte) {
			var out bytes.Buffer
			w := Writer{To: &out}
			for r := NewReader(from); ; {
				m, err := r.Read()
				if errors.Is(err, io.EOF) {
					return out.Bytes()
				}
				if err == nil {
					err = w.Write(m)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		once := read(bytes.NewReader(data))
		if again := read(bytes.NewReader(once)); !bytes.Equal(once, again) {
			t.Errorf("%x comes back as %x", once, again)
		}
	})
}
