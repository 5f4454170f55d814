package cdr_test

import (
	"strings"

	"pgregory.net/rapid"

	"vnd/pkg/ros2/cdr"
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
