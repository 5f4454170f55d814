package raptor

import (
	"os/exec"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim/peer"
)

// echo is a policy whose actions are what it was shown from a number on.
const echo = `
import socket, struct
wire = socket.socket(fileno=3)
wire.setblocking(True)
wire.sendall(bytes(32))
stream = wire.makefile("rb")
while len(asked := stream.read(184)) == 184:
    numbers = struct.unpack("<23d", asked)
    wire.sendall(struct.pack("<4d", *numbers[FIRST:FIRST+4]))
`

// standing is a path that stays, with a heading of a quarter turn to the left.
type standing struct{}

func (standing) At(float64) quad.Reference {
	return quad.Reference{P: so3.Vec3{X: 1}, V: so3.Vec3{Y: 1}, Yaw: 1.5707963267948966}
}

// shown flies one tick of a policy that acts what it sees from a number on, and returns the actions.
func shown(t *testing.T, first string) [4]float64 {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	pool := poolOf(strings.ReplaceAll(echo, "FIRST", first))
	p, err := pool.Start(python)
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Give(p); err != nil {
		t.Fatal(err)
	}
	l := rotors.Limits{Most: 1, Hover: .4, Full: 1}
	c, err := New(Config{Position: 1, Velocity: 10, Lift: 100}, l, pool, standing{})
	if err != nil {
		t.Fatal(err)
	}
	s := rotors.State{State: quad.State{P: so3.Vec3{X: 1, Y: 0.5}, Q: so3.FromEuler(0, 0, 1.5707963267948966)},
		W: so3.Vec3{X: .1, Y: .2, Z: .3}}
	for j, x := range c.Motors(0, &s) {
		if c.action[j] == min(max(c.action[j], -1), 1) && x != (c.action[j]+1)/2 {
			t.Errorf("motor %d: a command of %g for an action of %g", j, x, c.action[j])
		}
	}
	action := c.action
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	return action
}

// What it sees is in a world that is turned as the reference is.
func TestSeesTheReferencesFrame(t *testing.T) {
	for first, want := range map[string][4]float64{
		"0":  {1, 0.5, 0, 0}, // a flight begins; half a metre to the left of north is ahead of a robot that looks there
		"4":  {1, 0, 0, 0},   // upright, and turned as the reference
		"13": {-1, 0, 0, .1}, // it lags behind a reference that goes ahead; body rates
		"17": {.2, .3, 0, 0}, // and no action before
	} {
		t.Run(first, func(t *testing.T) {
			got := shown(t, first)
			for j := range want {
				if d := got[j] - want[j]; d > 1e-9 || d < -1e-9 {
					t.Errorf("from number %s on it sees %v, want %v", first, got, want)
				}
			}
		})
	}
}

func TestSaysWhatIsMissing(t *testing.T) {
	t.Setenv("VND_SIMULATORS", t.TempDir())
	_, err := New(Config{}, rotors.Limits{}, Pool(), standing{})
	if err == nil || !strings.Contains(err.Error(), peer.ErrNotInstalled.Error()) {
		t.Errorf("not installed: %v", err)
	}
}
