package cdr_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"vnd/pkg/ros2/cdr"
)

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genEvery().Draw(t, "message")
		order := rapid.SampledFrom([]cdr.Order{cdr.LittleEndian, cdr.BigEndian}).Draw(t, "order")
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "prefix")
		data, err := cdr.Append(prefix, order, want)
		if err != nil {
			t.Fatal(err)
		}
		got := genEvery().Draw(t, "re-used")
		if err := cdr.Unmarshal(data[len(prefix):], got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, len(data)-len(prefix)-1).Draw(t, "cut")
		if err := cdr.Unmarshal(data[len(prefix):len(prefix)+cut], got); err == nil {
			t.Fatalf("%d of %d bytes decoded without an error", cut, len(data)-len(prefix))
		}
	})
}

// The layout rules of the package comment, each laid out by hand.
func TestEncoderLaysOutAsXCDR1(t *testing.T) {
	var e cdr.Encoder
	for _, c := range []struct {
		name  string
		order cdr.Order
		write func()
		want  string
	}{
		{"alignment counts from after the header", cdr.LittleEndian, func() { e.Uint8(7); e.Uint64(1) },
			"\x00\x01\x00\x00" + "\x07\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00"},
		{"big endian", cdr.BigEndian, func() { e.Uint16(0x0102); e.Float32(1) },
			"\x00\x00\x00\x00" + "\x01\x02\x00\x00" + "\x3f\x80\x00\x00"},
		{"empty string has a NUL", cdr.LittleEndian, func() { e.String("", 0, "") },
			"\x00\x01\x00\x00" + "\x01\x00\x00\x00\x00"},
		{"wstring: code units of four bytes, no NUL", cdr.LittleEndian, func() { e.WString("a𝛚", 0, "") },
			"\x00\x01\x00\x00" + "\x03\x00\x00\x00" + "a\x00\x00\x00" + "\x35\xd8\x00\x00" + "\xda\xde\x00\x00"},
		{"empty sequence is not padded", cdr.LittleEndian, func() { cdr.EncodeSeq(&e, []float64{}, 0, ""); e.Uint8(9) },
			"\x00\x01\x00\x00" + "\x00\x00\x00\x00" + "\x09"},
		{"sequence of doubles is", cdr.BigEndian, func() { cdr.EncodeSeq(&e, []float64{-2}, 0, "") },
			"\x00\x00\x00\x00" + "\x00\x00\x00\x01\x00\x00\x00\x00" + "\xc0\x00\x00\x00\x00\x00\x00\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e.Reset(nil, c.order)
			c.write()
			got, err := e.Bytes()
			if err != nil || string(got) != c.want {
				t.Errorf("% x, %v; want % x", got, err, c.want)
			}
		})
	}
}

