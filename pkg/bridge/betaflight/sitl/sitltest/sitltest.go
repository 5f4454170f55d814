// Package sitltest has Betaflight's firmware for tests of what talks to it: a board that rests upright, while time
// passes as on the wall, or slower.
package sitltest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/bridge/betaflight/sitl"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Hover is the throttle that hovers, and Idle the least output of an armed motor.
const (
	Hover = 0.3
	Idle  = 0.055
)

// Thrust is how the board's throttle becomes thrust.
func Thrust() betaflight.Thrust {
	return betaflight.Thrust{Throttle: bridge.Throttle{Hover: Hover, Curve: 1}, Idle: Idle}
}

const step = 0.001 // s, between two states

// Firmware is the board.
type Firmware struct {
	*sitl.Board
	mu          sync.Mutex
	motors      [4]float64
	time        float64     // simulated, s
	transmitter *[16]uint16 // pulses of the receiver's channels, µs; nil: nobody sends any
	stop        chan struct{}
	done        chan struct{}
}

// Folder is where the firmware lies; without one the test is skipped.
func Folder(t *testing.T) string {
	t.Helper()
	folder := sitl.Folder()
	if err := sitl.Built(folder); err != nil {
		t.Skip(err)
	}
	return folder
}

// New starts a board with sticks for rates up to a limit in rad/s, which nobody moves, and more settings; without
// firmware the test is skipped. It ends with the test.
func New(t *testing.T, limit float64, more ...betaflight.Setting) *Firmware {
	t.Helper()
	folder := Folder(t)
	s := betaflight.Sticks{Rates: rates.Linear(limit), MinCheck: 1050, Thrust: Thrust()}
	b, err := sitl.NewBoard(folder, s, append(sitl.Settings(limit), more...))
	if err != nil {
		t.Fatal(err)
	}
	b.Period = 0
	f := &Firmware{Board: b, stop: make(chan struct{}), done: make(chan struct{})}
	if err := b.Reset(quad.State{Q: so3.Identity()}, quad.Command{}); err != nil {
		t.Fatal(err)
	}
	const watches = 6000 // ms: from 5 s after its start on, the firmware's failsafe does
	for range watches {
		if err := f.rest(); err != nil {
			t.Fatal(err)
		}
	}
	go f.run(t)
	t.Cleanup(func() {
		close(f.stop)
		<-f.done
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// rest lets a step pass.
func (f *Firmware) rest() error {
	f.mu.Lock()
	transmitter := f.transmitter
	f.mu.Unlock()
	if transmitter != nil {
		if err := f.Sticks(*transmitter); err != nil {
			return err
		}
	}
	m, err := f.Step(quad.Command{}, quad.State{Q: so3.Identity()}, so3.Vec3{}, so3.Vec3{Z: quad.Gravity}, step)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.motors, f.time = m, f.time+step
	return err
}

func (f *Firmware) run(t *testing.T) {
	defer close(f.done)
	const most = 5 * time.Millisecond // that is caught up with
	for next := time.Now(); ; next = next.Add(time.Millisecond) {
		select {
		case <-f.stop:
			return
		case <-time.After(time.Until(next)):
		}
		if time.Since(next) > most {
			next = time.Now()
		}
		if err := f.rest(); err != nil {
			if !errors.Is(err, sitl.ErrEnded) { // as a test may have it do
				t.Error(err)
			}
			return
		}
	}
}

// Transmit sets the pulses of a receiver's first channels, µs, which go out from now on; the others are low.
func (f *Firmware) Transmit(us ...uint16) {
	var all [16]uint16
	for i := range all {
		all[i] = betaflight.Low
	}
	copy(all[:], us)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.transmitter = &all
}

// Now is what drives the motors, and the simulated time in s.
func (f *Firmware) Now() (motors [4]float64, seconds float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.motors, f.time
}

// Wait waits until something is so of the motors, and returns how long that took, simulated.
func (f *Firmware) Wait(t *testing.T, what string, so func(m [4]float64) bool) float64 {
	t.Helper()
	_, from := f.Now()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if m, now := f.Now(); so(m) {
			return now - from
		}
	}
	m, _ := f.Now()
	t.Fatalf("waited 30 s for: %s; motors at %v", what, m)
	return 0
}

// Turning reports whether motors turn, Still whether none does.
func Turning(m [4]float64) bool { return m[0] > 0 }

// Still reports whether no motor turns.
func Still(m [4]float64) bool { return m == [4]float64{} }
