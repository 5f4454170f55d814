package msp

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"vnd/pkg/bridge/betaflight/rates"
)

// Commands of a board with Betaflight.
const (
	APIVersion    = 1
	FCVariant     = 2
	Features      = 36
	ModeRanges    = 34
	RXConfig      = 44
	AttitudeAsked = 108
	ModeIDs       = 119
	RCTuning      = 111
	BatteryState  = 130
	StatusEx      = 150
	SetRawRC      = 200
)

// reader takes numbers out of a payload; short is set where it ends too early.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if len(r.rest) < n {
		r.short, r.rest = true, nil
		return make([]byte, n)
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) u8() uint8   { return r.take(1)[0] }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) i16() int16  { return int16(r.u16()) }

func (r *reader) err(name string) error {
	if r.short {
		return fmt.Errorf("MSP %s: the payload is too short for Betaflight's", name)
	}
	return nil
}

// Version of the API, as 1.47.
type Version struct{ Major, Minor uint8 }

// String is the version as the firmware writes it.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Since reports whether a version is another, or a later one.
func (v Version) Since(o Version) bool {
	return v.Major > o.Major || v.Major == o.Major && v.Minor >= o.Minor
}

// ParseVersion reads the answer to APIVersion.
func ParseVersion(payload []byte) (Version, error) {
	r := reader{rest: payload}
	r.u8() // of the protocol
	return Version{r.u8(), r.u8()}, r.err("API version")
}

// Status is the answer to StatusEx.
type Status struct {
	Modes    uint64 // which of the modes that the board lists are active; the first is arming
	Load     uint16 // of the processor, ‰ or %
	Disabled Flags  // why it does not arm
}

// Armed reports whether the motors may turn: the first mode is arming.
func (s *Status) Armed() bool { return s.Modes&1 != 0 }

// Active reports whether a mode is, by its place in the answer to ModeIDs.
func (s *Status) Active(place int) bool { return s.Modes>>place&1 != 0 }

// ParseStatus reads the answer to StatusEx.
func ParseStatus(payload []byte) (s Status, err error) {
	r := reader{rest: payload}
	r.take(6) // cycle time, I²C errors, sensors
	s.Modes = uint64(r.u32())
	r.u8() // PID profile
	s.Load = r.u16()
	r.take(2) // PID profiles, rates profile
	for i, b := range r.take(int(r.u8() & 0x0f)) {
		s.Modes |= uint64(b) << (32 + 8*i)
	}
	n := r.u8()
	s.Disabled = Flags(r.u32()).of(n)
	return s, r.err("status")
}

// Flags are why a board does not arm.
type Flags uint32

// Flags that decide how a board is armed.
const (
	RunawayTakeoff Flags = 1 << 5 // this and the next stay until the switch for arming is off
	CrashDetected  Flags = 1 << 6
	NoPrearm       Flags = 1 << 10
	ArmSwitch      Flags = 1 << 28 // it was on while another flag was set, and is on
)

// of are the flags of a version that has n: that of the switch is the last one in each.
func (f Flags) of(n uint8) Flags {
	if n == 0 || n > 32 {
		return f
	}
	last := Flags(1) << (n - 1)
	if (f&last != 0) == (f&ArmSwitch != 0) {
		return f
	}
	return f ^ (last | ArmSwitch)
}

// flagNames are those of MSP API 1.47, from the lowest bit on.
var flagNames = [...]string{"no gyroscope", "failsafe", "no signal of a receiver", "not disarmed since the failsafe",
	"failsafe switch", "runaway take-off", "crash detected", "throttle is not low", "not level", "just started",
	"prearm switch is off", "processor is busy", "gyroscope calibrates", "command line is open", "menu is open",
	"black box transfers", "MSP is connected", "paralysed", "no GPS fix", "GPS rescue switch", "no DShot telemetry",
	"restart required", "DShot bitbang fails", "accelerometer is not calibrated", "motor protocol is not set",
	"crash flip switch", "altitude hold switch", "position hold switch",
	"arm switch was on before: switch it off and on"}

// Words are the flags in words.
func (f Flags) Words() (words []string) {
	for ; f != 0; f &= f - 1 {
		if i := bits.TrailingZeros32(uint32(f)); i < len(flagNames) {
			words = append(words, flagNames[i])
		} else {
			words = append(words, fmt.Sprintf("flag %d", i))
		}
	}
	return words
}