func TestDecoderRefusesMalformedData(t *testing.T) {
	str := func(n string, body string) string { return "\x00\x01\x00\x00" + n + "\x00\x00\x00" + body }
	var floats []float64
	var bytes []uint8
	var text string
	for name, c := range map[string]struct {
		data string
		read func(*cdr.Decoder)
		want string
	}{
		"no header": {"\x00\x01", nil, "2 bytes, expected an encapsulation header of 4"},
		"XCDR2": {"\x00\x07\x00\x00", nil,
			"encapsulation 0x0007 (CDR2_LE), expected CDR_BE 0x0000 or CDR_LE 0x0001"},
		"unknown": {"\xab\x07\x00\x00", nil, "encapsulation 0xab07 (unknown)"},
		"cut primitive": {str("\x00", ""), func(d *cdr.Decoder) { d.Float64("p/msg/T.x") },
			"p/msg/T.x: expected 8 more bytes at byte 4, the data ends at 8"},
		"string too long": {str("\x09", "abc\x00"), func(d *cdr.Decoder) { d.String(&text, 0, "p/msg/T.s") },
			"p/msg/T.s: string of 9 bytes at byte 8, 4 remain"},
		"string no NUL": {str("\x03", "abc"), func(d *cdr.Decoder) { d.String(&text, 0, "p/msg/T.s") },
			"p/msg/T.s: string of 3 bytes at byte 8, expected NUL as its last"},
		"string bound": {str("\x04", "abc\x00"), func(d *cdr.Decoder) { d.String(&text, 2, "p/msg/T.s") },
			"p/msg/T.s: string of 3 bytes at byte 8, expected at most 2"},
		"sequence count": {"\x00\x01\x00\x00\xff\xff\xff\xff",
			func(d *cdr.Decoder) { cdr.DecodeSeq(d, &floats, 0, "p/msg/T.s") },
			"p/msg/T.s: sequence of 4294967295 elements of at least 8 bytes at byte 8, 0 bytes remain"},
		"sequence bound": {str("\x03", "abc"), func(d *cdr.Decoder) { cdr.DecodeSeq(d, &bytes, 2, "p/msg/T.s") },
			"p/msg/T.s: sequence of 3 elements at byte 4, expected at most 2"},
		"boolean": {"\x00\x01\x00\x00\x02", func(d *cdr.Decoder) { d.Bool("p/msg/T.b") },
			"p/msg/T.b: octet 2 at byte 4, expected a boolean 0 or 1"},
		"boolean array": {"\x00\x01\x00\x00\x01\x02",
			func(d *cdr.Decoder) { cdr.DecodeArray(d, make([]bool, 2), "p/msg/T.b") },
			"p/msg/T.b: octet 2 at byte 5, expected a boolean 0 or 1"},
		"code unit": {str("\x01", "\x00\x00\x01\x00"),
			func(d *cdr.Decoder) { d.WString(&text, 0, "p/msg/T.w") },
			"p/msg/T.w: 0x10000 at byte 8, expected a UTF-16 code unit"},
		"left over": {str("\x01", "\x00\x00\x00\x00\x00"), func(d *cdr.Decoder) { d.Uint32("p/msg/T.n") },
			"5 bytes left after the last field, expected at most 3 of padding: the sender's definition differs"},
	} {
		t.Run(name, func(t *testing.T) {
			var d cdr.Decoder
			d.Reset([]byte(c.data))
			if c.read != nil {
				c.read(&d)
			}
			if err := d.Finish(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
}

// action_msgs/srv/CancelGoal_Request as a running Lyrical serialized it on Cyclone DDS, on 2026-11-27: four bytes too
// many, with what lay in its memory.
func TestWhatLyricalSendsTooMuch(t *testing.T) {
	const sent = "\x00\x01\x00\x00" + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x55\x0a\x27\x00"
	var id [16]uint8
	var text string
	ids := func(d *cdr.Decoder) { cdr.DecodeArray(d, id[:], "id") }
	for name, c := range map[string]struct {
		more string
		read func(d *cdr.Decoder)
		ok   bool
	}{
		"array":    {"", func(d *cdr.Decoder) { ids(d); d.Int32("s"); d.Uint32("ns") }, true},
		"no array": {"", func(d *cdr.Decoder) { d.Uint64("a"); d.Uint64("b"); d.Int32("s"); d.Uint32("ns") }, false},
		"one":      {"", func(d *cdr.Decoder) { cdr.DecodeArray(d, id[:1], "a"); d.Uint64("b"); d.Uint64("c") }, false},
		"too much": {"12345678901", func(d *cdr.Decoder) { ids(d); d.Uint64("s") }, false},
		"string":   {"", func(d *cdr.Decoder) { ids(d); d.String(&text, 0, "t") }, false},
		"sequence": {"", func(d *cdr.Decoder) { ids(d); d.Len(0, 1, "n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var d cdr.Decoder
			d.Reset([]byte(sent + c.more))
			c.read(&d)
			if err := d.Finish(); (err == nil) != c.ok || id[15] != 0xff && c.ok {
				t.Errorf("%v, %x", err, id)
			}
		})
	}
}

func TestAppendRefusesWhatIsOverItsBound(t *testing.T) {
	for want, m := range map[string]*every{
		"short: string of 6 bytes, expected at most 5":               {Short: "123456"},
		"wshort: wstring of 4 UTF-16 code units, expected at most 3": {WShort: "𝛚𝛚"},
		"u32s: sequence of 5 elements, expected at most 4":           {U32s: make([]uint32, 5)},
	} {
		t.Run(want, func(t *testing.T) {
			out, err := cdr.Append([]byte("before"), cdr.LittleEndian, m)
			if err == nil || err.Error() != "test/msg/Every: test/msg/Every."+want || string(out) != "before" {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

func TestWStringOfAnyCodeUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOf(rapid.OneOf(rapid.Uint16(), rapid.Uint16Range(0xd7ff, 0xe000))).Draw(t, "units")
		var e cdr.Encoder
		e.Reset(nil, cdr.LittleEndian)
		e.Len(len(units), 0, "")
		for _, u := range units {
			e.Uint32(uint32(u))
		}
		data, _ := e.Bytes()
		var d cdr.Decoder
		var got string
		d.Reset(data)
		d.WString(&got, 0, "")
		if want := string(utf16.Decode(units)); d.Finish() != nil || got != want {
			t.Fatalf("%x: %q, %v; want %q", units, got, d.Finish(), want)
		}
	})
}

func TestEmptyStringWithoutNUL(t *testing.T) {
	got := "before"
	var d cdr.Decoder
	d.Reset([]byte{0, 1, 0, 0, 0, 0, 0, 0})
	d.String(&got, 0, "")
	if got != "" || d.Finish() != nil {
		t.Errorf("%q, %v", got, d.Finish())
	}
}

func big() *every {
	return &every{
		Str: "some text", WStr: "wide 漢", Short: "short", WShort: "w", Bools: make([]bool, 9), Bytes: make([]byte, 100),
		U16s: make([]uint16, 5), I16s: make([]int16, 5), U32s: make([]uint32, 4), I32s: make([]int32, 4),
		U64s: make([]uint64, 4),
		F32s: make([]float32, 40), F64s: []float64{1, math.Inf(1), math.Copysign(0, -1)},
		Names: []string{"a", "bb"}, Nested: make([]point, 20),
	}
}

func TestNoAllocationOnReuse(t *testing.T) {
	for _, order := range []cdr.Order{cdr.LittleEndian, cdr.BigEndian} {
		m, into := big(), big()
		var e cdr.Encoder
		var d cdr.Decoder
		e.Reset(nil, order)
		m.MarshalCDR(&e)
		buf, _ := e.Bytes()
		if n := testing.AllocsPerRun(100, func() {
			e.Reset(buf[:0], order)
			m.MarshalCDR(&e)
		}); n != 0 {
			t.Errorf("order %d: %v allocations to encode", order, n)
		}
		d.Reset(buf)
		into.UnmarshalCDR(&d)
		if n := testing.AllocsPerRun(100, func() {
			d.Reset(buf)
			into.UnmarshalCDR(&d)
		}); n != 0 || d.Finish() != nil {
			t.Errorf("order %d: %v allocations to decode, %v", order, n, d.Finish())
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, order := range []cdr.Order{cdr.LittleEndian, cdr.BigEndian} {
		data, err := cdr.Append(nil, order, big())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again every
		if err := cdr.Unmarshal(data, &m); err != nil {
			return
		}
		order := cdr.LittleEndian
		if data[1] == 0 {
			order = cdr.BigEndian
		}
		out, err := cdr.Append(nil, order, &m)
		if err != nil {
			t.Fatal(err)
		}
		if err := cdr.Unmarshal(out, &again); err != nil {
			t.Fatal(err)
		}
		second, err := cdr.Append(nil, order, &again)
		if err != nil || string(second) != string(out) {
			t.Fatalf("%v\n% x\n% x", err, out, second)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	m := big()
	var buf []byte
	for b.Loop() {
		var err error
		if buf, err = cdr.Append(buf[:0], cdr.LittleEndian, m); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecode(b *testing.B) {
	data, _ := cdr.Marshal(big())
	m := big()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := cdr.Unmarshal(data, m); err != nil {
			b.Fatal(err)
		}
	}
}
