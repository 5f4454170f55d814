package dataflash

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/record/recordtest"
)

func TestChannelsAreThoseOfPymavlink(t *testing.T) {
	recordtest.Hold(t, ".bin.json", func(name string, r io.Reader) (record.Reader, error) {
		return NewReader(name, r, nil)
	})
}

// described is the description of a kind of message.
func described(kind byte, name, letters, columns string, length int) string {
	pad := func(s string, n int) string { return s + strings.Repeat("\x00", n-len(s)) }
	return "\xa3\x95\x80" + string([]byte{kind, byte(length)}) + pad(name, 4) + pad(letters, 16) + pad(columns, 64)
}

var (
	small = described(7, "A", "QBb", "TimeUS,I,X", 13)
	zero8 = strings.Repeat("\x00", 8)
	nan   = "\x00\x00\xc0\x7f"
)

// units is a message that says which field of a kind is the instance; kinds are of type letter, bytes long.
func units(letter string, kind string) string {
	return described(1, "FMTU", "Q"+letter+"NN", "TimeUS,FmtType,UnitIds,MultIds", 43+len(kind)) +
		"\xa3\x95\x01" + zero8 + kind + "s#" + strings.Repeat("\x00", 30)
}

// row is a message of kind 7 of an instance.
func row(instance, x byte) string { return "\xa3\x95\x07" + zero8 + string([]byte{instance, x}) }

func TestDamageIsSteppedOver(t *testing.T) {
	for name, c := range map[string]struct {
		log   string
		rows  int
		fault string
	}{
		"two instances":       {small + row(0, 1) + row(1, 2), 2, ""},
		"described again":     {small + row(0, 1) + small + row(0, 1), 2, ""},
		"cut off":             {small + row(0, 1) + row(0, 2)[:9], 1, "ends within a message"},
		"cut off in a header": {small + row(0, 1) + "\xa3\x95", 1, "ends within a message"},
		"an instance of NaN": {described(7, "A", "QfB", "TimeUS,I,X", 16) + units("B", "\x07") +
			"\xa3\x95\x07" + zero8 + nan + "\x01", 0, "an instance beyond 31"},
		"units of no kind":      {small + units("f", nan) + row(0, 1), 1, ""},
		"garbage":               {small + row(0, 1) + "garbage" + row(0, 2), 2, "damaged: no message"},
		"an unknown kind":       {small + "\xa3\x95\x09abc" + row(0, 2), 1, "not described"},
		"a huge instance":       {small + row(200, 1) + row(0, 2), 1, "an instance beyond 31"},
		"a wrong length":        {described(7, "A", "Q", "TimeUS", 12) + "\xa3\x95\x07123456789", 0, "does not fit"},
		"no length":             {described(7, "A", "Q", "TimeUS", 0) + "\xa3\x95\x07", 0, "does not fit"},
		"too few columns":       {described(7, "A", "QB", "TimeUS", 12), 0, "does not fit"},
		"an unknown letter":     {described(7, "A", "w", "TimeUS", 4), 0, "does not fit"},
		"itself described anew": {described(0x80, "A", "B", "X", 4) + small + row(0, 1), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("a.bin", strings.NewReader(c.log), func(topic string) bool { return topic == "A" })
			recordtest.Damaged(t, r, err, c.rows, c.fault)
		})
	}
}

func TestReadsParametersAndTexts(t *testing.T) {
	f, err := os.Open("testdata/takeoff.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewReader("takeoff.bin", f, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := recordtest.Drain(t, r); rows != 0 || err != nil {
		t.Fatalf("%d rows of no topic, %v", rows, err)
	}
	a := r.About()
	if a.Parameters["MOT_PWM_MAX"] != 2000 || a.Info["message 0"] != "ArduCopter made of a log of PX4" ||
		a.Topics["ATT"] != 230 {
		t.Errorf("parameters %v, info %v, %d of ATT", a.Parameters, a.Info, a.Topics["ATT"])
	}
}

func TestHalfPrecision(t *testing.T) {
	for bits, want := range map[uint16]float64{0: 0, 0x3C00: 1, 0xC000: -2, 0x3555: 0.333251953125, 0x0001: 0x1p-24,
		0x7C00: math.Inf(1), 0xFC00: math.Inf(-1)} {
		if got := half([]byte{byte(bits), byte(bits >> 8)}); got != want {
			t.Errorf("%#x is %v, want %v", bits, got, want)
		}
	}
	if !math.IsNaN(half([]byte{1, 0x7C})) {
		t.Error("0x7c01 is a number")
	}
}

func TestRefusesWhatIsNoDataFlash(t *testing.T) {
	for name, log := range map[string]string{"empty": "", "short": "\xa3\x95", "another file": "ULog\x01\x12\x35",
		"no description first": row(0, 1)} {
		t.Run(name, func(t *testing.T) {
			_, err := NewReader("a.bin", strings.NewReader(log), nil)
			if err == nil || err.Error() != "a.bin: byte 0: no DataFlash log, expected the bytes a3 95 80" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(small + row(0, 1) + row(1, 2)))
	f.Add([]byte(described(1, "FMTU", "QBNN", "TimeUS,FmtType,UnitIds,MultIds", 44) + small + row(0, 1) +
		"\xa3\x95\x01" + zero8 +
		"\x07#ss" + strings.Repeat("\x00", 29) + row(0, 1)))
	f.Add([]byte(described(2, "PARM", "QNf", "TimeUS,Name,Value", 31) + described(3, "X", "abBghHiIfdqQcCeE",
		"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", 255) + "\xa3\x95\x02" + zero8 + "A" + strings.Repeat("\x00", 19)))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader("a.bin", bytes.NewReader(log), nil)
		if err != nil {
			return
		}
		if rows, _ := recordtest.Drain(t, r); rows > len(log) {
			t.Fatalf("%d rows in %d bytes", rows, len(log))
		}
		r.About()
	})
}
