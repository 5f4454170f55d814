package receiver

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/bridge/betaflight/goldentest"
)

// frameOf is a frame of the firmware's, and what it put in.
type frameOf struct {
	kind  string
	wire  []byte
	cells []string
}

func goldenTelemetry(t testing.TB) (all []frameOf) {
	t.Helper()
	for _, cells := range goldentest.Rows(t, "testdata/telemetry.csv") {
		all = append(all, frameOf{cells[0], goldentest.Bytes(t, cells[1]), cells[2:]})
	}
	return all
}

func TestTelemetryIsWhatTheFirmwarePutIn(t *testing.T) {
	for _, want := range goldenTelemetry(t) {
		t.Run(want.kind, func(t *testing.T) {
			f, n, err := ParseCRSF(want.wire)
			if err != nil || n != len(want.wire) {
				t.Fatalf("%d, %v", n, err)
			}
			battery, isBattery := f.Battery()
			attitude, isAttitude := f.Attitude()
			mode, isMode := f.Mode()
			if isBattery != (want.kind == "battery") || isAttitude != (want.kind == "attitude") ||
				isMode != (want.kind == "mode") {
				t.Fatalf("battery %v, attitude %v, mode %v", isBattery, isAttitude, isMode)
			}
			if isMode {
				if x := (Mode{want.cells[0], want.cells[1] != "", want.cells[2] != ""}); mode != x {
					t.Errorf("%+v, want %+v", mode, x)
				}
				return
			}
			got, within := [3]float64{battery.Voltage, battery.Current, battery.Drawn}, 0.051
			if isAttitude {
				got, within = [3]float64{attitude.Roll, attitude.Pitch, attitude.Heading}, 0.01
			}
			for i, x := range want.cells {
				if math.Abs(got[i]-goldentest.Number(t, x)) > within {
					t.Errorf("%v, want %v", got, want.cells)
				}
			}
		})
	}
}

func TestDecoderFindsFramesInAnyPieces(t *testing.T) {
	var stream []byte
	rows := goldenTelemetry(t)
	for i, x := range rows {
		stream = append(append(stream, bytes.Repeat([]byte{byte(i)}, i%3)...), x.wire...)
	}
	rapid.Check(t, func(t *rapid.T) {
		var d CRSFDecoder
		found := 0
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			d.Feed(rest[:n], func(f *CRSFFrame) {
				if f.Type != rows[found].wire[2] {
					t.Fatalf("frame %d is of type %#x", found, f.Type)
				}
				found++
			})
			rest = rest[n:]
		}
		if found != len(rows) || d.Damaged != 0 {
			t.Errorf("%d frames, %d damaged, want %d", found, d.Damaged, len(rows))
		}
	})
}

func FuzzTelemetry(f *testing.F) {
	for _, x := range goldenTelemetry(f) {
		f.Add(x.wire)
	}
	f.Add([]byte{addressBoard, addressBoard, 12, typeLink, 60, 62, 97, 10, 0, 2, 3, 70, 100, 9})
	f.Fuzz(func(t *testing.T, stream []byte) {
		var d CRSFDecoder
		d.Feed(stream, func(f *CRSFFrame) {
			f.Ticks()
			f.LinkQuality()
			f.Attitude()
			if b, ok := f.Battery(); ok && b.Voltage < 0 {
				t.Error(b)
			}
			if m, ok := f.Mode(); ok && len(m.Name) > crsfMost {
				t.Error(m)
			}
		})
		if len(d.pending) >= crsfMost+crsfLead {
			t.Errorf("%d bytes are kept", len(d.pending))
		}
	})
}
