package msggen

import (
	"fmt"
	"math"
)

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
	f.printf("}\n\n// UnmarshalCDR overwrites every field, re-using slices.\n")
	f.printf("func (m *%s) UnmarshalCDR(d *cdr.Decoder) {\n", name)
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
		return fmt.Sprintf("e.%s(%s, %d, %q)", primitives[t.Base].codec, expr, t.StringBound, path)
	default:
		return fmt.Sprintf("e.%s(%s)", primitives[t.Base].codec, expr)
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
