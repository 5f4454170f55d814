// Package link sends sticks to a board with Betaflight in a receiver's place, over MSP, CRSF or SBUS, and takes its
// telemetry. A Supervisor decides when the board is armed and when nothing may go out.
package link

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"go.bug.st/serial"

	"vnd/pkg/bridge/betaflight/receiver"
)

// Protocols of the sticks.
const (
	MSP  = "msp"
	CRSF = "crsf"
	SBUS = "sbus"
)

// Port is a line to a board.
type Port interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
}

// Open opens a port: tcp:HOST:PORT, or a serial device at the protocol's speed.
func Open(name, protocol string) (Port, error) {
	const longest = 5 * time.Second
	if address, ok := strings.CutPrefix(name, "tcp:"); ok {
		c, err := net.DialTimeout("tcp", address, longest)
		if err != nil {
			return nil, fmt.Errorf("no board at %s: %w", name, err)
		}
		return c, c.(*net.TCPConn).SetNoDelay(true)
	}
	held, err := hold(name)
	if err != nil {
		return nil, fmt.Errorf("no board at %s: %w", name, explained(err))
	}
	p, err := serial.Open(name, modeOf(protocol))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("no board at %s: %w", name, explained(err)), held.Close())
	}
	return &line{Port: p, held: held}, nil
}

// hold takes a device, unless another program holds it. What the kernel refuses to other users, root may open twice.
func hold(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// explained says what to do about a device that does not open.
func explained(err error) error {
	var of *serial.PortError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such device: expected a serial device, or tcp:HOST:PORT")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("this user may not open it: expected a member of the device's group, often dialout")
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EBUSY):
		return errors.New("another program has it open: end that first")
	case errors.As(err, &of) && of.Code() == serial.InvalidSerialPort:
		return errors.New("it is no serial device: expected one, or tcp:HOST:PORT")
	}
	return err
}

// modeOf is that of a serial line. SBUS is inverted besides, which the line's adapter has to do.
func modeOf(protocol string) *serial.Mode {
	switch protocol {
	case CRSF:
		return &serial.Mode{BaudRate: 420000}
	case SBUS:
		return &serial.Mode{BaudRate: 100000, Parity: serial.EvenParity, StopBits: serial.TwoStopBits}
	}
	return &serial.Mode{BaudRate: 115200}
}

// line is a serial port with deadlines.
type line struct {
	serial.Port
	held     *os.File // the device, so that no other program of ours opens it
	deadline time.Time
}

// Close closes the device.
func (l *line) Close() error { return errors.Join(l.Port.Close(), l.held.Close()) }

// SetReadDeadline implements Port; a deadline of zero is none.
func (l *line) SetReadDeadline(t time.Time) error {
	l.deadline = t
	return nil
}

// Read returns os.ErrDeadlineExceeded at the deadline.
func (l *line) Read(p []byte) (int, error) {
	wait := serial.NoTimeout
	if !l.deadline.IsZero() {
		wait = max(time.Until(l.deadline), time.Millisecond)
	}
	if err := l.SetReadTimeout(wait); err != nil {
		return 0, err
	}
	n, err := l.Port.Read(p)
	if n == 0 && err == nil {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// Channels are pulses of all channels, µs: roll, pitch, throttle, yaw, and switches.
type Channels [receiver.Channels]float64

// Sender puts channels on a wire. It is for one goroutine.
type Sender interface {
	Send(c *Channels) error
}

// NewSender sends over a port by a protocol; for MSP, Dial a Board.
func NewSender(p io.Writer, protocol string) (Sender, error) {
	switch protocol {
	case CRSF, SBUS:
		return &frames{port: p, sbus: protocol == SBUS}, nil
	}
	return nil, errors.New("protocol " + protocol + " has no frames of a receiver")
}

// frames are those of a receiver.
type frames struct {
	port   io.Writer
	sbus   bool
	dither receiver.Dither
	out    []byte
}

// Send implements Sender.
func (f *frames) Send(c *Channels) error {
	us := (*[receiver.Channels]float64)(c)
	if f.sbus {
		s := receiver.SBUSFrame{Ticks: f.dither.Round(receiver.SBUS, us)}
		f.out = receiver.AppendSBUS(f.out[:0], &s)
	} else {
		t := f.dither.Round(receiver.CRSF, us)
		f.out = receiver.AppendCRSF(f.out[:0], &t)
	}
	_, err := f.port.Write(f.out)
	return err
}
