package cdr_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vnd/pkg/cdr"
)

// every holds one field of each kind that a .msg file can have, in an order that needs padding.
type every struct {
	Bool   bool
	U16    uint16
	I8     int8
	U32    uint32
	U8     uint8
	F64    float64
	I16    int16
	I64    int64
	Str    string
	F32    float32
	WStr   string
	U64    uint64
	I32    int32
	Short  string // string<=5
	WShort string // wstring<=3
	Bools  []bool
	Bytes  []uint8
	I8s    [3]int8
	U16s   []uint16
	I16s   []int16
	U32s   []uint32 // <=4
	I32s   []int32
	U64s   []uint64
	I64s   [2]int64
	F32s   []float32
	F64s   []float64
	Names  []string
	Nested []point
}

type point struct{ X, Y float64 }

func (*every) TypeName() string { return "test/msg/Every" }

func (m *every) MarshalCDR(e *cdr.Encoder) {
	e.Bool(m.Bool)
	e.Uint16(m.U16)
	e.Int8(m.I8)
	e.Uint32(m.U32)
	e.Uint8(m.U8)
	e.Float64(m.F64)
	e.Int16(m.I16)
	e.Int64(m.I64)
	e.String(m.Str, 0, "test/msg/Every.str")
	e.Float32(m.F32)
	e.WString(m.WStr, 0, "test/msg/Every.wstr")
	e.Uint64(m.U64)
	e.Int32(m.I32)
	e.String(m.Short, 5, "test/msg/Every.short")
	e.WString(m.WShort, 3, "test/msg/Every.wshort")
	cdr.EncodeSeq(e, m.Bools, 0, "test/msg/Every.bools")
	cdr.EncodeSeq(e, m.Bytes, 0, "test/msg/Every.bytes")
	cdr.EncodeArray(e, m.I8s[:])
	cdr.EncodeSeq(e, m.U16s, 0, "test/msg/Every.u16s")
	cdr.EncodeSeq(e, m.I16s, 0, "test/msg/Every.i16s")
	cdr.EncodeSeq(e, m.U32s, 4, "test/msg/Every.u32s")
	cdr.EncodeSeq(e, m.I32s, 0, "test/msg/Every.i32s")
	cdr.EncodeSeq(e, m.U64s, 0, "test/msg/Every.u64s")
	cdr.EncodeArray(e, m.I64s[:])
	cdr.EncodeSeq(e, m.F32s, 0, "test/msg/Every.f32s")
	cdr.EncodeSeq(e, m.F64s, 0, "test/msg/Every.f64s")
	e.Len(len(m.Names), 0, "test/msg/Every.names")
	for i := range m.Names {
		e.String(m.Names[i], 0, "test/msg/Every.names")
	}
	e.Len(len(m.Nested), 0, "test/msg/Every.nested")
	for i := range m.Nested {
		e.Float64(m.Nested[i].X)
		e.Float64(m.Nested[i].Y)
	}
}

func (m *every) UnmarshalCDR(d *cdr.Decoder) {
	m.Bool = d.Bool("test/msg/Every.bool")
	m.U16 = d.Uint16("test/msg/Every.u16")
	m.I8 = d.Int8("test/msg/Every.i8")
	m.U32 = d.Uint32("test/msg/Every.u32")
	m.U8 = d.Uint8("test/msg/Every.u8")
	m.F64 = d.Float64("test/msg/Every.f64")
	m.I16 = d.Int16("test/msg/Every.i16")
	m.I64 = d.Int64("test/msg/Every.i64")
	d.String(&m.Str, 0, "test/msg/Every.str")
	m.F32 = d.Float32("test/msg/Every.f32")
	d.WString(&m.WStr, 0, "test/msg/Every.wstr")
	m.U64 = d.Uint64("test/msg/Every.u64")
	m.I32 = d.Int32("test/msg/Every.i32")
	d.String(&m.Short, 5, "test/msg/Every.short")
	d.WString(&m.WShort, 3, "test/msg/Every.wshort")
	cdr.DecodeSeq(d, &m.Bools, 0, "test/msg/Every.bools")
	cdr.DecodeSeq(d, &m.Bytes, 0, "test/msg/Every.bytes")
	cdr.DecodeArray(d, m.I8s[:], "test/msg/Every.i8s")
	cdr.DecodeSeq(d, &m.U16s, 0, "test/msg/Every.u16s")
	cdr.DecodeSeq(d, &m.I16s, 0, "test/msg/Every.i16s")
	cdr.DecodeSeq(d, &m.U32s, 4, "test/msg/Every.u32s")
	cdr.DecodeSeq(d, &m.I32s, 0, "test/msg/Every.i32s")
	cdr.DecodeSeq(d, &m.U64s, 0, "test/msg/Every.u64s")
	cdr.DecodeArray(d, m.I64s[:], "test/msg/Every.i64s")
	cdr.DecodeSeq(d, &m.F32s, 0, "test/msg/Every.f32s")
	cdr.DecodeSeq(d, &m.F64s, 0, "test/msg/Every.f64s")
	m.Names = cdr.Resize(m.Names, d.Len(0, 4, "test/msg/Every.names"))
	for i := range m.Names {
		d.String(&m.Names[i], 0, "test/msg/Every.names")
	}
	m.Nested = cdr.Resize(m.Nested, d.Len(0, 16, "test/msg/Every.nested"))
	for i := range m.Nested {
		m.Nested[i].X = d.Float64("test/msg/Every.nested.x")
		m.Nested[i].Y = d.Float64("test/msg/Every.nested.y")
	}
}

