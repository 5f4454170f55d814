package dataflash

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"vnd/pkg/bridge/logs/record"
)

// types are the letters of formats: bytes, and how a number is read; texts and arrays have no number.
var types = map[byte]struct {
	size   int
	decode func([]byte) float64
}{
	'a': {64, nil}, 'n': {4, nil}, 'N': {16, nil}, 'Z': {64, nil},
	'b': {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	'B': {1, func(b []byte) float64 { return float64(b[0]) }},
	'M': {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	'g': {2, half},
	'h': {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	'H': {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	'i': {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	'I': {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	'f': {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	'd': {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
	'q': {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }},
	'Q': {8, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }},
	'c': {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) / 100 }},
	'C': {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) / 100 }},
	'e': {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) / 100 }},
	'E': {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) / 100 }},
	'L': {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) / 1e7 }},
}

// format is one kind of message.
type format struct {
	name    string
	letters string
	columns []string
	starts  []int // of each column in the body
	length  int   // with the header
	broken  bool  // its length is known, its columns are not

	fields   []string // columns with numbers
	places   []int    // their starts
	decoders []func([]byte) float64
	instance int // field with the instance, −1 without one
	stamp    int // field with the time, −1 without one
	unit     float64

	at     float64 // time of the row in values, s; NaN without one
	values []float64
	topics [maxInstances]*record.Topic
}

// newFormat is nil where columns, letters and length do not fit together.
func newFormat(name, letters, columns string, length int) *format {
	f := &format{name: name, letters: letters, columns: strings.Split(columns, ","), length: length, instance: -1}
	if columns == "" {
		f.columns = nil
	}
	if len(f.columns) != len(letters) || name == "" {
		return nil
	}
	at := 0
	for i, c := range f.columns {
		t, ok := types[letters[i]]
		if !ok {
			return nil
		}
		f.starts = append(f.starts, at)
		if t.decode != nil {
			f.fields = append(f.fields, c)
			f.places = append(f.places, at)
			f.decoders = append(f.decoders, t.decode)
		}
		at += t.size
	}
	if at+headBytes != length {
		return nil
	}
	f.values = make([]float64, len(f.fields))
	f.unit, f.stamp = 1e-6, slices.Index(f.fields, "TimeUS")
	if f.stamp < 0 {
		f.unit, f.stamp = 1e-3, slices.Index(f.fields, "TimeMS")
	}
	if len(f.fields) > 1 && slices.Contains(instances, f.fields[1]) {
		f.instance = 1 // FMTU says so too, but often after the first rows
	}
	return f
}

// instances are the names of columns behind the time that are one.
var instances = []string{"I", "C", "Inst", "Instance"}

// same reports whether a log describes a message again as before.
func (f *format) same(g *format) bool {
	return f.name == g.name && f.length == g.length && f.letters == g.letters && slices.Equal(f.columns, g.columns)
}

// decode reads the numbers of a body.
func (f *format) decode(body []byte) {
	for i, at := range f.places {
		f.values[i] = f.decoders[i](body[at:])
	}
	f.at = math.NaN()
	if f.stamp >= 0 {
		f.at = f.values[f.stamp] * f.unit
	}
}

// mark says which column is the instance.
func (f *format) mark(column int) {
	f.instance = -1
	if column >= 0 && column < len(f.columns) {
		f.instance = slices.Index(f.fields, f.columns[column])
	}
}

// text is a column of letters.
func (f *format) text(body []byte, column string) (string, bool) {
	i := slices.Index(f.columns, column)
	if i < 0 || types[f.letters[i]].decode != nil {
		return "", false
	}
	return text(body[f.starts[i] : f.starts[i]+types[f.letters[i]].size]), true
}

// number is a column with a number.
func (f *format) number(body []byte, column string) (float64, bool) {
	i := slices.Index(f.columns, column)
	if i < 0 || types[f.letters[i]].decode == nil {
		return 0, false
	}
	return types[f.letters[i]].decode(body[f.starts[i]:]), true
}
