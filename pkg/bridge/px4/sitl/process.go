// Package sitl is PX4's firmware as a process of this machine, in lockstep with a simulation: its SITL, unchanged,
// behind simulator_mavlink. Its clock is the simulation's.
package sitl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/bridge/mavlink/lockstep"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// patience is how long the firmware may take to answer, on the wall: it starts, or the machine is busy.
const patience = 20 * time.Second

// Binary is where the firmware lies, as VND_PX4 says, with the programs px4-… beside it.
func Binary() (string, error) {
	path := os.Getenv("VND_PX4")
	if path == "" {
		return "", errors.New("VND_PX4 is not set: expected the path of px4, PX4's SITL")
	}
	for _, file := range [...]string{path, filepath.Join(filepath.Dir(path), "px4-param")} {
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("VND_PX4: %w", err)
		}
	}
	return filepath.Abs(path)
}

// process is a firmware that runs: a lockstep.Process.
type process struct {
	command          *exec.Cmd
	ended            chan error
	simulator        *net.TCPListener
	conn             net.Conn
	to               mavlink.Writer
	answers          chan *mavlink.HilActuatorControls
	folder           string
	noise            *rand.Rand
	time             uint64 // simulated, µs
	seen             uint64 // µs, when it saw the state last
	last             quad.State
	answered, missed int // how often in all; how often not, in turn
	motors           [4]float64
}

// start runs the firmware in a folder with its startup script, start.sh. It connects to a listener, which is its own
// from now on.
func start(binary, folder string, simulator *net.TCPListener) (*process, error) {
	p := &process{ended: make(chan error, 1), folder: folder, simulator: simulator, noise: rand.New(rand.NewPCG(1, 1)),
		answers: make(chan *mavlink.HilActuatorControls, 64)}
	log, err := os.Create(filepath.Join(folder, "px4.log"))
	if err != nil {
		return nil, errors.Join(err, simulator.Close())
	}
	defer log.Close()
	p.command = exec.Command(binary, "-d", "-i", p.instance(), "-s", "start.sh")
	p.command.Dir = folder
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := simulator.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, errors.Join(err, simulator.Close())
	}
	begun := make(chan error)
	go p.run(begun)
	if err := <-begun; err != nil {
		return nil, errors.Join(err, simulator.Close())
	}
	if p.conn, err = simulator.Accept(); err != nil {
		return nil, errors.Join(fmt.Errorf("the firmware does not connect: %w; it wrote: %s", err, p.logged()),
			p.Close())
	}
	p.to = mavlink.Writer{To: p.conn, System: 1, Component: 1}
	go p.listen()
	return p, nil
}

// instance is a number in the names of a lock and of a socket. Nobody else has it, who listens at another port.
func (p *process) instance() string { return strconv.Itoa(p.simulator.Addr().(*net.TCPAddr).Port) }

// run runs the process. Its threads would go before all others of the machine where root starts it, so that it has no
// right to that. Nor has the thread of ours that starts it, and stays for as long: the process would end with it.
func (p *process) run(begun chan<- error) {
	runtime.LockOSThread()
	const dropBounding, sysNice = 24, 23 // PR_CAPBSET_DROP, CAP_SYS_NICE; refused to who is not root
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, dropBounding, sysNice, 0)
	err := p.command.Start()
	begun <- err
	if err == nil {
		p.ended <- p.command.Wait()
		_ = p.simulator.SetDeadline(time.Now()) // ends a wait for it
	}
}

// listen takes what the firmware drives the motors at, until it ends.
func (p *process) listen() {
	defer close(p.answers)
	for r := mavlink.NewReader(p.conn); ; {
		m, err := r.Read()
		if err != nil {
			return
		}
		if m, ok := m.(*mavlink.HilActuatorControls); ok {
			p.answers <- m
		}
	}
}

