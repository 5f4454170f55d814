// Package plant runs other simulators' vehicles as processes of their own: crazyflow and MuJoCo, both from PyPI. `make
// simulators` installs them.
package plant

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
)

// Names of the simulators.
const (
	Crazyflow = "crazyflow"
	MuJoCo    = "mujoco"
)

//go:embed plant.py
var program string

// Folder is the Python environment that the simulators are installed in: VND_SIMULATORS, or where make puts it.
func Folder() string {
	if f := os.Getenv("VND_SIMULATORS"); f != "" {
		return f
	}
	return filepath.Join("build", "simulators")
}

// Process is a simulator that runs, a sim.Plant.
type Process struct {
	name    string
	command *exec.Cmd
	socket  *os.File
	said    bytes.Buffer // on its standard error
	broken  bool         // it has ended, or is of no use
	request [requestSize]byte
	reply   [replySize]byte
}

var _ sim.Plant = (*borrowed)(nil)

// A request is what is to be done and ten numbers, a reply thirteen numbers; all are little-endian float64.
const (
	requestSize = 11 * 8
	replySize   = 13 * 8

	doReset  = 0 // p_W, q_WB (w, x, y, z), v_W
	doFollow = 1 // thrust (m/s²), body rates (rad/s), wind (m/s²), time (s), 0, 0
)

// patience is how long a simulator may be silent: it compiles itself at its first step.
const patience = 2 * time.Minute

// Fleet starts simulators of one name, and keeps those that are closed for the next flight: a start takes seconds.
type Fleet struct {
	Name string

	mu   sync.Mutex
	idle []*Process
}

// Start returns a vehicle of the simulator when it is ready. It refuses a world that has more than winds.
func (f *Fleet) Start(w sim.World) (sim.External, error) {
	if err := windsAlone(f.Name, &w); err != nil {
		return nil, err
	}
	p := f.take()
	if p == nil { // without the lock: others start theirs meanwhile
		var err error
		if p, err = start(filepath.Join(Folder(), "bin", "python"), program, f.Name); err != nil {
			return nil, err
		}
	}
	return &borrowed{p, f}, nil
}

// take returns one that is idle; nil: none is.
func (f *Fleet) take() (p *Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.idle); n > 0 {
		p, f.idle = f.idle[n-1], f.idle[:n-1]
	}
	return p
}

// borrowed goes back to its fleet, unless it has ended.
type borrowed struct {
	*Process
	fleet *Fleet
}

func (b *borrowed) Close() error {
	if b.broken {
		return b.Process.Close()
	}
	b.fleet.mu.Lock()
	defer b.fleet.mu.Unlock()
	b.fleet.idle = append(b.fleet.idle, b.Process)
	return nil
}

// windsAlone refuses a world of which a plant would know a part alone.
func windsAlone(name string, w *sim.World) error {
	d := sim.Default()
	for i, n := range w.Conditions.Name {
		if !w.Conditions.WindAlone(i) {
			return fmt.Errorf("%s knows winds alone: condition %q has more", name, n)
		}
	}
	if w.Gusts != d.Gusts || len(w.Fans.X) > 0 {
		return fmt.Errorf("%s knows winds alone: the world has gusts or fans", name)
	}
	return nil
}

func start(python, program, name string) (*Process, error) {
	if _, err := os.Stat(python); err != nil {
		return nil, fmt.Errorf("no %s here (%w): make simulators installs it", name, err)
	}
	python, err := filepath.Abs(python)
	if err != nil {
		return nil, err
	}
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	p := &Process{name: name, socket: os.NewFile(uintptr(ends[0]), name)}
	theirs := os.NewFile(uintptr(ends[1]), name)
	p.command = exec.Command(python, "-c", program, name)
	p.command.Dir = os.TempDir() // MuJoCo writes its log where it runs
	p.command.Stderr, p.command.ExtraFiles = &p.said, []*os.File{theirs}
	p.command.Env = append(os.Environ(), "JAX_PLATFORMS=cpu",
		"XLA_FLAGS=--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
	err = errors.Join(p.command.Start(), theirs.Close())
	if err != nil {
		return nil, errors.Join(err, p.socket.Close())
	}
	if err := p.receive(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close ends it.
func (p *Process) Close() error {
	err := p.socket.Close()
	_ = p.command.Process.Kill()
	_ = p.command.Wait() // its end by a signal is what is wanted
	return err
}

// Reset puts the vehicle at rest in a state, with motors that hold it where they can.
func (p *Process) Reset(s quad.State, _ quad.Command) error {
	_, _, err := p.ask(doReset, s.P.X, s.P.Y, s.P.Z, s.Q.W, s.Q.X, s.Q.Y, s.Q.Z, s.V.X, s.V.Y, s.V.Z)
	return err
}

// Follow implements sim.Plant.
func (p *Process) Follow(c quad.Command, wind so3.Vec3, h float64) (s quad.State, rates so3.Vec3, err error) {
	return p.ask(doFollow, c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z, wind.X, wind.Y, wind.Z, h)
}

func (p *Process) ask(numbers ...float64) (s quad.State, rates so3.Vec3, err error) {
	clear(p.request[:])
	for i, x := range numbers {
		binary.LittleEndian.PutUint64(p.request[8*i:], math.Float64bits(x))
	}
	if _, err := p.socket.Write(p.request[:]); err != nil {
		return s, rates, p.ended(err)
	}
	if err := p.receive(); err != nil {
		return s, rates, err
	}
	at := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(p.reply[8*i:])) }
	s.P, s.V = so3.Vec3{X: at(0), Y: at(1), Z: at(2)}, so3.Vec3{X: at(7), Y: at(8), Z: at(9)}
	s.Q = so3.Quat{W: at(3), X: at(4), Y: at(5), Z: at(6)}
	return s, so3.Vec3{X: at(10), Y: at(11), Z: at(12)}, nil
}

// receive waits for a reply.
func (p *Process) receive() error {
	if err := p.socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := io.ReadFull(p.socket, p.reply[:])
	return p.ended(err)
}

// ended adds to an error the last line that the simulator said.
func (p *Process) ended(err error) error {
	if err == nil {
		return nil
	}
	p.broken = true
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%s was silent for %v", p.name, patience)
	}
	_ = p.command.Process.Kill()
	_ = p.command.Wait() // what it said is whole then
	lines := strings.Split(strings.TrimSpace(p.said.String()), "\n")
	return fmt.Errorf("%s ended: %s", p.name, lines[len(lines)-1])
}
