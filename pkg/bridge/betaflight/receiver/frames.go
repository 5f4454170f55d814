// Package receiver is what radio receivers send to a flight controller: CRSF and SBUS frames of sixteen channels.
package receiver

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/bridge/betaflight/msp"
)

// Channels of a frame.
const Channels = 16

// Ticks are channels as they go over the wire, 0 … 2047.
type Ticks [Channels]uint16

const (
	tickBits   = 11
	maxTick    = 1<<tickBits - 1
	packedSize = Channels * tickBits / 8
)

// pack adds eleven bits of each channel, the lowest first.
func (t *Ticks) pack(to []byte) []byte {
	bits, n := uint32(0), 0
	for _, x := range t {
		bits |= uint32(min(x, maxTick)) << n
		for n += tickBits; n >= 8; n -= 8 {
			to = append(to, byte(bits))
			bits >>= 8
		}
	}
	return to
}

// unpack is the inverse of pack.
func unpack(packed []byte) (t Ticks) {
	bits, n, next := uint32(0), 0, 0
	for i := range t {
		for ; n < tickBits; n += 8 {
			bits |= uint32(packed[next]) << n
			next++
		}
		t[i] = uint16(bits & maxTick)
		bits >>= tickBits
		n -= tickBits
	}
	return t
}

// Scale is what a tick is worth in a protocol: µs of a servo's pulse = Zero + Step·tick.
type Scale struct{ Zero, Step float64 }

// Scales, as Betaflight reads them.
var (
	CRSF = Scale{Zero: 881, Step: 0.62477120195241}
	SBUS = Scale{Zero: 880, Step: 0.625}
)

// Micros is the pulse of a tick, µs.
func (s Scale) Micros(tick uint16) float64 { return s.Zero + s.Step*float64(tick) }

// Tick is the one next to a pulse in µs, within a frame's range.
func (s Scale) Tick(us float64) uint16 {
	return uint16(max(0, min(maxTick, math.Round((us-s.Zero)/s.Step))))
}

// Dither rounds pulses to ticks and carries what is left over into the next frame, so that the mean is exact.
type Dither struct{ left [Channels]float64 }

// Round returns the ticks of pulses, µs.
func (d *Dither) Round(s Scale, us *[Channels]float64) (t Ticks) {
	for i, x := range us {
		t[i] = s.Tick(x + d.left[i])
		d.left[i] = max(-s.Step, min(s.Step, x+d.left[i]-s.Micros(t[i])))
	}
	return t
}

// CRSF: an address, a length, a type, a payload, a checksum of type and payload.
const (
	addressBoard  = 0xC8
	typeLink      = 0x14
	typeChannels  = 0x16
	crsfMost      = 64 // bytes of a frame
	crsfLead      = 2  // address and length
	crsfChannels  = crsfLead + 1 + packedSize + 1
	crsfTypeCheck = 2 // bytes that a length counts beside the payload
)

// AppendCRSF adds a frame of channels to a flight controller.
func AppendCRSF(to []byte, t *Ticks) []byte {
	to = append(to, addressBoard, crsfChannels-crsfLead, typeChannels)
	start := len(to) - 1
	to = t.pack(to)
	return append(to, msp.CRC(0, to[start:]))
}

// CRSFFrame is one of any type.
type CRSFFrame struct {
	Address, Type byte
	Payload       []byte
}

// ParseCRSF reads the frame at the head of a stream and its length. An error is of bytes that are none; there are more
// to wait for where n is 0 without one.
func ParseCRSF(b []byte) (f CRSFFrame, n int, err error) {
	if len(b) < crsfLead {
		return f, 0, nil
	}
	n = crsfLead + int(b[1])
	switch {
	case int(b[1]) < crsfTypeCheck || n > crsfMost:
		return f, 0, fmt.Errorf("CRSF frame of %d bytes, expected %d to %d", n, crsfLead+crsfTypeCheck, crsfMost)
	case len(b) < n:
		return f, 0, nil
	case msp.CRC(0, b[crsfLead:n-1]) != b[n-1]:
		return f, 0, errors.New("CRSF frame with another checksum")
	}
	return CRSFFrame{b[0], b[2], b[3 : n-1]}, n, nil
}

// Ticks are a frame's channels, if it has any.
func (f *CRSFFrame) Ticks() (t Ticks, ok bool) {
	if f.Type != typeChannels || len(f.Payload) != packedSize {
		return t, false
	}
	return unpack(f.Payload), true
}

// LinkQuality is the share of frames that came up over the radio, 0 … 1, if the frame tells it.
func (f *CRSFFrame) LinkQuality() (quality float64, ok bool) {
	const size, at = 10, 2
	if f.Type != typeLink || len(f.Payload) != size {
		return 0, false
	}
	return float64(f.Payload[at]) / 100, true
}

// SBUS: a start byte, channels, flags, an end byte. The line is inverted, at 100 kbaud with even parity and two stop
// bits: a matter of the port.
const (
	sbusStart = 0x0F
	// SBUSSize is bytes of a frame.
	SBUSSize     = 1 + packedSize + 2
	flagDropped  = 1 << 2
	flagFailsafe = 1 << 3
)

// SBUSFrame is channels and what the receiver says of its link.
type SBUSFrame struct {
	Ticks
	Dropped  bool // the radio's last frame did not come
	Failsafe bool // the link is lost
}

// AppendSBUS adds a frame.
func AppendSBUS(to []byte, f *SBUSFrame) []byte {
	to = f.pack(append(to, sbusStart))
	flags := byte(0)
	if f.Dropped {
		flags |= flagDropped
	}
	if f.Failsafe {
		flags |= flagFailsafe
	}
	return append(to, flags, 0)
}

// ParseSBUS reads a frame of SBUSSize bytes.
func ParseSBUS(b []byte) (f SBUSFrame, err error) {
	if len(b) != SBUSSize || b[0] != sbusStart {
		return f, fmt.Errorf("%d bytes are no SBUS frame, expected %d that begin with %#x", len(b), SBUSSize, sbusStart)
	}
	flags := b[SBUSSize-2]
	return SBUSFrame{unpack(b[1:]), flags&flagDropped != 0, flags&flagFailsafe != 0}, nil
}