// Step implements lockstep.Process.
func (p *process) Step(s quad.State, gyro, accel so3.Vec3, h float64) ([4]float64, error) {
	const seen = 10000 // µs between two views from outside
	if p.time >= p.seen+seen {
		p.seen = p.time
		if err := p.to.Write(view(p.time, bridge.SwapState(p.last))); err != nil {
			return p.motors, p.reason(err)
		}
	}
	p.time += uint64(math.Round(1e6 * h))
	p.last = s
	w, f := bridge.SwapBody(gyro), bridge.SwapBody(accel)
	const turn, force = 2000. / 32768 * math.Pi / 180, quad.Gravity / 2048 // of a bit
	m := &mavlink.HilSensor{Microseconds: p.time, Gyro: p.sampled(w, turn), Accel: p.sampled(f, force),
		Temperature: 20, Updated: 7 | 56}
	if err := p.to.Write(m); err != nil {
		return p.motors, p.reason(err)
	}
	return p.motors, p.receive()
}

// sampled is a vector as a sensor of 16 bits has it, with noise of the last one: PX4 takes a sensor that stands still
// for a broken one. It cuts what is between two bits off, towards 0.
func (p *process) sampled(v so3.Vec3, bit float64) [3]float32 {
	one := func(x float64) float32 {
		n := math.Round(x/bit + p.noise.Float64() - p.noise.Float64())
		return float32(bit * (n + math.Copysign(0.25, n)))
	}
	return [3]float32{one(v.X), one(v.Y), one(v.Z)}
}

// view is a state as motion capture has it, in NED and FRD.
func view(at uint64, s quad.State) *mavlink.Odometry {
	const ned, vision = 1, 2 // MAV_FRAME_LOCAL_NED, MAV_ESTIMATOR_TYPE_VISION
	v := func(v so3.Vec3) [3]float32 { return [3]float32{float32(v.X), float32(v.Y), float32(v.Z)} }
	nan := float32(math.NaN())
	m := &mavlink.Odometry{Microseconds: at, P: v(s.P),
		Q: [4]float32{float32(s.Q.W), float32(s.Q.X), float32(s.Q.Y), float32(s.Q.Z)}, V: v(s.V),
		Rates: [3]float32{nan, nan, nan}, Frame: ned, Child: ned, Estimator: vision, Quality: 100}
	const variance = 1e-4 // m², rad², m²/s²
	for _, diagonal := range [...]int{0, 6, 11, 15, 18, 20} {
		m.PoseCovariance[diagonal], m.VelocityCovariance[diagonal] = variance, variance
	}
	return m
}

// receive waits for the answer to the last state. Until it has answered often the firmware boots, and its clock has to
// go on without answers. Later on it leaves one out where it sets its filters anew.
func (p *process) receive() error {
	const booted, beat, long, most = 200, 5 * time.Millisecond, 500 * time.Millisecond, 40
	wait := long
	if p.answered < booted {
		wait = beat
	}
	for late := time.After(wait); ; {
		select {
		case m, open := <-p.answers:
			if !open {
				return p.reason(net.ErrClosed)
			}
			if m.Microseconds < p.time {
				continue // it came late
			}
			p.answered, p.missed = p.answered+1, 0
			for i := range p.motors {
				p.motors[i] = float64(m.Controls[i])
			}
			return nil
		case <-late:
			if p.missed++; p.answered >= booted && p.missed > most {
				return fmt.Errorf("the firmware does not answer; it wrote: %s", p.logged())
			}
			return nil
		}
	}
}

// reason is an error, or that the firmware ended.
func (p *process) reason(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("the firmware has ended; it wrote: %s", p.logged())
	}
	return err
}

// Close ends the firmware.
func (p *process) Close() error {
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)    // with its startup script
	for _, left := range [...]string{"px4_lock-", "px4-sock-"} { // by a firmware that was killed
		_ = os.Remove(filepath.Join("/tmp", left+p.instance()))
	}
	_ = p.simulator.Close()
	if p.conn != nil {
		_ = p.conn.Close()
		for range p.answers { // that nobody took: listen ends
		}
	}
	return lockstep.AwaitEnd(p.ended, patience)
}

// logged are the last lines that the firmware wrote.
func (p *process) logged() string { return lockstep.LastWords(filepath.Join(p.folder, "px4.log")) }
