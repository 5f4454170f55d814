package ulog

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"testing"

	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/record/recordtest"
)

func TestChannelsAreThoseOfPyulog(t *testing.T) {
	recordtest.Hold(t, ".ulg.json", func(name string, r io.Reader) (record.Reader, error) {
		return NewReader(name, r, nil)
	})
}

func TestReadsWhatTheLogSaysOfItself(t *testing.T) {
	r, err := NewReader("takeoff.ulg", bytes.NewReader(takeoff(t)), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := recordtest.Drain(t, r); rows != 0 || err != nil {
		t.Fatalf("%d rows of no topic, %v", rows, err)
	}
	a := r.About()
	if a.Parameters["MPC_THR_HOVER"] != 0.5 || a.Parameters["CA_ROTOR_COUNT"] != 4 || a.Info["ver_hw"] != "PX4_SITL" {
		t.Errorf("parameters %v, info %v", a.Parameters, a.Info)
	}
	if a.Topics["vehicle_attitude"] != 230 {
		t.Errorf("%d rows of vehicle_attitude", a.Topics["vehicle_attitude"])
	}
}

func takeoff(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/takeoff.ulg")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message is one message of a log.
func message(kind byte, body string) string {
	return string(binary.LittleEndian.AppendUint16(nil, uint16(len(body)))) + string(kind) + body
}

var header = string(Magic) + "\x01\x00\x00\x00\x00\x00\x00\x00\x00"

// announced is topic 7, of type a.
var announced = message('A', "\x00\x07\x00a")

var zeros = strings.Repeat("\x00", 9999)

// small announces topic 7 of one byte and a time.
var small = header + message('F', "a:uint64_t timestamp;uint8_t x;uint8_t[3] _padding0;") + announced

func row(x byte) string {
	return message('D', "\x07\x00\x40\x42\x0f\x00\x00\x00\x00\x00"+string([]byte{x}))
}

func TestDamageIsSteppedOver(t *testing.T) {
	for name, c := range map[string]struct {
		log   string
		rows  int
		fault string
	}{
		"padding is left out":   {small + row(1) + message('D', "\x07\x0012345678abcd"), 2, ""},
		"cut off in a message":  {small + row(1) + row(2)[:9], 1, "ends within a message"},
		"cut off in a header":   {small + row(1) + row(2)[:2], 1, "ends within a message"},
		"a short row":           {small + row(1) + message('D', "\x07\x001234"), 1, "a row shorter"},
		"an unknown topic":      {small + row(1) + message('D', "\x08\x0012345678a"), 1, "not announced"},
		"a topic that is over":  {small + row(1) + message('R', "\x07\x00") + row(2), 1, "not announced"},
		"an unknown kind":       {small + message('Y', "what?") + row(1), 1, ""},
		"a dropout":             {small + row(1) + message('O', "\x10\x00") + row(2), 2, "dropped rows"},
		"zeros until a marker":  {small + row(1) + zeros + string(syncMarker) + row(2), 2, "damaged"},
		"zeros until the end":   {small + row(1) + zeros, 1, "damaged"},
		"rows after nothing":    {header, 0, ""},
		"a key without a value": {small + message('I', "\xffint32_t x") + row(1), 1, "a key longer"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("a.ulg", strings.NewReader(c.log), nil)
			recordtest.Damaged(t, r, err, c.rows, c.fault)
		})
	}
}

func TestAppendedDataIsReadBehindWhatItCutsOff(t *testing.T) {
	flags := func(offset int) string {
		body := make([]byte, 40)
		body[8] = 1
		binary.LittleEndian.PutUint64(body[16:], uint64(offset))
		return message('B', string(body))
	}
	before := small[len(header):] + row(1) + row(2)[:7]
	log := header + flags(len(header)+43+len(before)) + before + row(3) + row(4)
	r, err := NewReader("a.ulg", strings.NewReader(log), nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := recordtest.Drain(t, r); rows != 3 || err != nil || len(r.About().Faults) > 0 {
		t.Errorf("%d rows, want 3; %v; %v", rows, err, r.About().Faults)
	}
}

func TestRefusesWhatIsNoULog(t *testing.T) {
	nested := header
	for i := range 12 {
		nested += message('F', string('a'+rune(i))+":"+string('b'+rune(i))+"[65535] x;")
	}
	for name, c := range map[string]struct{ log, want string }{
		"empty":           {"", "a.ulg: byte 0: no header of a ULog"},
		"another file":    {"H Product:Blackbox flight data", "a.ulg: byte 0: no header of a ULog"},
		"a later version": {string(Magic) + "\x02aaaaaaaa", "a.ulg: byte 7: ULog version 2, expected 0 or 1"},
		"unknown flags": {header + message('B', "12345678\x02\x00\x00\x00\x00\x00\x00\x00"+strings.Repeat("\x00", 24)),
			"a.ulg: byte 16: incompatible flag 0.0x2"},
		"short flags":      {header + message('B', "1234"), "a.ulg: byte 16: 4 bytes of flags, expected 40"},
		"no format":        {header + announced, `a.ulg: byte 16: no format of "a"`},
		"no time":          {header + message('F', "a:float x;") + announced, `"a" has no uint64_t timestamp`},
		"a huge array":     {header + message('F', "a:float[99999999] x;") + announced, "an array of 1 to 65535"},
		"arrays of arrays": {nested + announced, "nested more than 8 deep"},
		"of nothing": {header + message('F', "a:b[65535] x;") + message('F', "b:c[65535] x;") + message('F', "c:") +
			announced, "more than 65535 fields"},
		"itself":          {header + message('F', "a:a x;") + announced, "nested more than 8 deep"},
		"a long row":      {header + message('F', "a:double[65535] x;") + announced, "longer than a row"},
		"a nameless type": {header + message('F', "float x;"), "a format without a name"},
		"a typeless name": {header + message('F', "a:float;") + announced, "expected type and name"},
		"many formats":    {header + strings.Repeat(message('F', "a:"+zeros), 2000), "more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("a.ulg", strings.NewReader(c.log), nil)
			recordtest.Refused(t, r, err, c.want)
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(small + row(1) + row(2)))
	f.Add([]byte(small + row(1) + strings.Repeat("\x00", 20) + string(syncMarker) + row(2)))
	f.Add([]byte(header + message('F', "b:float[2] y;") + message('F', "a:uint64_t timestamp;b[2] x;") +
		message('P', "\x07float A\x00\x00\x80\x3f") + announced +
		message('D', strings.Repeat("\x07\x00", 13))))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader("a.ulg", bytes.NewReader(log), nil)
		if err != nil {
			return
		}
		if rows, _ := recordtest.Drain(t, r); rows > len(log) {
			t.Fatalf("%d rows in %d bytes", rows, len(log))
		}
		r.About()
	})
}
