package plant

import (
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/peer"
)

// scripted is a vehicle of another program.
func scripted(t *testing.T, program string) (*vehicle, error) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	g := peer.Program{Name: "scripted", Source: program, Request: requests, Reply: replies}
	p, err := g.Start(python)
	if err == nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return &vehicle{p, new(Fleet)}, err
}

const ready = `
import socket, struct
wire = socket.socket(fileno=3)
wire.setblocking(True)
wire.sendall(bytes(104))
`

// A program that answers with what it was asked shows the layout of requests and replies.
func TestRequestsAndRepliesHaveTheirLayout(t *testing.T) {
	p, err := scripted(t, ready+`
stream = wire.makefile("rb")
while len(asked := stream.read(88)) == 88:
    kind, *numbers = struct.unpack("<11d", asked)
    wire.sendall(struct.pack("<13d", *numbers, kind, 0, 0))
`)
	if err != nil {
		t.Fatal(err)
	}
	at := quad.State{P: so3.Vec3{X: 1, Y: 2, Z: 3}, Q: so3.Quat{W: 4, X: 5, Y: 6, Z: 7}, V: so3.Vec3{X: 8, Y: 9, Z: 10}}
	if err := p.Reset(at, quad.Command{}); err != nil {
		t.Error(err)
	}
	s, rates, err := p.Follow(quad.Command{Thrust: 1, Rates: at.P}, at.V, 11)
	want := quad.State{P: so3.Vec3{X: 1, Y: 1, Z: 2}, Q: so3.Quat{W: 3, X: 8, Y: 9, Z: 10}, V: so3.Vec3{X: 11}}
	if err != nil || s != want || rates.X != doFollow {
		t.Errorf("%+v, %v, %v", s, rates, err)
	}
}

func TestFleetNamesWhatIsMissing(t *testing.T) {
	t.Setenv("VND_SIMULATORS", t.TempDir())
	f := NewFleet(MuJoCo)
	if _, err := f.Start(sim.Default()); err == nil || !strings.Contains(err.Error(), "make simulators installs it") {
		t.Errorf("not installed: %v", err)
	}
	w := sim.Default()
	w.Conditions.Name, w.Conditions.Payload = []string{"loaded"}, []float64{0.1}
	if _, err := f.Start(w); err == nil || err.Error() != `mujoco knows winds alone: condition "loaded" has more` {
		t.Errorf("a payload: %v", err)
	}
}

// TestSimulatorsFly has the geometric law fly each simulator that is installed, in a wind too.
func TestSimulatorsFly(t *testing.T) {
	for _, name := range []string{MuJoCo, Crazyflow} {
		t.Run(name, func(t *testing.T) {
			f := NewFleet(name)
			w := sim.Default()
			w.Conditions.Name, w.Conditions.WindX = []string{"east"}, []float64{2}
			first, err := f.Start(w)
			if err != nil {
				if _, gone := os.Stat(peer.Folder()); gone != nil {
					t.Skip(err)
				}
				t.Fatal(err)
			}
			var errs [2]float64
			for k := range errs {
				errs[k] = hovers(t, w, first)
			}
			if errs[0] > 0.02 || errs[0] != errs[1] {
				t.Errorf("mean errors %v m, expected one below 0.02, twice", errs)
			}
			if err := first.Close(); err != nil {
				t.Error(err)
			}
			if again, err := f.Start(w); err != nil || again.(*vehicle).process != first.(*vehicle).process {
				t.Errorf("another process in the next flight: %v", err)
			}
		})
	}
}

// hovers is the mean error of the geometric law, m.
func hovers(t *testing.T, w sim.World, e sim.External) float64 {
	t.Helper()
	spec := new(reference.Hover)
	param.Default(spec)
	path, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &closedloop.Setup{World: w, Seed: 1, Path: path, Seconds: 8, Tick: 0.02, External: e}
	param.Default(&s.Limits)
	param.Default(&s.Estimate)
	law, err := guard.NewPathFollower(s.Limits, path)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := closedloop.Fly(s, law)
	if err != nil || trace.Crash != "" {
		t.Fatal(err, trace.Crash)
	}
	m := trace.Measure(4)
	if math.IsNaN(m.Mean) {
		t.Fatal(m)
	}
	return m.Mean
}
