// Package sitl is ArduPilot Copter's firmware as a process of this machine, in lockstep with a simulation: its SITL,
// unchanged, behind the simulator interface "JSON". Its clock is the simulation's.
package sitl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/mavlink/lockstep"
	"vnd/pkg/core/attached"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// patience is how long the firmware may take to answer, on the wall: it starts, or the machine is busy.
const patience = 20 * time.Second

// Process is a firmware that runs. It is for one goroutine.
type Process struct {
	command *exec.Cmd
	ended   chan error
	conn    *net.UDPConn
	peer    *net.UDPAddr // nil: it has said nothing
	folder  string
	time    float64 // simulated, s
	frame   uint32  // of its last packet
	text    []byte
	answer  [256]byte
	motors  [4]float64

	patience time.Duration // the longest wait for an answer
}

// Binary is where the firmware lies, as VND_ARDUPILOT says.
func Binary() (string, error) {
	path := os.Getenv("VND_ARDUPILOT")
	if path == "" {
		return "", errors.New("VND_ARDUPILOT is not set: expected the path of arducopter, ArduPilot's SITL")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("VND_ARDUPILOT: %w", err)
	}
	return filepath.Abs(path)
}

// start runs the firmware with the parameters of defaults.parm in a folder, where it keeps its storage and its log. Its
// first serial line connects to a listener; its second one listens at a port of the loopback, where that is not 0.
func start(binary, folder string, serial net.Listener, second int) (*Process, error) {
	p := &Process{ended: make(chan error, 1), folder: folder, patience: patience}
	var err error
	if p.conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "ardupilot.log"))
	if err != nil {
		return nil, errors.Join(err, p.conn.Close())
	}
	defer log.Close()
	other := "none:"
	if second != 0 {
		other = fmt.Sprint("tcp:", second)
	}
	_, state, _ := net.SplitHostPort(p.conn.LocalAddr().String())
	p.command = exec.Command(binary, "--model", "JSON:127.0.0.1", "--sim-port-out", state,
		"--serial0", "tcpclient:"+serial.Addr().String(), "--serial1", other, "--serial2", "none:",
		"--rc-in-port", "0", "--wipe", "--speedup", "1000", "--home", "47,8,0,0", "--defaults", "defaults.parm")
	p.command.Dir = folder
	p.command.Stdout, p.command.Stderr = log, log
	if err := attached.Start(p.command, syscall.SIGKILL); err != nil {
		return nil, errors.Join(err, p.conn.Close())
	}
	go func() {
		err := p.command.Wait()
		p.conn.Close() // ends a wait for its answer, too
		p.ended <- err
	}()
	if err := p.receive(); err != nil { // its first packet asks for a state
		return nil, errors.Join(fmt.Errorf("the firmware does not boot: %w; it wrote: %s", err, p.logged()), p.Close())
	}
	return p, nil
}

// Step lets h seconds pass with a state, gyroscope ω_B in rad/s and accelerometer f_B in m/s². It returns what the
// firmware drives the motors at, 0 … 1: front right, rear left, front left, rear right.
func (p *Process) Step(s quad.State, gyro, accel so3.Vec3, h float64) ([4]float64, error) {
	p.time += h
	if err := p.send(s, gyro, accel); err != nil {
		return p.motors, err
	}
	return p.motors, p.receive()
}

// send sends a line of JSON: positions and velocities in NED, the body FRD.
func (p *Process) send(s quad.State, gyro, accel so3.Vec3) error {
	w, f := bridge.SwapBody(gyro), bridge.SwapBody(accel)
	n := bridge.SwapState(s)
	p.text = fmt.Appendf(p.text[:0], "\n"+`{"timestamp":%.6f,"imu":{"gyro":[%.7f,%.7f,%.7f],`+
		`"accel_body":[%.6f,%.6f,%.6f]},"position":[%.6f,%.6f,%.6f],"quaternion":[%.8f,%.8f,%.8f,%.8f],`+
		`"velocity":[%.6f,%.6f,%.6f]}`+"\n", p.time, w.X, w.Y, w.Z, f.X, f.Y, f.Z, n.P.X, n.P.Y, n.P.Z,
		n.Q.W, n.Q.X, n.Q.Y, n.Q.Z, n.V.X, n.V.Y, n.V.Z)
	_, err := p.conn.WriteToUDP(p.text, p.peer)
	return p.reason(err)
}

// receive waits for the motors' outputs.
func (p *Process) receive() error {
	const magic, channels = 18458, 16
	if err := p.conn.SetReadDeadline(time.Now().Add(p.patience)); err != nil {
		return p.reason(err)
	}
	for {
		n, from, err := p.conn.ReadFromUDP(p.answer[:])
		if err != nil {
			return p.reason(err)
		}
		if n != 8+2*channels || binary.LittleEndian.Uint16(p.answer[:]) != magic {
			return fmt.Errorf("%d bytes of motor outputs: is this ArduPilot's SITL?", n)
		}
		frame := binary.LittleEndian.Uint32(p.answer[4:])
		if p.peer != nil && frame == p.frame { // sent again: the answer was late
			continue
		}
		p.peer, p.frame = from, frame
		for i := range p.motors {
			p.motors[i] = float64(binary.LittleEndian.Uint16(p.answer[8+2*i:]))/1000 - 1
		}
		return nil
	}
}

// ErrEnded is of a firmware that runs no more.
var ErrEnded = errors.New("the firmware has ended")

// reason is an error, or why the firmware ended.
func (p *Process) reason(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return ErrEnded
	}
	return err
}

// Close ends the firmware.
func (p *Process) Close() error {
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return lockstep.AwaitEnd(p.ended, patience)
}

// logged are the last lines that the firmware wrote.
func (p *Process) logged() string {
	return lockstep.LastWords(filepath.Join(p.folder, "ardupilot.log"))
}
