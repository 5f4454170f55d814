package blackbox

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"vnd/pkg/bridge/logs/record"
)

const (
	maxLine   = 1 << 14
	maxFields = 256
	maxLines  = 4096
)

// definition is the layout of one kind of frame.
type definition struct {
	names     []string
	signed    []int
	predictor []int
	encoding  []int
	time      int // field with a time of its own, −1 without one
	motor0    int
}

// header is what the lines before the first frame say.
type header struct {
	frames           map[byte]*definition
	version          int
	everyI, num, den int64 // an I frame every so many iterations; num of den iterations are logged
	minThrottle      int64
	motorLow         int64
	battery          int64 // reference of the voltage
}

func newHeader() header {
	return header{frames: map[byte]*definition{}, version: 2, everyI: 32, num: 1, den: 1, minThrottle: 1150,
		motorLow: 1150, battery: 4095}
}

// read takes in the lines "H name:value" and checks the frames.
func (h *header) read(in *record.Input, about *record.About, first bool) error {
	start := in.Offset()
	for range maxLines {
		ahead, err := in.Ahead(2)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !bytes.HasPrefix(ahead, []byte("H ")) {
			return h.check(in, start)
		}
		end := bytes.IndexByte(ahead, '\n')
		if end < 0 {
			if ahead, err = in.Ahead(maxLine); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			end = bytes.IndexByte(ahead, '\n')
		}
		if end < 0 || end > maxLine {
			return in.Errorf(in.Offset(), "a header line without an end, expected one within %d bytes", maxLine)
		}
		name, value, ok := strings.Cut(strings.TrimRight(string(ahead[2:end]), "\r"), ":")
		if !ok {
			return in.Errorf(in.Offset(), "a header line without a colon, expected H name:value")
		}
		if err := h.line(in, name, value); err != nil {
			return err
		}
		if first {
			describe(about, name, value)
		}
		in.Skip(end + 1)
	}
	return in.Errorf(in.Offset(), "more than %d header lines", maxLines)
}

// describe keeps a line as a parameter, or as text; of several numbers each is one.
func describe(about *record.About, name, value string) {
	if strings.HasPrefix(name, "Field ") {
		return
	}
	about.SetInfo(name, value)
	if bits, err := strconv.ParseUint(value, 0, 32); err == nil && strings.HasPrefix(value, "0x") {
		about.SetParameter(name, float64(math.Float32frombits(uint32(bits))))
		return
	}
	for i, part := range strings.Split(value, ",") {
		if x, err := strconv.ParseFloat(part, 64); err == nil {
			if i == 0 {
				about.SetParameter(name, x)
			}
			about.SetParameter(name+"["+strconv.Itoa(i)+"]", x)
		}
	}
}

// line takes in what decoding needs.
func (h *header) line(in *record.Input, name, value string) error {
	if field, ok := strings.CutPrefix(name, "Field "); ok {
		return h.field(in, field, value)
	}
	whole := func(fallback int64) int64 {
		text, _, _ := strings.Cut(value, ",")
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fallback
		}
		return n
	}
	switch name {
	case "Data version":
		h.version = int(whole(2))
		if h.version != 1 && h.version != 2 {
			return in.Errorf(in.Offset(), "data version %q, expected 1 or 2", value)
		}
	case "I interval":
		h.everyI = max(1, whole(32))
	case "P interval":
		num, den, ok := strings.Cut(value, "/")
		if !ok {
			num, den = "1", value
		}
		a, err := strconv.ParseUint(num, 10, 16)
		b, err2 := strconv.ParseUint(den, 10, 16)
		if errors.Join(err, err2) != nil || a < 1 || b < a {
			return in.Errorf(in.Offset(), "P interval %q, expected N or N/M", value)
		}
		h.num, h.den = int64(a), int64(b)
	case "minthrottle":
		h.minThrottle = whole(h.minThrottle)
	case "motorOutput":
		h.motorLow = whole(h.motorLow)
	case "vbatref":
		h.battery = whole(h.battery)
	}
	return nil
}