func genEvery() *rapid.Generator[*every] {
	text := rapid.String()
	return rapid.Custom(func(t *rapid.T) *every {
		m := &every{
			Bool:   rapid.Bool().Draw(t, "bool"),
			U16:    rapid.Uint16().Draw(t, "u16"),
			I8:     rapid.Int8().Draw(t, "i8"),
			U32:    rapid.Uint32().Draw(t, "u32"),
			U8:     rapid.Uint8().Draw(t, "u8"),
			F64:    rapid.Float64().Draw(t, "f64"),
			I16:    rapid.Int16().Draw(t, "i16"),
			I64:    rapid.Int64().Draw(t, "i64"),
			Str:    text.Draw(t, "str"),
			F32:    rapid.Float32().Draw(t, "f32"),
			WStr:   strings.ToValidUTF8(text.Draw(t, "wstr"), "?"),
			U64:    rapid.Uint64().Draw(t, "u64"),
			I32:    rapid.Int32().Draw(t, "i32"),
			Short:  rapid.StringN(0, -1, 5).Draw(t, "short"),
			WShort: rapid.SampledFrom([]string{"", "a", "é", "漢字", "𝛚b"}).Draw(t, "wshort"),
			Bools:  rapid.SliceOf(rapid.Bool()).Draw(t, "bools"),
			Bytes:  rapid.SliceOf(rapid.Uint8()).Draw(t, "bytes"),
			U16s:   rapid.SliceOf(rapid.Uint16()).Draw(t, "u16s"),
			I16s:   rapid.SliceOf(rapid.Int16()).Draw(t, "i16s"),
			U32s:   rapid.SliceOfN(rapid.Uint32(), 0, 4).Draw(t, "u32s"),
			I32s:   rapid.SliceOf(rapid.Int32()).Draw(t, "i32s"),
			U64s:   rapid.SliceOf(rapid.Uint64()).Draw(t, "u64s"),
			F32s:   rapid.SliceOf(rapid.Float32()).Draw(t, "f32s"),
			F64s:   rapid.SliceOf(rapid.Float64()).Draw(t, "f64s"),
			Names:  rapid.SliceOf(text).Draw(t, "names"),
		}
		for i := range m.I8s {
			m.I8s[i] = rapid.Int8().Draw(t, "i8s")
		}
		for i := range m.I64s {
			m.I64s[i] = rapid.Int64().Draw(t, "i64s")
		}
		for range rapid.IntRange(0, 3).Draw(t, "points") {
			m.Nested = append(m.Nested, point{rapid.Float64().Draw(t, "x"), rapid.Float64().Draw(t, "y")})
		}
		return m
	})
}

var emptyIsNil = cmp.FilterValues(func(a, b any) bool { return isEmpty(a) && isEmpty(b) }, cmp.Ignore())

func isEmpty(v any) bool {
	switch s := v.(type) {
	case []bool:
		return len(s) == 0
	case []uint8:
		return len(s) == 0
	case []uint16:
		return len(s) == 0
	case []int16:
		return len(s) == 0
	case []uint32:
		return len(s) == 0
	case []int32:
		return len(s) == 0
	case []uint64:
		return len(s) == 0
	case []float32:
		return len(s) == 0
	case []float64:
		return len(s) == 0
	case []string:
		return len(s) == 0
	case []point:
		return len(s) == 0
	}
	return false
}

func TestRoundTrip(t *testing.T) {
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
		if diff := cmp.Diff(want, got, emptyIsNil); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, len(data)-len(prefix)-1).Draw(t, "cut")
		if err := cdr.Unmarshal(data[len(prefix):len(prefix)+cut], got); err == nil {
			t.Fatalf("%d of %d bytes decoded without an error", cut, len(data)-len(prefix))
		}
	})
}

