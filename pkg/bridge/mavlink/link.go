package mavlink

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Link is a line to the firmware, and what came over it.
type Link struct {
	conn net.Conn

	sends sync.Mutex
	to    Writer

	mu     sync.Mutex
	beat   Heartbeat
	volts  float64
	params map[string]Setting
	acks   map[uint16]uint8 // MAV_RESULT by command
	texts  []string
	pings  uint32
	pong   chan uint32 // the sequences of answers
	lost   bool        // it has ended, or the line is cut
}

// firmware is the system that a vehicle has by default, and its component.
const firmware = 1

// NewLink listens to the firmware at the other end, until that ends.
func NewLink(conn net.Conn) *Link {
	const system, companion = 1, 191 // mavros' own, where nothing else is set
	l := &Link{conn: conn, to: Writer{To: conn, System: system, Component: companion},
		params: map[string]Setting{}, acks: map[uint16]uint8{}, pong: make(chan uint32, 16)}
	go l.listen()
	return l
}

func (l *Link) listen() {
	r := NewReader(l.conn)
	for {
		m, err := r.Read()
		if err != nil {
			l.mu.Lock()
			l.lost = true
			close(l.pong)
			l.mu.Unlock()
			return
		}
		l.take(m)
	}
}

func (l *Link) take(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m := m.(type) {
	case *Heartbeat:
		l.beat = *m
	case *SysStatus:
		l.volts = float64(m.Voltage) / 1000
	case *ParamValue:
		l.params[Text(m.Name[:])] = m.setting(l.beat.Autopilot == px4)
	case *CommandAck:
		l.acks[m.Command] = m.Result
	case *Ping:
		if m.System != 0 { // an answer
			select {
			case l.pong <- m.Sequence:
			default: // nobody waits
			}
		}
	case *StatusText:
		const most = 20
		l.texts = append(l.texts[max(0, len(l.texts)+1-most):], Text(m.Text[:]))
	}
}

func (l *Link) send(m Message) error {
	l.sends.Lock()
	defer l.sends.Unlock()
	return l.to.Write(m)
}

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
func (l *Link) Parameter(name string) (s Setting, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known = l.params[name]
	return s, known
}

// Texts are what the firmware said to people last.
func (l *Link) Texts() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.texts...)
}

// Ask asks for a parameter.
func (l *Link) Ask(name string) error {
	return l.send(&ParamRequestRead{Index: -1, System: firmware, Component: firmware,
		Name: Name(name)})
}

// Set sets a parameter, which the firmware then says.
func (l *Link) Set(name string, value float32) error {
	const float = 9 // MAV_PARAM_TYPE_REAL32
	return l.send(&ParamSet{Value: value, System: firmware, Component: firmware,
		Name: Name(name), Type: float})
}

// Enter has it enter a mode.
func (l *Link) Enter(mode uint32) error {
	const custom = 1 // MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
	return l.send(&SetMode{CustomMode: mode, System: firmware, BaseMode: custom})
}

// Order gives an order. Result is of what was ordered by that number last.
func (l *Link) Order(command uint16, params ...float32) error {
	l.mu.Lock()
	delete(l.acks, command)
	l.mu.Unlock()
	m := &CommandLong{Command: command, System: firmware, Component: firmware}
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
func (l *Link) Aim(m *SetAttitudeTarget) error {
	m.System, m.Component = firmware, firmware
	return l.send(m)
}

// Settle waits until the firmware has taken what was sent: it answers in turn.
func (l *Link) Settle() error {
	l.mu.Lock()
	l.pings++
	want := l.pings
	l.mu.Unlock()
	if err := l.send(&Ping{Sequence: want}); err != nil {
		return err
	}
	const patience = 20 * time.Second // on the wall: the machine is busy
	for late := time.After(patience); ; {
		select {
		case got, open := <-l.pong:
			switch {
			case !open:
				return ErrLost
			case got == want:
				return nil
			}
		case <-late:
			return fmt.Errorf("the firmware answers no ping within %v", patience)
		}
	}
}

// ErrLost is of a line whose other end has ended.
var ErrLost = errors.New("the line to the firmware has ended")

// Close ends the line.
func (l *Link) Close() error { return l.conn.Close() }

// Beat says that a companion computer is there, as mavros does.
func (l *Link) Beat() error {
	const companion, invalid, version = 18, 8, 3
	return l.send(&Heartbeat{Type: companion, Autopilot: invalid, Mavlink: version})
}
