package usd

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/record/recordtest"
)

func TestChannelsAreThoseOfCfusdlog(t *testing.T) {
	faults := recordtest.Hold(t, ".usd.json", func(name string, r io.Reader) (record.Reader, error) {
		return NewReader(name, r, nil)
	})
	if len(faults) > 0 {
		t.Error(faults)
	}
}

// head announces event 7, of a byte and a number of 16 bits.
func head(version byte) string {
	return "\xbc" + string([]byte{version}) + "\x00\x01\x00\x07\x00a\x00\x02\x00x(B)\x00y(h)\x00"
}

func row(x byte) string {
	return "\x07\x00\x40\x42\x0f\x00\x00\x00\x00\x00" + string([]byte{x}) + "\xfe\xff"
}

// summed appends the checksum.
func summed(log string) string {
	return string(binary.LittleEndian.AppendUint32([]byte(log), crc32.ChecksumIEEE([]byte(log))))
}

func TestRowsOfBothVersions(t *testing.T) {
	for name, log := range map[string]string{"microseconds": summed(head(2) + row(5)),
		"milliseconds": summed(head(1) + "\x07\x00\xe8\x03\x00\x00\x05\xfe\xff")} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("log00", strings.NewReader(log), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Next()
			if err != nil || got.T != 1 || got.Values[0] != 5 || got.Values[1] != -2 || got.Topic.Name != "a" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestDamageIsSteppedOver(t *testing.T) {
	for name, c := range map[string]struct {
		log   string
		rows  int
		fault string
	}{
		"whole":   {summed(head(2) + row(1) + row(2)), 2, ""},
		"no rows": {summed(head(2)), 0, ""},
		"cut off": {head(2) + row(1) + row(2)[:9], 1, "ends within a row"},
		"a bit is wrong": {strings.Replace(summed(head(2)+row(1)), "\x40", "\x41", 1), 1,
			"the checksum does not match"},
		"an unknown event": {head(2) + row(1) + "\x08" + row(2)[1:] + row(3), 1, "all behind it is left out"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("log00", strings.NewReader(c.log), nil)
			recordtest.Damaged(t, r, err, c.rows, c.fault)
		})
	}
}

func TestRefusesWhatIsNoLog(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"empty":           {"", "log00: byte 0: no log of a uSD deck"},
		"a later version": {head(3), "log00: byte 0: no log of a uSD deck"},
		"many events":     {"\xbc\x02\x00\xff\xff", "log00: byte 3: 65535 events, at most 256"},
		"no events":       {"\xbc\x02\x00\x01\x00", "log00: byte 5: the file ends within the list"},
		"an endless name": {"\xbc\x02\x00\x01\x00\x07\x00" + strings.Repeat("a", 999),
			"log00: byte 7: a name without an end"},
		"many variables": {"\xbc\x02\x00\x01\x00\x07\x00a\x00\xff\xff",
			`log00: byte 9: 65535 variables of "a", at most 64`},
		"a typeless one": {"\xbc\x02\x00\x01\x00\x07\x00a\x00\x01\x00xyz\x00",
			`variable "xyz" of "a", expected name(type)`},
		"an unknown type": {"\xbc\x02\x00\x01\x00\x07\x00a\x00\x01\x00x(q)\x00",
			`variable "x(q)" of "a", expected name(type)`},
		"an event repeated": {"\xbc\x02\x00\x02\x00\x07\x00a\x00\x00\x00\x07\x00b\x00\x00\x00",
			`event 7 twice, as "a" and "b"`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("log00", strings.NewReader(c.log), nil)
			recordtest.Refused(t, r, err, c.want)
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(summed(head(2) + row(1) + row(2))))
	f.Add([]byte(summed(head(1) + "\x07\x00\xe8\x03\x00\x00\x05\xfe\xff")))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader("log00", bytes.NewReader(log), nil)
		if err != nil {
			return
		}
		if rows, _ := recordtest.Drain(t, r); rows > len(log) {
			t.Fatalf("%d rows in %d bytes", rows, len(log))
		}
		r.About()
	})
}
