// Package sitl is Betaflight's firmware as a process of this machine, in lockstep with a simulation.
//
// The firmware is the target SITL of its sources, unchanged. A library that is loaded before it (lockstep/lockstep.c)
// turns its clock, so that a flight is the same however busy the machine is. It also gives the firmware a loopback
// address of its own, so that many fly beside one another.
package sitl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"vnd/pkg/core/attached"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Ports of the firmware.
const (
	motorsPort = 9002
	statePort  = 9003
	sticksPort = 9004
	// SerialPort is of its first serial line, which speaks MSP and has the command line.
	SerialPort = 5761
)

// patience is how long the firmware may take to answer a state packet, on the wall: it starts, or the machine is busy.
const patience = 20 * time.Second

// Process is a firmware that runs. It is for one goroutine.
type Process struct {
	Address netip.Addr // it has the ports of
	command *exec.Cmd
	ended   chan error
	conn    *net.UDPConn
	state   netip.AddrPort
	sticks  netip.AddrPort
	time    float64 // simulated, s since the end of the boot
	packet  [stateSize]byte
	frame   [sticksSize]byte
	answer  [256]byte
	motors  [4]float64
}

const (
	stateSize  = 18 * 8
	channels   = 16
	sticksSize = 8 + 2*channels
)

// Folder is where the firmware lies: VND_BETAFLIGHT, or where make puts it.
func Folder() string {
	if f := os.Getenv("VND_BETAFLIGHT"); f != "" {
		return f
	}
	return filepath.Join("build", "betaflight")
}

// Built says in one line why a folder has no firmware that can be started; nil where it has.
func Built(folder string) error {
	for _, file := range []string{"betaflight_SITL", "lockstep.so"} {
		if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
			return fmt.Errorf("no firmware of Betaflight here (%w): make betaflight builds it", err)
		}
	}
	return nil
}

// Start runs the firmware of a folder with the settings in another, where it keeps its eeprom and its log, at a
// loopback address, or at one that nobody has. It returns when the firmware has booted.
func Start(folder, settings string, at netip.Addr) (*Process, error) {
	if err := Built(folder); err != nil {
		return nil, err
	}
	p := &Process{ended: make(chan error, 1)}
	if err := p.listen(at); err != nil {
		return nil, err
	}
	if err := p.run(folder, settings); err != nil {
		return nil, errors.Join(err, p.conn.Close())
	}
	if err := p.receive(); err != nil {
		return nil, errors.Join(fmt.Errorf("the firmware does not boot: %w", err), p.Close())
	}
	return p, nil
}

// listen takes a loopback address, or one that nobody has.
func (p *Process) listen(at netip.Addr) error {
	var err error
	for range 20 {
		a, n := at, rand.Uint32()
		if !at.IsValid() {
			a = netip.AddrFrom4([4]byte{127, byte(1 + n%254), byte(n >> 8), byte(1 + (n>>16)%254)})
		}
		if p.conn, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, motorsPort))); err == nil {
			p.Address = a
			p.state, p.sticks = netip.AddrPortFrom(a, statePort), netip.AddrPortFrom(a, sticksPort)
			return nil
		}
	}
	return fmt.Errorf("no loopback address for the firmware: %w", err)
}

func (p *Process) run(folder, settings string) error {
	binary, err := filepath.Abs(filepath.Join(folder, "betaflight_SITL"))
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(settings, "betaflight.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p.command = exec.Command(binary, p.Address.String())
	p.command.Dir = settings
	p.command.Stdout, p.command.Stderr = log, log
	p.command.Env = []string{"LD_PRELOAD=" + filepath.Join(filepath.Dir(binary), "lockstep.so"),
		"VND_SITL_ADDRESS=" + p.Address.String()}
	return p.begin()
}

// begin starts the process. Where that ends, its address is free before it counts as ended.
func (p *Process) begin() error {
	if err := attached.Start(p.command, syscall.SIGKILL); err != nil {
		return err
	}
	go func() {
		err := p.command.Wait()
		p.conn.Close() // ends a wait for its answer, too
		p.ended <- err
	}()
	return nil
}

// Time is simulated, s since the end of the boot.
func (p *Process) Time() float64 { return p.time }

// Step lets h seconds pass with a state of attitude and position, gyroscope ω_B in rad/s and accelerometer f_B in m/s².
// It returns what the firmware drives the motors at, 0 … 1: front right, rear left, front left, rear right.
func (p *Process) Step(s quad.State, gyro, accel so3.Vec3, h float64) ([4]float64, error) {
	p.time += h
	p.put(&s, gyro, accel)
	if _, err := p.conn.WriteToUDPAddrPort(p.packet[:], p.state); err != nil {
		return p.motors, p.reason(err)
	}
	err := p.receive()
	return p.motors, err
}

// put fills the packet of a state. Rates, specific force and attitude are of a body whose z points down (FRD), as
// Gazebo's plugin has them; the firmware turns them back. Pressure is that of sea level.
func (p *Process) put(s *quad.State, gyro, accel so3.Vec3) {
	const pressure = 101325 // Pa
	for i, x := range [stateSize / 8]float64{p.time, gyro.X, -gyro.Y, -gyro.Z, -accel.X, -accel.Y, -accel.Z,
		s.Q.W, s.Q.X, -s.Q.Y, -s.Q.Z, s.V.X, s.V.Y, s.V.Z, s.P.X, s.P.Y, s.P.Z, pressure} {
		binary.LittleEndian.PutUint64(p.packet[8*i:], math.Float64bits(x))
	}
}

// Sticks sets the receiver's channels, µs, from the next Step on.
func (p *Process) Sticks(us [channels]uint16) error {
	binary.LittleEndian.PutUint64(p.frame[:], math.Float64bits(p.time))
	for i, x := range us {
		binary.LittleEndian.PutUint16(p.frame[8+2*i:], x)
	}
	_, err := p.conn.WriteToUDPAddrPort(p.frame[:], p.sticks)
	return p.reason(err)
}

// receive waits for the motors' outputs.
func (p *Process) receive() error {
	if err := p.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return p.reason(err)
	}
	n, _, err := p.conn.ReadFromUDPAddrPort(p.answer[:])
	if err != nil {
		return p.reason(err)
	}
	if n != 4*len(p.motors) {
		return fmt.Errorf("motor outputs of %d bytes, expected %d: is this Betaflight's SITL?", n, 4*len(p.motors))
	}
	for i := range p.motors {
		p.motors[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(p.answer[4*i:])))
	}
	return nil
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

// Dial connects to the firmware's first serial line.
func (p *Process) Dial() (net.Conn, error) {
	return net.Dial("tcp4", netip.AddrPortFrom(p.Address, SerialPort).String())
}

// Close ends the firmware.
func (p *Process) Close() error {
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.wait()
}

// wait waits for the firmware's end, which a kill or a call for a restart brings.
func (p *Process) wait() error {
	select {
	case err := <-p.ended:
		p.ended <- err
		return nil
	case <-time.After(patience):
		return errors.New("the firmware does not end")
	}
}

// logged are the last lines that the firmware wrote.
func logged(settings string) string {
	data, err := os.ReadFile(filepath.Join(settings, "betaflight.log"))
	if err != nil {
		return err.Error()
	}
	const most = 400
	return strings.TrimSpace(string(data[max(0, len(data)-most):]))
}
