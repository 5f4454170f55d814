// Package ulog reads the logs of PX4, front to back: ULog, version 1, as PX4's "ULog File Format" has it.
package ulog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"

	"vnd/pkg/bridge/logs/record"
)

// Magic are the first bytes of a ULog; the version follows.
var Magic = []byte("ULog\x01\x12\x35")

// syncMarker stands in the log now and then, for readers to find their place again.
var syncMarker = []byte{0x2F, 0x73, 0x13, 0x20, 0x25, 0x0C, 0xBB, 0x12}

const (
	headerBytes  = 16
	messageBytes = 3 // size and type before every message
	definitions  = 1 << 24
)

// Reader streams the rows of the wanted topics.
type Reader struct {
	in      *record.Input
	want    func(topic string) bool
	about   *record.About
	formats map[string]string // fields of each type, as the log has them
	defined int               // bytes of formats and subscriptions
	topics  []*topic          // by their numbers
	all     []*topic          // those of before too
	last    *topic            // of the row that was returned last
	parts   []int64           // offsets at which appended data begins
	started bool
	lost    bool // inside damage, until the next sync marker
}

// NewReader reads a ULog that errors call name. want says of which topics rows are returned; nil is all.
func NewReader(name string, r io.Reader, want func(topic string) bool) (*Reader, error) {
	u := &Reader{in: record.NewInput(name, r), want: want, about: record.NewAbout(), formats: map[string]string{}}
	head, err := u.in.Ahead(headerBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) < headerBytes || !bytes.HasPrefix(head, Magic) {
		return nil, u.in.Errorf(0, "no header of a ULog, expected ULog and its version")
	}
	if head[len(Magic)] > 1 {
		return nil, u.in.Errorf(int64(len(Magic)), "ULog version %d, expected 0 or 1", head[len(Magic)])
	}
	u.in.Skip(headerBytes)
	return u, nil
}

// About implements record.Reader.
func (u *Reader) About() *record.About {
	clear(u.about.Topics)
	for _, t := range u.all {
		u.about.Topics[t.Name] += t.rows
	}
	return u.about
}

// Next implements record.Reader.
func (u *Reader) Next() (record.Record, error) {
	for {
		u.pass()
		body, kind, err := u.message()
		if err != nil {
			return record.Record{}, err
		}
		if kind == 'D' {
			if r, ok := u.row(body); ok {
				u.in.Skip(messageBytes + len(body))
				return r, nil
			}
		} else if err := u.other(kind, body); err != nil {
			return record.Record{}, err
		}
		u.in.Skip(messageBytes + len(body))
	}
}

// pass takes a log past the rows of unwanted topics, most of it, as far as it is buffered and nothing is amiss.
func (u *Reader) pass() {
	if u.lost || len(u.parts) > 0 {
		return
	}
	b, _ := u.in.Ahead(0)
	at := 0
	for at+messageBytes+2 <= len(b) && b[at+2] == 'D' {
		size := int(binary.LittleEndian.Uint16(b[at:]))
		t := u.topic(b[at+messageBytes:])
		if t == nil || t.wanted || size-2 < t.bytes || at+messageBytes+size > len(b) {
			break
		}
		t.rows++
		at += messageBytes + size
	}
	u.in.Skip(at)
}

// topic is that of a number, nil where none was announced.
func (u *Reader) topic(number []byte) *topic {
	if i := int(binary.LittleEndian.Uint16(number)); i < len(u.topics) {
		return u.topics[i]
	}
	return nil
}

// message returns the next message without passing it, and passes what is no message.
func (u *Reader) message() (body []byte, kind byte, err error) {
	for {
		if u.lost {
			if err := u.resume(); err != nil {
				return nil, 0, err
			}
		}
		head, err := u.in.Ahead(messageBytes)
		if len(head) < messageBytes {
			return nil, 0, u.end(len(head), err)
		}
		size := int(binary.LittleEndian.Uint16(head))
		kind = head[2]
		if u.cut(size) {
			continue
		}
		if size == 0 || kind < 'A' || kind > 'Z' {
			u.about.Faults.Add(u.in.Offset(), "damaged: no message where one is expected")
			u.lost = true
			continue
		}
		whole, err := u.in.Ahead(messageBytes + size)
		if len(whole) < messageBytes+size {
			return nil, 0, u.end(len(whole), err)
		}
		return whole[messageBytes : messageBytes+size], kind, nil
	}
}

