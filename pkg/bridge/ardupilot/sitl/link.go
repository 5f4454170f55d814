package sitl

import (
	"fmt"
	"net"
	"sync"
	"time"

	"vnd/pkg/bridge/ardupilot/mavlink"
)

// Link is a line to the firmware, and what came over it.
type Link struct {
	conn net.Conn

	sends sync.Mutex
	to    mavlink.Writer

	mu     sync.Mutex
	beat   mavlink.Heartbeat
	volts  float64
	params map[string]mavlink.ParamValue
	acks   map[uint16]uint8 // MAV_RESULT by command
	texts  []string
	lost   bool // it has ended, or the line is cut
}

// firmware is the system that a vehicle has by default, and its component.
const firmware = 1

// NewLink listens to the firmware at the other end, until that ends.
func NewLink(conn net.Conn) *Link {
	const system, companion = 1, 191 // mavros' own, where nothing else is set
	l := &Link{conn: conn, to: mavlink.Writer{To: conn, System: system, Component: companion},
		params: map[string]mavlink.ParamValue{}, acks: map[uint16]uint8{}}
	go l.listen()
	return l
}

func (l *Link) listen() {
	r := mavlink.NewReader(l.conn)
	for {
		m, err := r.Read()
		if err != nil {
			l.mu.Lock()
			l.lost = true
			l.mu.Unlock()
			return
		}
		l.take(m)
	}
}

func (l *Link) take(m mavlink.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m := m.(type) {
	case *mavlink.Heartbeat:
		l.beat = *m
	case *mavlink.SysStatus:
		l.volts = float64(m.Voltage) / 1000
	case *mavlink.ParamValue:
		l.params[mavlink.Text(m.Name[:])] = *m
	case *mavlink.CommandAck:
		l.acks[m.Command] = m.Result
	case *mavlink.StatusText:
		l.texts = append(l.texts, mavlink.Text(m.Text[:]))
	}
}

func (l *Link) send(m mavlink.Message) error {
	l.sends.Lock()
	defer l.sends.Unlock()
	return l.to.Write(m)
}

// Modes of ArduPilot Copter.
const (
	Guided      = 4
	Land        = 9
	GuidedNoGPS = 20
)

// State is the mode that it flies in, and whether it is there and armed.
func (l *Link) State() (mode uint32, there, armed bool) {
	const safetyArmed = 128 // MAV_MODE_FLAG_SAFETY_ARMED
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beat.CustomMode, l.beat.Type != 0 && !l.lost, l.beat.BaseMode&safetyArmed != 0
}

// Volts is the battery's voltage.
func (l *Link) Volts() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.volts
}

// Parameter is the value of a parameter, as it came last.
func (l *Link) Parameter(name string) (v mavlink.ParamValue, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, known = l.params[name]
	return v, known
}

// Texts are what the firmware said to people.
func (l *Link) Texts() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.texts...)
}

// Ask asks for a parameter.
func (l *Link) Ask(name string) error {
	return l.send(&mavlink.ParamRequestRead{Index: -1, System: firmware, Component: firmware,
		Name: mavlink.Name(name)})
}

// Set sets a parameter, which the firmware then says.
func (l *Link) Set(name string, value float32) error {
	const float = 9 // MAV_PARAM_TYPE_REAL32
	return l.send(&mavlink.ParamSet{Value: value, System: firmware, Component: firmware,
		Name: mavlink.Name(name), Type: float})
}

// Enter has it enter a mode.
func (l *Link) Enter(mode uint32) error {
	const custom = 1 // MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
	return l.send(&mavlink.SetMode{CustomMode: mode, System: firmware, BaseMode: custom})
}

// Order gives an order. Result is of what was ordered by that number last.
func (l *Link) Order(command uint16, params ...float32) error {
	l.mu.Lock()
	delete(l.acks, command)
	l.mu.Unlock()
	m := &mavlink.CommandLong{Command: command, System: firmware, Component: firmware}
	copy(m.Params[:], params)
	return l.send(m)
}

// Result is the answer to an order, MAV_RESULT.
func (l *Link) Result(command uint16) (result uint8, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	result, answered = l.acks[command]
	return result, answered
}

// Aim sends a setpoint.
func (l *Link) Aim(m *mavlink.SetAttitudeTarget) error {
	m.System, m.Component = firmware, firmware
	return l.send(m)
}

// Close ends the line.
func (l *Link) Close() error { return l.conn.Close() }

// Beat says that a companion computer is there, as mavros does.
func (l *Link) Beat() error {
	const companion, invalid, version = 18, 8, 3
	return l.send(&mavlink.Heartbeat{Type: companion, Autopilot: invalid, Mavlink: version})
}

// accept waits for the firmware to connect.
func accept(serial *net.TCPListener) (*Link, error) {
	if err := serial.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	conn, err := serial.Accept()
	if err != nil {
		return nil, fmt.Errorf("the firmware does not connect: %w", err)
	}
	return NewLink(conn), nil
}
