// Package usd reads the logs that a Crazyflie writes to the card of its uSD deck, front to back, versions 1 and 2. A
// topic is an event of the firmware, fixedFrequency among them; its fields are log variables.
package usd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"strings"

	"vnd/pkg/bridge/logs/record"
)

const (
	// Magic is the first byte of a log; the version, 16 bits, follows.
	Magic       = 0xBC
	headBytes   = 5
	maxEvents   = 256
	maxFields   = 64
	maxName     = 128
	checksum    = 4 // bytes at the end
	idAndTime   = 10
	idAndTimeV1 = 6
)

// types are the letters of variables: bytes, and how a number is read.
var types = map[byte]struct {
	size   int
	decode func([]byte) float64
}{
	'b': {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	'B': {1, func(b []byte) float64 { return float64(b[0]) }},
	'h': {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	'H': {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	'i': {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	'I': {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	'f': {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
}

// event is one kind of row.
type event struct {
	record.Topic
	wanted   bool
	rows     int
	bytes    int
	starts   []int
	decoders []func([]byte) float64
	values   []float64
}

// Reader streams the rows of the wanted topics.
type Reader struct {
	in      *record.Input
	want    func(topic string) bool
	about   *record.About
	version int
	events  map[uint16]*event
	sum     hash.Hash32
	ended   bool
}

// Is reports whether a file begins like a log of a version that is known.
func Is(head []byte) bool {
	return len(head) >= headBytes && head[0] == Magic && (head[1] == 1 || head[1] == 2) && head[2] == 0
}

// NewReader reads a log that errors call name. want says of which topics rows are returned; nil is all.
func NewReader(name string, r io.Reader, want func(topic string) bool) (*Reader, error) {
	u := &Reader{in: record.NewInput(name, r), want: want, about: record.NewAbout(), events: map[uint16]*event{},
		sum: crc32.NewIEEE()}
	head, err := u.in.Ahead(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !Is(head) {
		return nil, u.in.Errorf(0, "no log of a uSD deck, expected the byte bc and version 1 or 2")
	}
	u.version = int(head[1])
	n := int(binary.LittleEndian.Uint16(head[3:]))
	if n > maxEvents {
		return nil, u.in.Errorf(3, "%d events, at most %d", n, maxEvents)
	}
	u.pass(head, headBytes)
	for range n {
		if err := u.announce(); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// About implements record.Reader.
func (u *Reader) About() *record.About {
	clear(u.about.Topics)
	for _, e := range u.events {
		u.about.Topics[e.Name] += e.rows
	}
	return u.about
}

// pass counts bytes into the checksum and skips them.
func (u *Reader) pass(ahead []byte, n int) {
	u.sum.Write(ahead[:n])
	u.in.Skip(n)
}

// word passes a name that ends with a zero.
func (u *Reader) word() (string, error) {
	ahead, err := u.in.Ahead(maxName)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	end := bytes.IndexByte(ahead[:min(len(ahead), maxName)], 0)
	if end < 0 {
		return "", u.in.Errorf(u.in.Offset(), "a name without an end, expected one within %d bytes", maxName)
	}
	name := string(ahead[:end])
	u.pass(ahead, end+1)
	return name, nil
}

// number passes 16 bits.
func (u *Reader) number() (uint16, error) {
	ahead, err := u.in.Ahead(2)
	if len(ahead) < 2 {
		if errors.Is(err, io.EOF) {
			err = u.in.Errorf(u.in.Offset(), "the file ends within the list of events")
		}
		return 0, err
	}
	n := binary.LittleEndian.Uint16(ahead)
	u.pass(ahead, 2)
	return n, nil
}

// announce takes in an event: its number, its name, its variables with their types.
func (u *Reader) announce() error {
	id, err := u.number()
	if err != nil {
		return err
	}
	e := &event{}
	if e.Name, err = u.word(); err != nil {
		return err
	}
	at := u.in.Offset()
	n, err := u.number()
	if err != nil {
		return err
	}
	if n > maxFields {
		return u.in.Errorf(at, "%d variables of %.40q, at most %d", n, e.Name, maxFields)
	}
	for range n {
		at = u.in.Offset()
		variable, err := u.word()
		if err != nil {
			return err
		}
		name, ok := strings.CutSuffix(variable, ")")
		k := strings.LastIndexByte(name, '(')
		if !ok || k < 0 || k != len(name)-2 || types[name[k+1]].size == 0 {
			return u.in.Errorf(at, "variable %.40q of %.40q, expected name(type), the type one of bBhHiIf", variable,
				e.Name)
		}
		e.Fields = append(e.Fields, name[:k])
		e.starts = append(e.starts, e.bytes)
		e.decoders = append(e.decoders, types[name[k+1]].decode)
		e.bytes += types[name[k+1]].size
	}
	e.values = make([]float64, n)
	e.wanted = u.want == nil || u.want(e.Name)
	if u.events[id] != nil {
		return u.in.Errorf(at, "event %d twice, as %.40q and %.40q", id, u.events[id].Name, e.Name)
	}
	u.events[id] = e
	return nil
}

// Next implements record.Reader.
func (u *Reader) Next() (record.Record, error) {
	for !u.ended {
		head := idAndTime
		if u.version == 1 {
			head = idAndTimeV1
		}
		ahead, err := u.in.Ahead(head + checksum)
		if len(ahead) < head+checksum {
			return record.Record{}, u.end(ahead, err)
		}
		e := u.events[binary.LittleEndian.Uint16(ahead)]
		if e == nil {
			u.about.Faults.Add(u.in.Offset(), "damaged: an event that was not announced, all behind it is left out")
			break
		}
		if ahead, err = u.in.Ahead(head + e.bytes + checksum); len(ahead) < head+e.bytes+checksum {
			return record.Record{}, u.end(ahead, err)
		}
		e.rows++
		t := float64(binary.LittleEndian.Uint32(ahead[2:])) * 1e-3
		if u.version > 1 {
			t = float64(binary.LittleEndian.Uint64(ahead[2:])) * 1e-6
		}
		for i, start := range e.starts {
			e.values[i] = e.decoders[i](ahead[head+start:])
		}
		u.pass(ahead, head+e.bytes)
		if e.wanted {
			return record.Record{Topic: &e.Topic, T: t, Values: e.values}, nil
		}
	}
	u.ended = true
	return record.Record{}, io.EOF
}

// end checks the sum over all before, the last four bytes.
func (u *Reader) end(ahead []byte, err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	u.ended = true
	if len(ahead) != checksum {
		u.about.Faults.Add(u.in.Offset(), "ends within a row: the card was not written to the end")
	} else if binary.LittleEndian.Uint32(ahead) != u.sum.Sum32() {
		u.about.Faults.Add(u.in.Offset(), "the checksum does not match")
	}
	return io.EOF
}
