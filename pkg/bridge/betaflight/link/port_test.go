package link

import (
	"bytes"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/pkg/bridge/betaflight/msp"
	"vnd/pkg/bridge/betaflight/receiver"
)

func TestSendersOfReceiverFrames(t *testing.T) {
	c := Channels{1500, 1600, 1000, 1400, 1800}
	var wire bytes.Buffer
	s, err := NewSender(&wire, CRSF)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&c); err != nil {
		t.Fatal(err)
	}
	f, _, err := receiver.ParseCRSF(wire.Bytes())
	ticks, ok := f.Ticks()
	if got := receiver.CRSF.Micros(ticks[1]); err != nil || !ok || got < 1599.6 || got > 1600.4 {
		t.Errorf("pitch of %g µs, %v, %v", got, ok, err)
	}
	wire.Reset()
	if s, err = NewSender(&wire, SBUS); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&c); err != nil {
		t.Fatal(err)
	}
	b, err := receiver.ParseSBUS(wire.Bytes())
	if got := receiver.SBUS.Micros(b.Ticks[4]); err != nil || got < 1799.6 || got > 1800.4 {
		t.Errorf("switch of %g µs, %v", got, err)
	}
	if _, err := NewSender(&wire, MSP); err == nil {
		t.Error("MSP has frames of a receiver")
	}
}

func TestOpenNamesThePort(t *testing.T) {
	for _, name := range []string{"tcp:127.0.0.1:1", "/dev/none"} {
		if _, err := Open(name, MSP); err == nil || !strings.Contains(err.Error(), "no board at "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A device that is missing, none, or held by another program is refused with what to do.
func TestOpenSaysWhyADeviceDoesNotOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := hold(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(file, MSP)
	if want := "another program has it open"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: "it is no serial device", file + "2": "there is no such device"} {
		if _, err := Open(name, MSP); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestBoardThatStopsAnswering gets no queue of old frames.
func TestBoardThatStopsAnswering(t *testing.T) {
	here, there := net.Pipe()
	got := make(chan int, 1)
	go func() {
		var d msp.Decoder
		n, part := 0, make([]byte, 256)
		for {
			k, err := there.Read(part)
			d.Feed(part[:k], func(*msp.Frame) { n++ })
			if err != nil {
				got <- n
				return
			}
		}
	}()
	b := NewBoard(here)
	var c Channels
	for range 100 {
		if err := b.Send(&c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Ask(msp.APIVersion, 10*time.Millisecond); err == nil {
		t.Error("a board that is silent answered")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n > 10 {
		t.Errorf("%d frames of 100 went to a board that does not answer", n)
	}
	if b.Err() == nil || b.Telemetry().Skipped < 90 {
		t.Errorf("%v, %+v", b.Err(), b.Telemetry())
	}
}

func TestBoardTakesTelemetryOfTheSticksPort(t *testing.T) {
	msp, silent := net.Pipe()
	defer silent.Close()
	b := NewBoard(msp)
	defer b.Close()
	here, there := net.Pipe()
	ended := make(chan struct{})
	go func() { defer close(ended); b.Listen(here) }()
	for _, frame := range []string{"c80a0800a501280004d24356", "c80721414e474c00a7", "c8081e2e3965ec855a05"} {
		wire, err := hex.DecodeString(frame)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := there.Write(wire); err != nil {
			t.Fatal(err)
		}
	}
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	x := b.Telemetry()
	if x.Battery.Voltage != 16.5 || x.Mode.Name != "ANGL" || x.Mode.Disarmed || x.Attitude.Roll < 149 {
		t.Errorf("%+v", x)
	}
}
