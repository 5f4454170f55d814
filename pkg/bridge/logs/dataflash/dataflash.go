// Package dataflash reads the binary logs of ArduPilot, front to back: messages of a fixed length that the log itself
// describes (FMT), with their multipliers and instances (FMTU).
package dataflash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"vnd/pkg/bridge/logs/record"
)

// Magic are the first bytes of a log: the marker of a message and the kind of one that describes others.
var Magic = []byte{0xA3, 0x95, 0x80}

const (
	describes    = 0x80
	headBytes    = 3
	formatBytes  = 89
	maxInstances = 32
)

// Reader streams the rows of the wanted topics.
type Reader struct {
	in      *record.Input
	want    func(topic string) bool
	about   *record.About
	formats [256]*format
	rows    [256]int
	texts   int
}

// NewReader reads a log that errors call name. want says of which topics rows are returned; nil is all.
func NewReader(name string, r io.Reader, want func(topic string) bool) (*Reader, error) {
	d := &Reader{in: record.NewInput(name, r), want: want, about: record.NewAbout()}
	head, err := d.in.Ahead(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix(head, Magic) {
		return nil, d.in.Errorf(0, "no DataFlash log, expected the bytes a3 95 80")
	}
	d.formats[describes] = newFormat("FMT", "BBnNZ", "Type,Length,Name,Format,Columns", formatBytes)
	return d, nil
}

// About implements record.Reader.
func (d *Reader) About() *record.About {
	clear(d.about.Topics)
	for kind, f := range d.formats {
		if f != nil && d.rows[kind] > 0 {
			d.about.Topics[f.name] += d.rows[kind]
		}
	}
	return d.about
}

// Next implements record.Reader.
func (d *Reader) Next() (record.Record, error) {
	for {
		ahead, err := d.in.Ahead(256)
		if len(ahead) == 0 {
			return record.Record{}, err
		}
		if len(ahead) < headBytes {
			d.damaged(len(ahead), "ends within a message")
			continue
		}
		if ahead[0] != Magic[0] || ahead[1] != Magic[1] {
			d.damaged(1, "damaged: no message where one is expected")
			continue
		}
		kind := ahead[2]
		f := d.formats[kind]
		switch {
		case f == nil:
			d.damaged(1, "a message that was not described")
			continue
		case f.length > len(ahead):
			d.damaged(len(ahead), "ends within a message")
			continue
		}
		body := ahead[headBytes:f.length]
		if kind == describes {
			d.describe(body)
		}
		d.rows[kind]++
		d.special(f, body)
		topic, ok := d.row(f, body)
		d.in.Skip(f.length)
		if ok {
			return record.Record{Topic: topic, T: f.at, Values: f.values}, nil
		}
	}
}

// damaged passes n bytes that are no message. Whole zeros at the end of a page are none of these.
func (d *Reader) damaged(n int, text string) {
	d.about.Faults.Add(d.in.Offset(), text)
	d.in.Skip(n)
}

// row decodes a message of a wanted topic.
func (d *Reader) row(f *format, body []byte) (*record.Topic, bool) {
	if f.broken || d.want != nil && !d.want(f.name) {
		return nil, false
	}
	f.decode(body)
	number := 0.0
	if f.instance >= 0 {
		number = f.values[f.instance]
	}
	instance := int(number)
	if !(number >= 0 && number < maxInstances) { // NaN, too
		d.about.Faults.Add(d.in.Offset(), "an instance beyond 31")
		return nil, false
	}
	if f.topics[instance] == nil {
		f.topics[instance] = &record.Topic{Name: f.name, Instance: instance, Fields: f.fields}
	}
	return f.topics[instance], true
}

// describe takes in the format of a kind of message.
func (d *Reader) describe(body []byte) {
	kind, length := body[0], int(body[1])
	if kind == describes {
		return
	}
	name := text(body[2:6])
	f := newFormat(name, text(body[6:22]), text(body[22:86]), length)
	if f == nil {
		d.about.Faults.Add(d.in.Offset(), fmt.Sprintf("the format of %.4q does not fit its length", name))
		f = &format{name: name, length: max(length, headBytes), broken: true}
	}
	if old := d.formats[kind]; old != nil && old.same(f) {
		return
	}
	d.formats[kind] = f
}

// special takes in parameters, texts and which field is the instance.
func (d *Reader) special(f *format, body []byte) {
	switch f.name {
	case "PARM":
		name, ok := f.text(body, "Name")
		if value, ok2 := f.number(body, "Value"); ok && ok2 {
			if _, known := d.about.Parameters[name]; !known {
				d.about.SetParameter(name, value)
			}
		}
	case "MSG":
		if message, ok := f.text(body, "Message"); ok && d.texts < 16 {
			d.about.SetInfo(fmt.Sprintf("message %d", d.texts), message)
			d.texts++
		}
	case "FMTU":
		kind, ok := f.number(body, "FmtType")
		units, ok2 := f.text(body, "UnitIds")
		if !ok || !ok2 || !(kind >= 0 && kind <= 255) { // NaN, too
			return
		}
		if g := d.formats[int(kind)]; g != nil && !g.broken {
			g.mark(strings.IndexByte(units, '#'))
		}
	}
}

// text is what stands before the first zero.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// half is a number of 16 bits: a sign, 5 bits of exponent, 10 of mantissa.
func half(b []byte) float64 {
	x := binary.LittleEndian.Uint16(b)
	exponent, mantissa := int(x>>10&0x1F), float64(x&0x3FF)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(mantissa, -24)
	case 31:
		v = math.Inf(1)
		if mantissa != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(mantissa+1024, exponent-25)
	}
	if x&0x8000 != 0 {
		v = -v
	}
	return v
}
