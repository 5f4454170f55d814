package ulog

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"vnd/pkg/bridge/logs/record"
)

// basic are the types of fields and their sizes, bytes.
var basic = map[string]struct {
	size   int
	decode func([]byte) float64
}{
	"int8_t":   {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"uint8_t":  {1, func(b []byte) float64 { return float64(b[0]) }},
	"bool":     {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"char":     {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"int16_t":  {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	"uint16_t": {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	"int32_t":  {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	"uint32_t": {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	"int64_t":  {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }},
	"uint64_t": {8, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }},
	"float":    {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	"double":   {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
}

// maxRow is the longest row, bytes: a message's size has 16 bits.
const maxRow = 1<<16 - 1

// topic is one subscription of the log.
type topic struct {
	record.Topic
	wanted bool
	rows   int
	bytes  int // of a row, without what is padded at its end
	stamp  int // offset of the time in a row
	fields []field
	values []float64
}

// field is one that is decoded.
type field struct {
	place, offset int // in values, in a row
	decode        func([]byte) float64
}

func (t *topic) time(row []byte) float64 {
	return float64(binary.LittleEndian.Uint64(row[t.stamp:])) * 1e-6
}

func (t *topic) decode(row []byte) {
	for i := range t.fields {
		f := &t.fields[i]
		t.values[f.place] = f.decode(row[f.offset:])
	}
}

// Narrow implements record.Narrower.
func (u *Reader) Narrow(places []int) {
	t := u.last
	t.fields = slices.DeleteFunc(t.fields, func(f field) bool { return !slices.Contains(places, f.place) })
	t.wanted = len(t.fields) > 0
}

// format keeps "name:type field;type field;…".
func (u *Reader) format(text string) error {
	name, fields, ok := strings.Cut(text, ":")
	if !ok || name == "" {
		return u.in.Errorf(u.in.Offset(), "a format without a name, expected name:type field;…")
	}
	if err := u.define(len(text)); err != nil {
		return err
	}
	u.formats[name] = fields
	return nil
}

// define counts what the log makes this reader keep.
func (u *Reader) define(n int) error {
	if u.defined += n; u.defined > definitions {
		return u.in.Errorf(u.in.Offset(), "more than %d MiB of formats and topics", definitions>>20)
	}
	return nil
}

// subscribe announces a topic: its instance, its number, its name.
func (u *Reader) subscribe(body []byte) error {
	if len(body) < 4 {
		return u.in.Errorf(u.in.Offset(), "a topic of %d bytes, expected instance, number and name", len(body))
	}
	t := &topic{Topic: record.Topic{Name: string(body[3:]), Instance: int(body[0])}}
	t.wanted = u.want == nil || u.want(t.Name)
	f := flattener{u: u, t: t, stamp: -1}
	if err := f.flatten(t.Name, "", 0); err != nil {
		return err
	}
	t.bytes = f.bytes - f.padding
	if f.stamp < 0 {
		return u.in.Errorf(u.in.Offset(), "topic %s has no uint64_t timestamp", short(t.Name))
	}
	if err := u.define(len(body) + 128); err != nil {
		return err
	}
	u.all = append(u.all, t)
	t.stamp = f.stamp
	t.values = make([]float64, len(t.Fields))
	number := int(binary.LittleEndian.Uint16(body[1:]))
	for len(u.topics) <= number {
		u.topics = append(u.topics, nil)
	}
	u.topics[number] = t
	return nil
}

// flattener lists the fields of a type, those of types within it included.
type flattener struct {
	u       *Reader
	t       *topic
	bytes   int
	padding int // bytes at the end that are no fields
	visited int // fields and types within types
	stamp   int // offset of the time, −1 without one
}

const maxDepth = 8 // of types within types

func (f *flattener) flatten(name, prefix string, depth int) error {
	fields, ok := f.u.formats[name]
	if !ok {
		return f.u.in.Errorf(f.u.in.Offset(), "no format of %s", short(name))
	}
	if depth > maxDepth {
		return f.u.in.Errorf(f.u.in.Offset(), "formats nested more than %d deep in %s", maxDepth, short(f.t.Name))
	}
	for field := range strings.SplitSeq(fields, ";") {
		if field == "" {
			continue
		}
		of, label, ok := strings.Cut(field, " ")
		if !ok {
			return f.u.in.Errorf(f.u.in.Offset(), "field %s of %s, expected type and name", short(field), short(name))
		}
		n, array := 1, false
		if inner, size, is := strings.Cut(of, "["); is {
			k, err := strconv.Atoi(strings.TrimSuffix(size, "]"))
			if err != nil || k < 1 || k > maxRow {
				return f.u.in.Errorf(f.u.in.Offset(), "field %s of %s, expected an array of 1 to %d", short(field),
					short(name), maxRow)
			}
			of, n, array = inner, k, true
		}
		for i := range n {
			path := prefix + label
			if array {
				path += "[" + strconv.Itoa(i) + "]"
			}
			if err := f.field(of, path, label, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// field adds one field, or those of the type that it has.
func (f *flattener) field(of, path, label string, depth int) error {
	if f.visited++; f.visited > maxRow {
		return f.u.in.Errorf(f.u.in.Offset(), "topic %s has more than %d fields", short(f.t.Name), maxRow)
	}
	b, ok := basic[of]
	if !ok {
		return f.flatten(of, path+".", depth+1)
	}
	at := f.bytes
	if f.bytes += b.size; f.bytes > maxRow || len(path) > 256 {
		return f.u.in.Errorf(f.u.in.Offset(), "topic %s is longer than a row's %d bytes", short(f.t.Name), maxRow)
	}
	if strings.HasPrefix(label, "_padding") {
		f.padding += b.size
		return nil
	}
	f.padding = 0
	if path == "timestamp" && of == "uint64_t" {
		f.stamp = at
	}
	if f.t.wanted {
		if err := f.u.define(64 + len(path)); err != nil {
			return err
		}
		f.t.fields = append(f.t.fields, field{len(f.t.Fields), at, b.decode})
		f.t.Fields = append(f.t.Fields, path)
	}
	return nil
}

// short keeps an error to one short line whatever the log holds.
func short(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}
