package msp

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func decode(stream []byte, at ...int) (all []Frame) {
	var d Decoder
	take := func(f *Frame) {
		c := *f
		c.Payload = bytes.Clone(f.Payload)
		all = append(all, c)
	}
	last := 0
	for _, i := range append(at, len(stream)) {
		d.Feed(stream[last:i], take)
		last = i
	}
	return all
}

func TestFramesOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name, wire string
		frame      Frame
	}{
		{"version 1 without payload", "244d3c000101", Frame{Request, 1, []byte{}, false}},
		{"version 1", "244d3c0402aabbccdd06", Frame{Request, 2, []byte{0xaa, 0xbb, 0xcc, 0xdd}, false}},
		{"refused", "244d2100fafa", Frame{Refused, 250, []byte{}, false}},
		// the example of the protocol's own page
		{"version 2", "24583c00640000008f", Frame{Request, 100, []byte{}, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire, err := hex.DecodeString(c.wire)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.frame.Append(nil)
			if err != nil || !bytes.Equal(got, wire) {
				t.Errorf("%x, %v, want %x", got, err, wire)
			}
			if back := decode(wire); len(back) != 1 || !reflect.DeepEqual(back[0], c.frame) {
				t.Errorf("decoded %+v", back)
			}
		})
	}
}

func drawnFrame(t *rapid.T) Frame {
	f := Frame{Direction: rapid.SampledFrom([]Direction{Request, Reply, Refused}).Draw(t, "direction"),
		V2: rapid.Bool().Draw(t, "v2"), Payload: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload")}
	most := uint16(254)
	if f.V2 {
		most = 0xffff
	}
	f.Command = rapid.Uint16Range(0, most).Draw(t, "command")
	return f
}

func TestFramesComeThroughAnyStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var want []Frame
		for range rapid.IntRange(1, 4).Draw(t, "frames") {
			f := drawnFrame(t)
			noise := rapid.SliceOfN(rapid.ByteRange('a', 'z'), 0, 5).Draw(t, "noise")
			var err error
			if stream, err = f.Append(append(stream, noise...)); err != nil {
				t.Fatal(err)
			}
			want = append(want, f)
		}
		cut := rapid.IntRange(0, len(stream)).Draw(t, "cut")
		got := decode(stream, cut)
		if len(got) != len(want) {
			t.Fatalf("%d frames, want %d", len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i].Payload, want[i].Payload) || got[i].Command != want[i].Command ||
				got[i].V2 != want[i].V2 || got[i].Direction != want[i].Direction {
				t.Errorf("%+v, want %+v", got[i], want[i])
			}
		}
	})
}

func TestDamagedFramesAreCounted(t *testing.T) {
	f := Frame{Direction: Reply, Command: 101, Payload: []byte{1, 2, 3}}
	wire, err := f.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	wire[6] ^= 4
	var d Decoder
	d.Feed(wire, func(*Frame) { t.Error("a damaged frame came through") })
	if d.Damaged != 1 {
		t.Errorf("%d damaged frames, want 1", d.Damaged)
	}
}

func TestFramesThatCannotBe(t *testing.T) {
	for name, f := range map[string]Frame{
		"command": {Direction: Request, Command: 255}, "payload": {Payload: make([]byte, MaxPayload+1), V2: true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := f.Append(nil); err == nil {
				t.Error("taken")
			}
		})
	}
}

// FuzzDecoder: no stream panics, keeps more than a frame of it, or gives other frames when it comes byte by byte.
func FuzzDecoder(f *testing.F) {
	for _, x := range []Frame{{Request, 1, nil, false}, {Reply, 0x4001, []byte("payload"), true},
		{Refused, 7, make([]byte, 300), false}} {
		wire, err := x.Append([]byte("$$M"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var d Decoder
		d.Feed(stream, func(x *Frame) {
			if _, err := x.Append(nil); err != nil && x.Command != 255 {
				t.Error(err)
			}
		})
		if len(d.pending) > MaxPayload+16 {
			t.Errorf("%d bytes are kept", len(d.pending))
		}
		each := make([]int, len(stream))
		for i := range each {
			each[i] = i
		}
		if a, b := decode(stream), decode(stream, each...); len(a) != len(b) {
			t.Errorf("%d frames at once, %d byte by byte", len(a), len(b))
		}
	})
}
