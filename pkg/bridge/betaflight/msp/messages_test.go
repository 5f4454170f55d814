package msp

import (
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"vnd/pkg/bridge/betaflight/rates"
)

// TestAnswersOfTheFirmware reads what Betaflight 4.6.0 answered, whose settings had been written over its command line.
func TestAnswersOfTheFirmware(t *testing.T) {
	for _, c := range []struct {
		name, payload string
		parse         func([]byte) (any, error)
		want          any
	}{
		{"API version", "00012f", func(p []byte) (any, error) { return ParseVersion(p) }, Version{1, 47}},
		{"status", "7d0000002300002000000000000400001d0412000000000004",
			func(p []byte) (any, error) { return ParseStatus(p) },
			Status{Modes: 1 << 13, Disabled: 1<<2 | 1<<9 | 1<<12}},
		{"attitude, rolled by .3, pitched by .2, turned by 1 rad to the right", "ac0073003900",
			func(p []byte) (any, error) { return ParseAttitude(p) }, Attitude{17.2, 11.5, 57}},
		{"battery that is none", "0000000000000000040000", func(p []byte) (any, error) { return ParseBattery(p) },
			Battery{}},
		{"rates profile", "5a0b3f404100320700000d5c5b0c015ae803e903ea030232",
			func(p []byte) (any, error) { return ParseTuning(p) },
			Tuning{Profile: rates.Profile{Type: rates.KISS, Axes: [3]rates.Axis{
				{RCRate: 90, Expo: 11, SRate: 63, Limit: 1000},
				{RCRate: 91, Expo: 12, SRate: 64, Limit: 1001}, {RCRate: 92, Expo: 13, SRate: 65, Limit: 1002}}},
				ThrottleExpo: 7, ThrottleLimit: true}},
		{"receiver", "006c07dc051a0400750343080000e204", func(p []byte) (any, error) { return ParseReceiver(p) },
			Receiver{1050, 1500, 1900}},
		{"status of more modes", "7d00000023000100000000040004000201081d04000000",
			func(p []byte) (any, error) { return ParseStatus(p) },
			Status{Modes: 1 | 1<<32 | 1<<43, Load: 4, Disabled: 1 << 2}},
		{"features", "80440400", func(p []byte) (any, error) { return ParseFeatures(p) }, true},
		{"mode ranges", "000020302401102000000000", func(p []byte) (any, error) { return ParseModeRanges(p), nil },
			[]ModeRange{{ModeArm, 0, 1700, 2100}, {ModePrearm, 1, 1300, 1700}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			payload, err := hex.DecodeString(c.payload)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.parse(payload); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
			if _, err := c.parse(payload[:1]); err == nil && c.name != "mode ranges" {
				t.Error("a payload of one byte is taken")
			}
		})
	}
}

func TestFlagsInWords(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		want  string
	}{
		{0, ""},
		{1<<2 | 1<<12, "no signal of a receiver; gyroscope calibrates"},
		{1 << 28, "arm switch was on before: switch it off and on"},
		{1 << 31, "flag 31"},
	} {
		if got := strings.Join(c.flags.Words(), "; "); got != c.want {
			t.Errorf("%x: %q, want %q", uint32(c.flags), got, c.want)
		}
	}
}

// TestArmSwitchIsTheLastFlag: of each version, as of API 1.44 with 26 flags.
func TestArmSwitchIsTheLastFlag(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		of    uint8
		want  Flags
	}{
		{1<<28 | 1<<25, 29, ArmSwitch | 1<<25},
		{1<<25 | NoPrearm, 26, ArmSwitch | NoPrearm},
		{1 << 28, 30, 1 << 29},
		{1<<28 | 1<<29, 30, 1<<29 | ArmSwitch},
		{1, 0, 1}, {1, 200, 1},
	} {
		p := make([]byte, 22)
		p[16] = c.of
		binary.LittleEndian.PutUint32(p[17:], uint32(c.flags))
		if s, err := ParseStatus(p); s.Disabled != c.want || err != nil {
			t.Errorf("%x of %d flags are %x, want %x: %v", c.flags, c.of, s.Disabled, c.want, err)
		}
	}
}

func TestChannelsAreLittleEndian(t *testing.T) {
	if got := hex.EncodeToString(Channels([]uint16{1000, 2000})); got != "e803d007" {
		t.Error(got)
	}
}

// FuzzMessages: no payload panics.
func FuzzMessages(f *testing.F) {
	f.Add([]byte{0, 1, 47})
	f.Fuzz(func(t *testing.T, p []byte) {
		ParseVersion(p)
		if s, err := ParseStatus(p); err == nil {
			s.Disabled.Words()
		}
		ParseAttitude(p)
		ParseBattery(p)
		ParseTuning(p)
		ParseReceiver(p)
		ParseFeatures(p)
		for _, m := range ParseModeRanges(p) {
			if m.From >= m.To {
				t.Error(m)
			}
		}
	})
}