// Attitude is the answer to AttitudeAsked, in the firmware's senses: roll to the right, pitch nose down, and the
// heading clockwise from above; °.
type Attitude struct{ Roll, Pitch, Heading float64 }

// ParseAttitude reads the answer to AttitudeAsked.
func ParseAttitude(payload []byte) (Attitude, error) {
	r := reader{rest: payload}
	return Attitude{float64(r.i16()) / 10, float64(r.i16()) / 10, float64(r.i16())}, r.err("attitude")
}

// Battery is the answer to BatteryState.
type Battery struct {
	Cells   uint8   // 0: none is found
	Voltage float64 // V
	Current float64 // A
	Drawn   float64 // A h
}

// ParseBattery reads the answer to BatteryState.
func ParseBattery(payload []byte) (b Battery, err error) {
	r := reader{rest: payload}
	b.Cells = r.u8()
	r.take(3) // capacity, old voltage
	b.Drawn = float64(r.u16()) / 1000
	b.Current = float64(r.i16()) / 100
	r.u8() // state
	b.Voltage = float64(r.u16()) / 100
	return b, r.err("battery state")
}

// Tuning is the answer to RCTuning: the rates profile that flies, and what bends or cuts the throttle.
type Tuning struct {
	rates.Profile
	ThrottleExpo  uint8
	ThrottleLimit bool
}

// ParseTuning reads the answer to RCTuning of API 1.43 and later. It does not say quickrates_rc_expo.
func ParseTuning(payload []byte) (t Tuning, err error) {
	r, a := reader{rest: payload}, &t.Axes
	a[rates.Roll].RCRate, a[rates.Roll].Expo = r.u8(), r.u8()
	for i := range a {
		a[i].SRate = r.u8()
	}
	r.take(2) // TPA of before, the throttle's middle
	t.ThrottleExpo = r.u8()
	r.u16()
	a[rates.Yaw].Expo, a[rates.Yaw].RCRate = r.u8(), r.u8()
	a[rates.Pitch].RCRate, a[rates.Pitch].Expo = r.u8(), r.u8()
	t.ThrottleLimit = r.u8() != 0
	r.u8()
	for i := range a {
		a[i].Limit = r.u16()
	}
	t.Type = rates.Type(r.u8())
	return t, r.err("RC tuning")
}

// Receiver is the answer to RXConfig, µs.
type Receiver struct{ MinCheck, Middle, MaxCheck uint16 }

// ParseReceiver reads the answer to RXConfig.
func ParseReceiver(payload []byte) (c Receiver, err error) {
	r := reader{rest: payload}
	r.u8()
	c.MaxCheck, c.Middle, c.MinCheck = r.u16(), r.u16(), r.u16()
	return c, r.err("RX config")
}

// ModeRange is where a switch puts a mode into force.
type ModeRange struct {
	Mode     uint8  // its permanent number: 0 is arming, 36 prearm, 27 failsafe
	Channel  uint8  // 0 is the first auxiliary channel
	From, To uint16 // µs: it is in force from From on, below To
}

// Modes by their permanent numbers.
const (
	ModeArm      = 0
	ModeFailsafe = 27
	ModePrearm   = 36
	ModeOverride = 50 // by MSP, of the operator's sticks
)

// ParseModeRanges reads the answer to ModeRanges, without what is not used.
func ParseModeRanges(payload []byte) (all []ModeRange) {
	const least, step = 900, 25 // µs
	r := reader{rest: payload}
	for len(r.rest) >= 4 {
		m := ModeRange{Mode: r.u8(), Channel: r.u8()}
		m.From, m.To = least+step*uint16(r.u8()), least+step*uint16(r.u8())
		if m.From < m.To {
			all = append(all, m)
		}
	}
	return all
}

// ParseFeatures tells whether the board takes its sticks over MSP, out of the answer to Features.
func ParseFeatures(payload []byte) (receiver bool, err error) {
	const bit = 1 << 14
	r := reader{rest: payload}
	return r.u32()&bit != 0, r.err("features")
}

// Channels is the payload of SetRawRC, µs.
func Channels(us []uint16) []byte {
	out := make([]byte, 0, 2*len(us))
	for _, x := range us {
		out = binary.LittleEndian.AppendUint16(out, x)
	}
	return out
}
