package sitl

import (
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// played is a process whose firmware a test plays, which is told what it is sent and answers states.
func played(t *testing.T, answers func(*mavlink.HilSensor) []mavlink.HilActuatorControls) (p *process,
	shown func() int) {
	t.Helper()
	ours, theirs := net.Pipe()
	p = &process{conn: ours, to: mavlink.Writer{To: ours}, noise: rand.New(rand.NewPCG(1, 1)), answered: 1000,
		answers: make(chan *mavlink.HilActuatorControls, 64)}
	seen := make(chan int, 1)
	seen <- 0
	go p.listen()
	go func() {
		w := mavlink.Writer{To: theirs}
		for r := mavlink.NewReader(theirs); ; {
			m, err := r.Read()
			if err != nil {
				return
			}
			switch m := m.(type) {
			case *mavlink.Odometry:
				seen <- 1 + <-seen
			case *mavlink.HilSensor:
				for _, a := range answers(m) {
					_ = w.Write(&a)
				}
			}
		}
	}()
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return p, func() int { n := <-seen; seen <- n; return n }
}

// A step takes the answer to its own state, not an older one. The place is shown each 10 ms.
func TestStepTakesItsOwnAnswer(t *testing.T) {
	p, shown := played(t, func(m *mavlink.HilSensor) []mavlink.HilActuatorControls {
		late := mavlink.HilActuatorControls{Microseconds: m.Microseconds - 1000}
		own := mavlink.HilActuatorControls{Microseconds: m.Microseconds}
		copy(own.Controls[:], []float32{0.25, 0.5, 0.75, float32(m.Microseconds) / 1e6})
		return []mavlink.HilActuatorControls{late, own}
	})
	for k := 1; k <= 30; k++ {
		got, err := p.Step(quad.State{Q: so3.Identity()}, so3.Vec3{}, so3.Vec3{Z: quad.Gravity}, 0.001)
		want := [4]float64{0.25, 0.5, 0.75, float64(float32(k) / 1e3)}
		if err != nil || math.Abs(got[3]-want[3]) > 1e-6 || got[0] != 0.25 {
			t.Fatalf("step %d: %v, %v, expected %v", k, got, err, want)
		}
	}
	if n := shown(); n != 2 {
		t.Errorf("its place was shown %d times", n)
	}
}

// PX4 cuts a sample towards 0 to whole bits: on average that is what was measured, and two in turn are not the same.
func TestSamplesAreNotCut(t *testing.T) {
	p := &process{noise: rand.New(rand.NewPCG(1, 1))}
	const bit, many = 0.001, 20000
	for _, want := range []float64{0, 0.4e-3, -1.3e-3, 2} {
		sum, same, last := 0., 0, math.NaN()
		for range many {
			cut := math.Trunc(float64(p.sampled(so3.Vec3{X: want}, bit)[0]) / bit)
			if sum += cut * bit; cut == last {
				same++
			}
			last = cut
		}
		if off := sum/many - want; math.Abs(off) > 0.03*bit || same > many*3/4 {
			t.Errorf("%g: off by %g, %d the same", want, off, same)
		}
	}
}

// A firmware that is not there, or ends, is said to.
func TestFirmwareThatDoesNotStart(t *testing.T) {
	for _, binary := range []string{"/no/such/program", "/bin/false"} {
		b, err := NewBoard(binary, bridge.Throttle{Hover: 0.3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Reset(quad.State{}, quad.Command{}); err == nil {
			t.Errorf("%s started", binary)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A firmware that says more than it is asked leaves nothing behind.
func TestCloseEndsTheListener(t *testing.T) {
	p, _ := played(t, func(m *mavlink.HilSensor) []mavlink.HilActuatorControls {
		return slices.Repeat([]mavlink.HilActuatorControls{{Microseconds: m.Microseconds}}, 200)
	})
	if _, err := p.Step(quad.State{Q: so3.Identity()}, so3.Vec3{}, so3.Vec3{Z: quad.Gravity}, 0.001); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.simulator, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback}); err != nil {
		t.Fatal(err)
	}
	p.command, p.ended = exec.Command("sleep", "120"), make(chan error, 1)
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.command.Wait() }()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case m, open := <-p.answers:
		if open {
			t.Errorf("%+v was left", m)
		}
	default:
		t.Error("it still listens")
	}
}

// A path is refused before anything is started there.
func TestBinary(t *testing.T) {
	dir := t.TempDir()
	px4 := filepath.Join(dir, "px4")
	for _, name := range []string{px4, filepath.Join(dir, "px4-param")} {
		t.Setenv("VND_PX4", px4)
		if got, err := Binary(); err == nil {
			t.Errorf("%s without %s", got, name)
		}
		if err := os.WriteFile(name, nil, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Binary(); got != px4 || err != nil {
		t.Error(got, err)
	}
	t.Setenv("VND_PX4", px4+"s")
	if got, err := Binary(); err == nil {
		t.Errorf("%s is not there", got)
	}
}
