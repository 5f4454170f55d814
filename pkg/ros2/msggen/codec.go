package msggen

import (
	"fmt"
	"math"
)

// codecMethods are the methods of cdr.Encoder and cdr.Decoder for single primitives.
var codecMethods = map[Base]string{
	Int8: "Int8", Uint8: "Uint8", Byte: "Uint8", Int16: "Int16", Uint16: "Uint16", Int32: "Int32", Uint32: "Uint32",
	Int64: "Int64", Uint64: "Uint64", Float32: "Float32", Float64: "Float64", Bool: "Bool", String: "String", WString: "WString",
}

// wireSizes are the fewest bytes that a base type takes. An empty string may come without its NUL.
var wireSizes = map[Base]int{
	Int8: 1, Uint8: 1, Byte: 1, Bool: 1, Int16: 2, Uint16: 2, Int32: 4, Uint32: 4, Float32: 4,
	Int64: 8, Uint64: 8, Float64: 8, String: 4, WString: 4,
}

// codec writes MarshalCDR and UnmarshalCDR.
func (f *file) codec(m *Message) error {
	name := goType(m.Name)
	f.printf("\n// MarshalCDR appends the fields in order.\nfunc (m *%s) MarshalCDR(e *cdr.Encoder) {\n", name)
	if len(m.Fields) == 0 {
		f.printf("\te.Uint8(0) // %s\n", atLeastOneMember.Name)
	}
	for _, field := range m.Fields {
		f.encode(m, field)
	}
	f.printf("}\n\n// UnmarshalCDR overwrites every field, re-using slices.\nfunc (m *%s) UnmarshalCDR(d *cdr.Decoder) {\n", name)
	if len(m.Fields) == 0 {
		f.printf("\td.Uint8(%q)\n", m.Name+"."+atLeastOneMember.Name)
	}
	for _, field := range m.Fields {
		f.decode(m, field)
	}
	f.printf("}\n")
	return nil
}

func (f *file) encode(m *Message, field Field) {
	t, goName, path := field.Type, GoField(field.Name), m.Name+"."+field.Name
	switch {
	case t.Array == Single:
		f.printf("\t%s\n", encodeElem(t, "m."+goName, path))
		return
	case isNumeric(t) && t.Array == Fixed:
		f.printf("\tcdr.EncodeArray(e, m.%s[:])\n", goName)
		return
	case isNumeric(t):
		f.printf("\tcdr.EncodeSeq(e, m.%s, %d, %q)\n", goName, t.Size, path)
		return
	case t.Array != Fixed:
		f.printf("\te.Len(len(m.%s), %d, %q)\n", goName, t.Size, path)
	}
	f.printf("\tfor i := range m.%s {\n\t\t%s\n\t}\n", goName, encodeElem(t, "m."+goName+"[i]", path))
}

func encodeElem(t Type, expr, path string) string {
	switch t.Base {
	case Nested:
		return expr + ".MarshalCDR(e)"
	case String, WString:
		return fmt.Sprintf("e.%s(%s, %d, %q)", codecMethods[t.Base], expr, t.StringBound, path)
	default:
		return fmt.Sprintf("e.%s(%s)", codecMethods[t.Base], expr)
	}
}

func (f *file) decode(m *Message, field Field) {
	t, goName, path := field.Type, GoField(field.Name), m.Name+"."+field.Name
	switch {
	case t.Array == Single:
		f.printf("\t%s\n", decodeElem(t, "m."+goName, path))
		return
	case isNumeric(t) && t.Array == Fixed:
		f.printf("\tcdr.DecodeArray(d, m.%s[:], %q)\n", goName, path)
		return
	case isNumeric(t):
		f.printf("\tcdr.DecodeSeq(d, &m.%s, %d, %q)\n", goName, t.Size, path)
		return
	case t.Array != Fixed:
		f.printf("\tm.%s = cdr.Resize(m.%s, d.Len(%d, %d, %q))\n", goName, goName, t.Size, f.wireSize(t), path)
	}
	f.printf("\tfor i := range m.%s {\n\t\t%s\n\t}\n", goName, decodeElem(t, "m."+goName+"[i]", path))
}

func decodeElem(t Type, expr, path string) string {
	switch t.Base {
	case Nested:
		return expr + ".UnmarshalCDR(d)"
	case String, WString:
		return fmt.Sprintf("d.%s(&%s, %d, %q)", codecMethods[t.Base], expr, t.StringBound, path)
	default:
		return fmt.Sprintf("%s = d.%s(%q)", expr, codecMethods[t.Base], path)
	}
}

// isNumeric tells whether cdr's generic functions take the type's elements.
func isNumeric(t Type) bool {
	return t.Base != Nested && t.Base != String && t.Base != WString
}

// wireSize is the fewest bytes that one element takes, padding not counted.
func (f *file) wireSize(t Type) int {
	if t.Base != Nested {
		return wireSizes[t.Base]
	}
	total := 0
	for _, field := range f.set.Message(t.Ref).Fields {
		n := 4 // the count of a sequence
		switch field.Type.Array {
		case Single:
			n = f.wireSize(field.Type)
		case Fixed:
			n = field.Type.Size * min(f.wireSize(field.Type), math.MaxInt32)
		}
		total = min(total+n, math.MaxInt32)
	}
	return max(total, 1)
}