// end is io.EOF; a message that is cut off is a fault, for power goes off in the middle of one.
func (u *Reader) end(left int, err error) error {
	if errors.Is(err, io.EOF) && left > 0 {
		u.about.Faults.Add(u.in.Offset(), "ends within a message")
		u.in.Skip(left)
	}
	return err
}

// cut passes the rest of a part of the file where the next part begins within this message.
func (u *Reader) cut(size int) bool {
	for len(u.parts) > 0 && u.parts[0] <= u.in.Offset() {
		u.parts = u.parts[1:]
	}
	if len(u.parts) == 0 || u.in.Offset()+messageBytes+int64(size) <= u.parts[0] {
		return false
	}
	u.in.Skip(int(u.parts[0] - u.in.Offset()))
	return true
}

// resume passes all bytes to behind the next sync marker.
func (u *Reader) resume() error {
	for {
		b, err := u.in.Ahead(len(syncMarker))
		if i := bytes.Index(b, syncMarker); i >= 0 {
			u.in.Skip(i + len(syncMarker))
			u.lost = false
			return nil
		}
		if err != nil {
			u.in.Skip(len(b))
			return err
		}
		u.in.Skip(len(b) - len(syncMarker) + 1)
	}
}

// row decodes a data message of a wanted topic.
func (u *Reader) row(body []byte) (record.Record, bool) {
	if len(body) < 2 {
		u.about.Faults.Add(u.in.Offset(), "a data message without a topic")
		return record.Record{}, false
	}
	t := u.topic(body)
	switch {
	case t == nil:
		u.about.Faults.Add(u.in.Offset(), "data of a topic that was not announced")
		return record.Record{}, false
	case len(body)-2 < t.bytes:
		u.about.Faults.Add(u.in.Offset(), "a row shorter than its format")
		return record.Record{}, false
	}
	t.rows++
	if !t.wanted {
		return record.Record{}, false
	}
	t.decode(body[2:])
	u.last = t
	return record.Record{Topic: &t.Topic, T: t.time(body[2:]), Values: t.values}, true
}

// other takes in a message that is no data.
func (u *Reader) other(kind byte, body []byte) error {
	at := u.in.Offset()
	first := !u.started
	u.started = true
	switch kind {
	case 'B':
		if first {
			return u.flags(body)
		}
	case 'F':
		return u.format(string(body))
	case 'A':
		return u.subscribe(body)
	case 'R':
		if len(body) >= 2 && u.topic(body) != nil {
			u.topics[binary.LittleEndian.Uint16(body)] = nil
		}
	case 'I', 'P':
		u.keyed(kind, body)
	case 'O':
		u.about.Faults.Add(at, "the logger dropped rows")
	}
	return nil // texts, defaults and kinds of later versions carry no rows
}

// flags refuses what this reader does not know, and takes the offsets of appended data.
func (u *Reader) flags(body []byte) error {
	if len(body) < 40 {
		return u.in.Errorf(u.in.Offset(), "%d bytes of flags, expected 40", len(body))
	}
	for i, b := range body[8:16] {
		if i == 0 {
			b &^= 1 // data is appended
		}
		if b != 0 {
			return u.in.Errorf(u.in.Offset(), "incompatible flag %d.%#x, expected none but 0.0x1", i, b)
		}
	}
	if body[8]&1 != 0 {
		for i := range 3 {
			offset := binary.LittleEndian.Uint64(body[16+8*i:])
			if offset != 0 && offset < math.MaxInt64 {
				u.parts = append(u.parts, int64(offset))
			}
		}
	}
	return nil
}

// keyed takes a text or a parameter: the length of the key, "type name", the value.
func (u *Reader) keyed(kind byte, body []byte) {
	n := int(body[0]) + 1
	if n > len(body) {
		u.about.Faults.Add(u.in.Offset(), "a key longer than its message")
		return
	}
	key, value := string(body[1:n]), body[n:]
	of, name, ok := strings.Cut(key, " ")
	switch {
	case !ok:
		u.about.Faults.Add(u.in.Offset(), "a key without a type")
	case strings.HasPrefix(of, "char["):
		if kind == 'I' {
			u.about.SetInfo(name, string(value))
		}
	case kind == 'P' && of == "float" && len(value) >= 4:
		u.about.SetParameter(name, float64(math.Float32frombits(binary.LittleEndian.Uint32(value))))
	case kind == 'P' && of == "int32_t" && len(value) >= 4:
		u.about.SetParameter(name, float64(int32(binary.LittleEndian.Uint32(value))))
	}
}
