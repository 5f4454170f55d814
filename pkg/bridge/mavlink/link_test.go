package mavlink

import (
	"errors"
	"fmt"
	"math"
	"net"
	"testing"
)

// firmwareOf is the other end of a link, that answers what it is sent.
func firmwareOf(t *testing.T, answer func(Message) Message) *Link {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		w := Writer{To: theirs, System: 1, Component: 1}
		for r := NewReader(theirs); ; {
			m, err := r.Read()
			if err != nil {
				return
			}
			if a := answer(m); a == nil {
				theirs.Close()
			} else if w.Write(a) != nil {
				return
			}
		}
	}()
	l := NewLink(ours)
	t.Cleanup(func() { _ = l.Close(); _ = theirs.Close() })
	return l
}

// Settle waits for the answer to its own ping, not to another.
func TestSettleWaitsForItsAnswer(t *testing.T) {
	taken := 0
	l := firmwareOf(t, func(m Message) Message {
		p, ok := m.(*Ping)
		if !ok {
			return nil
		}
		taken++
		return &Ping{Sequence: p.Sequence, System: 1, Component: 191}
	})
	for want := 1; want < 4; want++ {
		if err := l.Settle(); err != nil || taken != want {
			t.Fatalf("%v, %d taken, expected %d", err, taken, want)
		}
	}
}

func TestSettleEndsWithTheLine(t *testing.T) {
	l := firmwareOf(t, func(Message) Message { return nil })
	if err := l.Settle(); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
}

// PX4 sends the bytes of an integer, ArduPilot the number.
func TestIntegersOfParameters(t *testing.T) {
	const int32Type = 6
	for autopilot, sent := range map[uint8]float32{3: -4, px4: math.Float32frombits(0xFFFFFFFC)} {
		l := firmwareOf(t, func(m Message) Message {
			switch m := m.(type) {
			case *ParamRequestRead:
				return &ParamValue{Value: sent, Name: m.Name, Type: int32Type}
			case *Ping:
				return &Ping{Sequence: m.Sequence, System: 1}
			}
			return &Heartbeat{Type: 2, Autopilot: autopilot}
		})
		if err := errors.Join(l.Beat(), l.Ask("A"), l.Settle()); err != nil {
			t.Fatal(err)
		}
		if got, _ := l.Parameter("A"); got != (Setting{-4, true}) {
			t.Errorf("autopilot %d: %+v", autopilot, got)
		}
	}
}

// A line that says much keeps what it said last.
func TestTextsAreTheLast(t *testing.T) {
	var l Link
	for i := range 1000 {
		m := &StatusText{}
		copy(m.Text[:], fmt.Sprint(i))
		l.take(m)
	}
	if all := l.Texts(); len(all) > 100 || all[len(all)-1] != "999" {
		t.Errorf("%d texts, %q", len(all), all[len(all)-1])
	}
}

// A setting becomes a line of a startup script.
func TestParseParameter(t *testing.T) {
	for text, want := range map[string]Parameter{
		"MC_YAW_P=2.5": {"MC_YAW_P", 2.5}, "CAL_GYRO0_ID=-1": {"CAL_GYRO0_ID", -1},
		"A": {}, "=1": {}, "A=": {}, "A=x": {}, "A=nan": {}, "A=inf": {}, "A;reboot=1": {}, "A B=1": {}, "A\nB=1": {},
		"$(A)=1": {}, "a=1": {}, "SEVENTEEN_LETTERS=1": {},
	} {
		got, err := ParseParameter(text)
		if got != want || (err == nil) != (want.Name != "") {
			t.Errorf("%q: %+v, %v, expected %+v", text, got, err, want)
		}
	}
}