// The layout rules of the package comment, each laid out by hand.
func TestLayout(t *testing.T) {
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
		e.Reset(nil, c.order)
		c.write()
		got, err := e.Bytes()
		if err != nil || string(got) != c.want {
			t.Errorf("%s: % x, %v; want % x", c.name, got, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	str := func(n string, body string) string { return "\x00\x01\x00\x00" + n + "\x00\x00\x00" + body }
	decode := map[string]struct {
		data string
		read func(*cdr.Decoder)
		want string
	}{
		"no header":       {"\x00\x01", nil, "2 bytes, expected an encapsulation header of 4"},
		"XCDR2":           {"\x00\x07\x00\x00", nil, "encapsulation 0x0007 (CDR2_LE), expected CDR_BE 0x0000 or CDR_LE 0x0001"},
		"unknown":         {"\xab\x07\x00\x00", nil, "encapsulation 0xab07 (unknown)"},
		"cut primitive":   {str("\x00", ""), func(d *cdr.Decoder) { d.Float64("p/msg/T.x") }, "p/msg/T.x: expected 8 more bytes at byte 4, the data ends at 8"},
		"string too long": {str("\x09", "abc\x00"), func(d *cdr.Decoder) { d.String(new(string), 0, "p/msg/T.s") }, "p/msg/T.s: string of 9 bytes at byte 8, 4 remain"},
		"string no NUL":   {str("\x03", "abc"), func(d *cdr.Decoder) { d.String(new(string), 0, "p/msg/T.s") }, "p/msg/T.s: string of 3 bytes at byte 8, expected NUL as its last"},
		"string bound":    {str("\x04", "abc\x00"), func(d *cdr.Decoder) { d.String(new(string), 2, "p/msg/T.s") }, "p/msg/T.s: string of 3 bytes at byte 8, expected at most 2"},
		"sequence count":  {"\x00\x01\x00\x00\xff\xff\xff\xff", func(d *cdr.Decoder) { var s []float64; cdr.DecodeSeq(d, &s, 0, "p/msg/T.s") }, "p/msg/T.s: sequence of 4294967295 elements of at least 8 bytes at byte 8, 0 bytes remain"},
		"sequence bound":  {str("\x03", "abc"), func(d *cdr.Decoder) { var s []uint8; cdr.DecodeSeq(d, &s, 2, "p/msg/T.s") }, "p/msg/T.s: sequence of 3 elements at byte 4, expected at most 2"},
		"boolean":         {"\x00\x01\x00\x00\x02", func(d *cdr.Decoder) { d.Bool("p/msg/T.b") }, "p/msg/T.b: octet 2 at byte 4, expected a boolean 0 or 1"},
		"boolean array":   {"\x00\x01\x00\x00\x01\x02", func(d *cdr.Decoder) { cdr.DecodeArray(d, make([]bool, 2), "p/msg/T.b") }, "p/msg/T.b: octet 2 at byte 5, expected a boolean 0 or 1"},
		"code unit":       {str("\x01", "\x00\x00\x01\x00"), func(d *cdr.Decoder) { d.WString(new(string), 0, "p/msg/T.w") }, "p/msg/T.w: 0x10000 at byte 8, expected a UTF-16 code unit"},
		"left over":       {str("\x01", "\x00\x00\x00\x00\x00"), func(d *cdr.Decoder) { d.Uint32("p/msg/T.n") }, "5 bytes left after the last field, expected at most 3 of padding: the sender's definition differs"},
	}
	for name, c := range decode {
		var d cdr.Decoder
		d.Reset([]byte(c.data))
		if c.read != nil {
			c.read(&d)
		}
		err := d.Finish()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
	for want, m := range map[string]*every{
		"test/msg/Every: test/msg/Every.short: string of 6 bytes, expected at most 5":               {Short: "123456"},
		"test/msg/Every: test/msg/Every.wshort: wstring of 4 UTF-16 code units, expected at most 3": {WShort: "𝛚𝛚"},
		"test/msg/Every: test/msg/Every.u32s: sequence of 5 elements, expected at most 4":           {U32s: make([]uint32, 5)},
	} {
		out, err := cdr.Append([]byte("before"), cdr.LittleEndian, m)
		if err == nil || err.Error() != want || string(out) != "before" {
			t.Errorf("%q, %v; expected %q", out, err, want)
		}
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
		U16s: make([]uint16, 5), I16s: make([]int16, 5), U32s: make([]uint32, 4), I32s: make([]int32, 4), U64s: make([]uint64, 4),
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
