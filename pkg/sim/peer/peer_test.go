package peer

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// scripted is a process of a program that answers two numbers by one.
func scripted(t *testing.T, program string) (*Process, error) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	p, err := (&Program{Name: "scripted", Source: program, Request: 2, Reply: 1}).Start(python)
	if err == nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

const ready = `
import socket, struct
wire = socket.socket(fileno=3)
wire.setblocking(True)
wire.sendall(bytes(8))
`

// Requests and replies are float64, little-endian; what is not given is 0.
func TestRequestsAndRepliesHaveTheirLayout(t *testing.T) {
	p, err := scripted(t, ready+`
stream = wire.makefile("rb")
while len(asked := stream.read(16)) == 16:
    a, b = struct.unpack("<2d", asked)
    wire.sendall(struct.pack("<d", a - b))
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ask  []float64
		want float64
	}{{[]float64{3, 1.5}, 1.5}, {[]float64{7}, 7}} {
		if got, err := p.Ask(c.ask...); err != nil || got[0] != c.want {
			t.Errorf("asked %v: %v, %v, want %g", c.ask, got, err, c.want)
		}
	}
}

func TestProgramsThatEndSayWhy(t *testing.T) {
	_, err := scripted(t, "import no_such_module")
	if err == nil || !strings.Contains(err.Error(), "scripted ended: ModuleNotFoundError") ||
		!errors.Is(err, ErrNotInstalled) {
		t.Errorf("at the start: %v", err)
	}
	p, err := scripted(t, ready+"wire.recv(16)\nraise SystemExit('out of air')")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Ask(1); err == nil || err.Error() != "scripted ended: out of air" || errors.Is(err, ErrNotInstalled) {
		t.Errorf("later: %v", err)
	}
}

// A process that was given back is taken next, one that has ended is not.
func TestPoolKeepsWhatRuns(t *testing.T) {
	p, err := scripted(t, ready+"wire.recv(16)")
	if err != nil {
		t.Fatal(err)
	}
	var l Pool
	t.Setenv("VND_SIMULATORS", t.TempDir())
	if err := l.Give(p); err != nil {
		t.Fatal(err)
	}
	if again, err := l.Take(); err != nil || again != p {
		t.Errorf("taken: %v, %v", again, err)
	}
	if _, err := p.Ask(1); err == nil {
		t.Error("a program that has ended answers")
	}
	if err := l.Give(p); err != nil {
		t.Error(err)
	}
	if _, err := l.Take(); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("one that has ended was taken: %v", err)
	}
}
