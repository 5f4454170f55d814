package sitl

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
)

// A firmware that does not start leaves nothing open.
func TestFailedStartLeavesNothingOpen(t *testing.T) {
	open := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for name, c := range map[string]struct {
		binary string
		spoil  func(folder string) error
	}{
		"no program":           {"/no/such/program", nil},
		"a program that ends":  {"/bin/false", nil},
		"no folder for a file": {"/bin/false", os.RemoveAll},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			before := open()
			b, err := NewBoard(c.binary, bridge.Throttle{Hover: 0.3}, nil)
			if err == nil && c.spoil != nil {
				err = c.spoil(folder)
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := b.Reset(quad.State{}, quad.Command{}); err == nil {
					t.Error("it started")
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if after := open(); after > before+1 { // the runtime's own
				t.Errorf("%d files are open, %d before", after, before)
			}
		})
	}
}

// A firmware that does not take a state sends its last outputs again and again.
func TestOutputsThatAreSentAgainAreNoAnswer(t *testing.T) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	peer, err := net.DialUDP("udp4", nil, conn.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), peer.Close() })
	outputs := make([]byte, 8+2*16)
	binary.LittleEndian.PutUint16(outputs, 18458)
	go func() {
		for ; ; time.Sleep(time.Millisecond) {
			if _, err := peer.Write(outputs); err != nil {
				return
			}
		}
	}()
	p := &Process{conn: conn, patience: time.Minute}
	if err := p.receive(); err != nil {
		t.Fatal(err)
	}
	p.patience = 20 * time.Millisecond
	answered := make(chan error, 1)
	go func() { answered <- p.receive() }()
	select {
	case err := <-answered:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for ever")
	}
}
