// Package peer runs software of others, written in Python, as processes of their own: simulators and policies.
package peer

import (
	"bytes"
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
)

// Program is one in Python at the other end of the socket 3. It answers requests by replies, both of float64,
// little-endian. Its first reply says that it is ready.
type Program struct {
	Name           string // in errors, and its argument
	Source         string
	Request, Reply int // how many numbers
}

// Folder is the Python environment that the software is installed in: VND_SIMULATORS, or where make puts it.
func Folder() string {
	if f := os.Getenv("VND_SIMULATORS"); f != "" {
		return f
	}
	return filepath.Join("build", "simulators")
}

// Process is a program that runs. It is for one goroutine.
type Process struct {
	name           string
	command        *exec.Cmd
	socket         *os.File
	said           bytes.Buffer // on its standard error
	broken         bool         // it has ended, or is of no use
	request, reply []byte
	answer         []float64
}

// patience is how long a program may be silent: a simulator compiles itself at its first step.
const patience = 2 * time.Minute

// ErrNotInstalled says what to do where a program, or what it imports, is not there.
var ErrNotInstalled = errors.New("make simulators installs it")

// Start returns a process when it is ready. python is the interpreter.
func (g *Program) Start(python string) (*Process, error) {
	if _, err := os.Stat(python); err != nil {
		return nil, fmt.Errorf("no %s here (%w): %w", g.Name, err, ErrNotInstalled)
	}
	python, err := filepath.Abs(python)
	if err != nil {
		return nil, err
	}
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	p := &Process{name: g.Name, socket: os.NewFile(uintptr(ends[0]), g.Name), request: make([]byte, 8*g.Request),
		reply: make([]byte, 8*g.Reply), answer: make([]float64, g.Reply)}
	theirs := os.NewFile(uintptr(ends[1]), g.Name)
	p.command = exec.Command(python, "-c", g.Source, g.Name)
	p.command.Dir = os.TempDir() // MuJoCo writes its log where it runs
	p.command.Stderr, p.command.ExtraFiles = &p.said, []*os.File{theirs}
	p.command.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",
		"XLA_FLAGS=--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
	err = errors.Join(p.command.Start(), theirs.Close())
	if err != nil {
		return nil, errors.Join(err, p.socket.Close())
	}
	if err := p.receive(); err != nil {
		_ = p.Close() // it has ended
		if strings.Contains(p.said.String(), "ModuleNotFoundError") {
			err = fmt.Errorf("%w: %w", err, ErrNotInstalled)
		}
		return nil, err
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

// Ask sends a request, filled up with zeros, and returns the reply. It is valid until the next.
func (p *Process) Ask(numbers ...float64) ([]float64, error) {
	clear(p.request)
	for i, x := range numbers {
		binary.LittleEndian.PutUint64(p.request[8*i:], math.Float64bits(x))
	}
	if _, err := p.socket.Write(p.request); err != nil {
		return nil, p.ended(err)
	}
	if err := p.receive(); err != nil {
		return nil, err
	}
	for i := range p.answer {
		p.answer[i] = math.Float64frombits(binary.LittleEndian.Uint64(p.reply[8*i:]))
	}
	return p.answer, nil
}

// receive waits for a reply.
func (p *Process) receive() error {
	if err := p.socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := io.ReadFull(p.socket, p.reply)
	return p.ended(err)
}

// ended adds to an error the last line that the program said.
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

// Pool starts processes of one program, and keeps those that are given back: a start takes seconds. They end with the
// process that started them.
type Pool struct {
	Program

	mu   sync.Mutex
	idle []*Process
}

// Take returns one that is ready.
func (l *Pool) Take() (*Process, error) {
	l.mu.Lock()
	if n := len(l.idle); n > 0 {
		defer l.mu.Unlock()
		p := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return p, nil
	}
	l.mu.Unlock() // others start theirs meanwhile
	return l.Start(filepath.Join(Folder(), "bin", "python"))
}

// Give takes one back, or ends it if it is of no use.
func (l *Pool) Give(p *Process) error {
	if p.broken {
		return p.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, p)
	return nil
}
