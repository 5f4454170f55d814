package msggen

import (
	"fmt"
	"math"
)

// coding is the Go code for one direction. The formats take expression, size, name and the least size of an
// element on the wire.
type coding struct {
	elem              func(t Type, expr, path string) string
	array, seq, count string
}

var (
	encoding = coding{encodeElem,
		"cdr.EncodeArray(e, %[1]s[:])", "cdr.EncodeSeq(e, %[1]s, %[2]d, %[3]q)", "e.Len(len(%[1]s), %[2]d, %[3]q)"}
	decoding = coding{decodeElem,
		"cdr.DecodeArray(d, %[1]s[:], %[3]q)", "cdr.DecodeSeq(d, &%[1]s, %[2]d, %[3]q)",
		"%[1]s = cdr.Resize(%[1]s, d.Len(%[2]d, %[4]d, %[3]q))"}
)

// codec writes MarshalCDR and UnmarshalCDR.
func (f *file) codec(m *Message) error {
	name := goType(m.Name)
	f.printf("\n// MarshalCDR appends the fields in order.\nfunc (m *%s) MarshalCDR(e *cdr.Encoder) {\n", name)
	if len(m.Fields) == 0 {
		f.printf("\te.Uint8(0) // %s\n", atLeastOneMember.Name)
	}
	f.fields(m, encoding)
	f.printf("}\n\n// UnmarshalCDR overwrites every field, re-using slices.\n")
	f.printf("func (m *%s) UnmarshalCDR(d *cdr.Decoder) {\n", name)
	if len(m.Fields) == 0 {
		f.printf("\td.Uint8(%q)\n", m.Name+"."+atLeastOneMember.Name)
	}
	f.fields(m, decoding)
	f.printf("}\n")
	return nil
}

// fields writes the code of all fields.
func (f *file) fields(m *Message, c coding) {
	for _, field := range m.Fields {
		t, expr, path := field.Type, "m."+GoField(field.Name), m.Name+"."+field.Name
		whole := func(format string) { f.printf("\t"+format+"\n", expr, t.Size, path, f.wireSize(t)) }
		switch {
		case t.Array == Single:
			f.printf("\t%s\n", c.elem(t, expr, path))
			continue
		case isNumeric(t) && t.Array == Fixed:
			whole(c.array)
			continue
		case isNumeric(t):
			whole(c.seq)
			continue
		case t.Array != Fixed:
			whole(c.count)
		}
		f.printf("\tfor i := range %s {\n\t\t%s\n\t}\n", expr, c.elem(t, expr+"[i]", path))
	}
}

func encodeElem(t Type, expr, path string) string {
	switch t.Base {
	case Nested:
		return expr + ".MarshalCDR(e)"
	case String, WString:
		return fmt.Sprintf("e.%s(%s, %d, %q)", primitives[t.Base].codec, expr, t.StringBound, path)
	default:
		return fmt.Sprintf("e.%s(%s)", primitives[t.Base].codec, expr)
	}
}

func decodeElem(t Type, expr, path string) string {
	switch t.Base {
	case Nested:
		return expr + ".UnmarshalCDR(d)"
	case String, WString:
		return fmt.Sprintf("d.%s(&%s, %d, %q)", primitives[t.Base].codec, expr, t.StringBound, path)
	default:
		return fmt.Sprintf("%s = d.%s(%q)", expr, primitives[t.Base].codec, path)
	}
}

// isNumeric reports whether the elements are of a cdr.Primitive type.
func isNumeric(t Type) bool {
	return t.Base != Nested && t.Base != String && t.Base != WString
}

// wireSize is the least size of one element in bytes, without padding.
func (f *file) wireSize(t Type) int {
	if t.Base != Nested {
		return primitives[t.Base].size
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