// field takes in "Field I name", "Field P predictor" and so on.
func (h *header) field(in *record.Input, which, value string) error {
	if len(which) < 3 || which[1] != ' ' || !strings.Contains("IPSGH", which[:1]) {
		return nil // of a later version
	}
	d := h.frames[which[0]]
	if d == nil {
		d = &definition{}
		h.frames[which[0]] = d
	}
	parts := strings.Split(value, ",")
	if len(parts) > maxFields {
		return in.Errorf(in.Offset(), "%d fields, at most %d", len(parts), maxFields)
	}
	if which[2:] == "name" {
		d.names = parts
		return nil
	}
	numbers := make([]int, len(parts))
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 1<<16 {
			return in.Errorf(in.Offset(), "%.20q in Field %.20q, expected a number", p, which)
		}
		numbers[i] = n
	}
	switch which[2:] {
	case "signed":
		d.signed = numbers
	case "predictor":
		d.predictor = numbers
	case "encoding":
		d.encoding = numbers
	}
	return nil
}

// check completes the frames and refuses those that cannot be decoded.
func (h *header) check(in *record.Input, start int64) error {
	main := h.frames['I']
	if main == nil || len(main.names) < 2 || main.names[iteration] != "loopIteration" ||
		main.names[timestamp] != "time" {
		return in.Errorf(start, "no main frame, expected a line H Field I name:loopIteration,time,…")
	}
	if p := h.frames['P']; p != nil {
		p.names, p.signed = main.names, main.signed
	}
	for kind, d := range h.frames {
		n := len(d.names)
		if len(d.signed) == 0 {
			d.signed = make([]int, n)
		}
		if n == 0 || len(d.signed) != n || len(d.predictor) != n || len(d.encoding) != n {
			return in.Errorf(start,
				"frame %c has %d names, %d signs, %d predictors, %d encodings, expected as many of each",
				kind, n, len(d.signed), len(d.predictor), len(d.encoding))
		}
		d.time, d.motor0 = -1, -1
		for i, name := range d.names {
			switch name {
			case "time":
				d.time = i
			case "motor[0]":
				d.motor0 = i
			}
		}
		if err := d.check(in, start, kind, h.frames['H']); err != nil {
			return err
		}
	}
	return nil
}

// check refuses encodings and predictors that are not known, and groups that do not fit in.
func (d *definition) check(in *record.Input, start int64, kind byte, home *definition) error {
	for i := 0; i < len(d.encoding); {
		width := 1
		if d.predictor[i] == increment { // it has no number of its own
			i++
			continue
		}
		switch d.encoding[i] {
		case signedVB, unsignedVB, negative14, none:
		case tag8of8:
			for width < 8 && i+width < len(d.encoding) && d.encoding[i+width] == tag8of8 {
				width++
			}
		case tag2of3, tag2of3Variable:
			width = 3
		case tag8of4:
			width = 4
		default:
			return in.Errorf(start, "encoding %d of %c frames, expected 0, 1, 3, 6, 7, 8, 9 or 10", d.encoding[i], kind)
		}
		if i += width; i > len(d.encoding) {
			return in.Errorf(start, "a group of %d at the end of %c frames, which have %d fields", width, kind,
				len(d.names))
		}
	}
	for i, p := range d.predictor {
		switch {
		case p > minMotor || p == motor0 && d.motor0 < 0 || p == homeCoordinate && home == nil:
			return in.Errorf(start, "predictor %d of %c frames cannot be followed", p, kind)
		case p == homeCoordinate && i > 0 && d.predictor[i-1] == homeCoordinate:
			d.predictor[i] = homeCoordinate1
			if len(home.names) < 2 {
				return in.Errorf(start, "one coordinate of home, expected two")
			}
		}
	}
	return nil
}
