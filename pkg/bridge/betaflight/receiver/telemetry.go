package receiver

import (
	"encoding/binary"
	"math"
	"strings"

	"vnd/pkg/bridge/betaflight/msp"
)

// Types of what a flight controller tells over CRSF.
const (
	typeBattery  = 0x08
	typeAttitude = 0x1E
	typeMode     = 0x21
)

// Battery is what a frame tells of the pack, if it does. The number of cells is not told.
func (f *CRSFFrame) Battery() (b msp.Battery, ok bool) {
	const size = 8
	if f.Type != typeBattery || len(f.Payload) != size {
		return b, false
	}
	drawn := uint32(f.Payload[4])<<16 | uint32(binary.BigEndian.Uint16(f.Payload[5:])) // mA h
	return msp.Battery{Voltage: float64(binary.BigEndian.Uint16(f.Payload)) / 10, Drawn: float64(drawn) / 1000,
		Current: float64(int16(binary.BigEndian.Uint16(f.Payload[2:]))) / 10}, true
}

// Attitude is the one that a frame tells, if it does.
func (f *CRSFFrame) Attitude() (a msp.Attitude, ok bool) {
	const size, degrees = 6, 180 / math.Pi / 10000
	if f.Type != typeAttitude || len(f.Payload) != size {
		return a, false
	}
	at := func(i int) float64 { return degrees * float64(int16(binary.BigEndian.Uint16(f.Payload[i:]))) }
	a = msp.Attitude{Roll: at(2), Pitch: at(0), Heading: at(4)}
	if a.Heading < 0 {
		a.Heading += 360
	}
	return a, true
}

// Mode is what a flight controller calls the way it flies.
type Mode struct {
	Name     string // as ACRO or ANGL
	Disarmed bool
	Failsafe bool
}

// Mode is the one that a frame tells, if it does.
func (f *CRSFFrame) Mode() (m Mode, ok bool) {
	text, ended := strings.CutSuffix(string(f.Payload), "\x00")
	if f.Type != typeMode || !ended || text == "" {
		return m, false
	}
	if text == "!FS!" {
		return Mode{Name: text, Failsafe: true}, true
	}
	m.Name = strings.TrimRight(text, "*!?")
	m.Disarmed = m.Name != text
	return m, true
}

// CRSFDecoder finds frames to or of a flight controller in a stream of bytes.
type CRSFDecoder struct {
	pending []byte
	// Damaged counts what began as a frame and was none.
	Damaged uint64
}

// Feed adds bytes and calls take with each frame that they complete; its payload holds until the next call.
func (d *CRSFDecoder) Feed(data []byte, take func(*CRSFFrame)) {
	d.pending = append(d.pending, data...)
	rest := d.pending
	for len(rest) > 0 {
		if rest[0] != addressBoard {
			rest = rest[1:]
			continue
		}
		f, n, err := ParseCRSF(rest)
		if err != nil {
			d.Damaged++
			rest = rest[1:]
			continue
		}
		if n == 0 {
			break
		}
		take(&f)
		rest = rest[n:]
	}
	d.pending = append(d.pending[:0], rest...)
}
