package receiver

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/bridge/betaflight/goldentest"
)

// row is a frame and what the firmware's decoder made of it.
type row struct {
	protocol          string
	wire              []byte
	dropped, failsafe bool
	us                [Channels]float64
}

func golden(t testing.TB) (rows []row) {
	t.Helper()
	for _, cells := range goldentest.Rows(t, "testdata/frames.csv") {
		status := int(goldentest.Number(t, cells[2]))
		x := row{protocol: cells[0], wire: goldentest.Bytes(t, cells[1]), failsafe: status&2 != 0,
			dropped: status&8 != 0}
		for i := range x.us {
			x.us[i] = goldentest.Number(t, cells[3+i])
		}
		rows = append(rows, x)
	}
	return rows
}

func TestFramesAreThoseOfTheFirmwaresDecoders(t *testing.T) {
	for _, want := range golden(t) {
		t.Run(want.protocol, func(t *testing.T) {
			var d Dither
			var got []byte
			scale, ticks := CRSF, Ticks{}
			if want.protocol == "sbus" {
				scale = SBUS
				f, err := ParseSBUS(want.wire)
				if err != nil || f.Failsafe != want.failsafe || f.Dropped != want.dropped && !f.Failsafe {
					t.Errorf("%+v, %v, want failsafe %v, dropped %v", f, err, want.failsafe, want.dropped)
				}
				ticks = f.Ticks
				got = AppendSBUS(nil, &SBUSFrame{d.Round(scale, &want.us), f.Dropped, f.Failsafe})
			} else {
				f, n, err := ParseCRSF(want.wire)
				if ticks, _ = f.Ticks(); err != nil || n != len(want.wire) {
					t.Errorf("%d bytes, %v", n, err)
				}
				rounded := d.Round(scale, &want.us)
				got = AppendCRSF(nil, &rounded)
			}
			if !bytes.Equal(got, want.wire) {
				t.Errorf("%x, want %x", got, want.wire)
			}
			for i, tick := range ticks {
				if math.Abs(scale.Micros(tick)-want.us[i]) > 1e-3 {
					t.Errorf("channel %d: %g µs, want %g", i, scale.Micros(tick), want.us[i])
				}
			}
		})
	}
}

func drawn(t *rapid.T) (x Ticks) {
	for i := range x {
		x[i] = rapid.Uint16Range(0, maxTick).Draw(t, "tick")
	}
	return x
}

func TestTicksComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawn(t)
		f, n, err := ParseCRSF(AppendCRSF(nil, &x))
		if got, ok := f.Ticks(); !ok || got != x || n != 26 || err != nil {
			t.Errorf("CRSF: %v, %v, %d, %v, want %v", got, ok, n, err, x)
		}
		s := SBUSFrame{x, rapid.Bool().Draw(t, "dropped"), rapid.Bool().Draw(t, "failsafe")}
		if got, err := ParseSBUS(AppendSBUS(nil, &s)); got != s || err != nil {
			t.Errorf("SBUS: %v, %v, want %v", got, err, s)
		}
	})
}

func TestDitherKeepsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Dither
		var us [Channels]float64
		want := rapid.Float64Range(1000, 2000).Draw(t, "µs")
		us[3] = want
		mean := 0.
		const frames = 1000
		for range frames {
			mean += CRSF.Micros(d.Round(CRSF, &us)[3]) / frames
		}
		if math.Abs(mean-want) > 2*CRSF.Step/frames {
			t.Errorf("%g µs on average, want %g", mean, want)
		}
	})
}

func TestCRSFOfATransmittersLink(t *testing.T) {
	f := CRSFFrame{Type: typeLink, Payload: []byte{60, 62, 97, 10, 0, 2, 3, 70, 100, 9}}
	if q, ok := f.LinkQuality(); q != 0.97 || !ok {
		t.Errorf("%g, %v, want .97", q, ok)
	}
	if _, ok := f.Ticks(); ok {
		t.Error("a frame of the link has channels")
	}
}

func TestBytesThatAreNoFrame(t *testing.T) {
	var x Ticks
	good := AppendCRSF(nil, &x)
	damaged := bytes.Clone(good)
	damaged[5] ^= 1
	for _, c := range []struct {
		name string
		b    []byte
		err  bool
	}{
		{"a part", good[:20], false}, {"nothing", nil, false}, {"damaged", damaged, true},
		{"too long", []byte{0xC8, 63, 1}, true}, {"too short", []byte{0xC8, 1, 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, n, err := ParseCRSF(c.b); n != 0 || (err != nil) != c.err {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
	if _, err := ParseSBUS(make([]byte, SBUSSize)); err == nil {
		t.Error("an SBUS frame without its start byte is taken")
	}
}

func FuzzCRSF(f *testing.F) {
	for _, x := range golden(f) {
		f.Add(x.wire)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, n, err := ParseCRSF(b)
		if err != nil || n == 0 {
			return
		}
		if x, ok := frame.Ticks(); ok && frame.Address == addressBoard && !bytes.Equal(AppendCRSF(nil, &x), b[:n]) {
			t.Errorf("%x does not come back", b[:n])
		}
		frame.LinkQuality()
	})
}

func FuzzSBUS(f *testing.F) {
	for _, x := range golden(f) {
		f.Add(x.wire)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := ParseSBUS(b)
		if err != nil {
			return
		}
		const rest = flagDropped | flagFailsafe
		b[SBUSSize-2] &= rest
		if b[SBUSSize-1] = 0; !bytes.Equal(AppendSBUS(nil, &x), b) {
			t.Errorf("%x does not come back", b)
		}
	})
}
