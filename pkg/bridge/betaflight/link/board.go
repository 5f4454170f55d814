package link

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"vnd/pkg/bridge/betaflight/msp"
	"vnd/pkg/bridge/betaflight/receiver"
)

// Telemetry is what a board told of itself, with the times at which it did.
type Telemetry struct {
	Status     msp.Status
	StatusAt   time.Time // zero: never
	Attitude   msp.Attitude
	AttitudeAt time.Time
	Battery    msp.Battery
	BatteryAt  time.Time
	Mode       receiver.Mode // over CRSF alone
	ModeAt     time.Time
	Link       float64 // quality of a transmitter's, 0 … 1; over CRSF alone
	LinkAt     time.Time
	Sent       uint64 // frames of sticks
	Answered   uint64
	Skipped    uint64 // because the board had not answered those before
	Refused    uint64 // requests
}

// Board is one that speaks MSP. Send and Ask are for one goroutine, Telemetry for any.
type Board struct {
	port  Port
	left  [receiver.Channels]float64 // what rounding to µs has left
	out   []byte
	ended chan struct{}

	mu      sync.Mutex
	newest  Telemetry
	answers map[uint16]chan []byte
	err     error

	unanswered      int       // frames of sticks
	began, answered time.Time // the first of these, and the newest answer
}

// NewBoard speaks MSP over a port, and reads from it until the board is closed.
func NewBoard(p Port) *Board {
	b := &Board{port: p, ended: make(chan struct{}), answers: map[uint16]chan []byte{}}
	go b.read()
	return b
}

// Close closes the port.
func (b *Board) Close() error {
	err := b.port.Close()
	<-b.ended
	return err
}

// Ended is closed where the board is gone.
func (b *Board) Ended() <-chan struct{} { return b.ended }

// Telemetry is what the board told.
func (b *Board) Telemetry() Telemetry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

// Err is why nothing is read any more; nil while it is.
func (b *Board) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// waiting counts a frame that goes out, or reports that too many are unanswered: in the board's queue they would only
// delay the newer ones.
func (b *Board) waiting() bool {
	const most, lost = 3, 50 * time.Millisecond // an answer that takes so long does not come
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.answered) > lost && now.Sub(b.began) > lost {
		b.unanswered = 0
	}
	if b.unanswered == most {
		b.newest.Skipped++
		return true
	}
	if b.unanswered == 0 {
		b.began = now
	}
	b.unanswered++
	b.newest.Sent++
	return false
}

// Send implements Sender. A frame is skipped where the board has not answered those before.
func (b *Board) Send(c *Channels) error {
	if b.waiting() {
		return nil
	}
	var us [receiver.Channels]uint16
	for i, want := range c {
		want += b.left[i]
		us[i] = uint16(max(0, min(math.MaxUint16, math.Round(want))))
		b.left[i] = max(-1, min(1, want-float64(us[i])))
	}
	return b.request(msp.SetRawRC, msp.Channels(us[:]))
}

// Poll asks for telemetry; what comes is in Telemetry.
func (b *Board) Poll(command uint16) error { return b.request(command, nil) }

func (b *Board) request(command uint16, payload []byte) (err error) {
	f := msp.Frame{Direction: msp.Request, Command: command, Payload: payload}
	if b.out, err = f.Append(b.out[:0]); err != nil {
		return err
	}
	_, err = b.port.Write(b.out)
	return err
}

// Ask asks and waits for the answer.
func (b *Board) Ask(command uint16, patience time.Duration) ([]byte, error) {
	answer := make(chan []byte, 1)
	b.mu.Lock()
	b.answers[command] = answer
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.answers, command)
		b.mu.Unlock()
	}()
	if err := b.request(command, nil); err != nil {
		return nil, err
	}
	select {
	case p, ok := <-answer:
		if !ok {
			return nil, fmt.Errorf("the board refuses MSP command %d", command)
		}
		return p, nil
	case <-b.ended:
		return nil, b.Err()
	case <-time.After(patience):
		return nil, fmt.Errorf("the board does not answer MSP command %d within %s: is MSP set on this port, and its "+
			"command line closed?", command, patience)
	}
}

// read takes what the board says.
func (b *Board) read() {
	defer close(b.ended)
	var d msp.Decoder
	part := make([]byte, 1024)
	for {
		n, err := b.port.Read(part)
		d.Feed(part[:n], b.take)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			b.mu.Lock()
			b.err = fmt.Errorf("the board is gone: %w", err)
			b.mu.Unlock()
			return
		}
	}
}

// Listen takes telemetry in CRSF that comes on the sticks' port, until that is closed.
func (b *Board) Listen(p Port) {
	var d receiver.CRSFDecoder
	part := make([]byte, 256)
	for {
		n, err := p.Read(part)
		d.Feed(part[:n], b.takeCRSF)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// takeCRSF takes a frame of telemetry. What MSP tells is finer, and is kept while it is new.
func (b *Board) takeCRSF(f *receiver.CRSFFrame) {
	const fresh = time.Second
	b.mu.Lock()
	defer b.mu.Unlock()
	now, t := time.Now(), &b.newest
	if q, ok := f.LinkQuality(); ok {
		t.Link, t.LinkAt = q, now
	}
	if m, ok := f.Mode(); ok {
		t.Mode, t.ModeAt = m, now
	}
	if a, ok := f.Attitude(); ok && now.Sub(t.AttitudeAt) > fresh {
		t.Attitude, t.AttitudeAt = a, now
	}
	if x, ok := f.Battery(); ok && now.Sub(t.BatteryAt) > fresh {
		x.Cells = t.Battery.Cells
		t.Battery, t.BatteryAt = x, now
	}
}

// take takes a frame of the board's.
func (b *Board) take(f *msp.Frame) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer := b.answers[f.Command]; answer != nil {
		if f.Direction == msp.Reply {
			answer <- append([]byte(nil), f.Payload...)
		} else {
			close(answer)
		}
		delete(b.answers, f.Command)
	}
	if f.Direction != msp.Reply {
		b.newest.Refused++
		return
	}
	now, t := time.Now(), &b.newest
	switch f.Command {
	case msp.SetRawRC:
		t.Answered++
		b.unanswered, b.answered = max(b.unanswered-1, 0), now
	case msp.StatusEx:
		if s, err := msp.ParseStatus(f.Payload); err == nil {
			t.Status, t.StatusAt = s, now
		}
	case msp.AttitudeAsked:
		if a, err := msp.ParseAttitude(f.Payload); err == nil {
			t.Attitude, t.AttitudeAt = a, now
		}
	case msp.BatteryState:
		if x, err := msp.ParseBattery(f.Payload); err == nil {
			t.Battery, t.BatteryAt = x, now
		}
	}
}
