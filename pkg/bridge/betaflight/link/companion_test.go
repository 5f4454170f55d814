package link

import (
	"context"
	"fmt"
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

const step = 0.001 // s, between two states

// firmware is a board that rests upright, while time passes as on the wall or slower.
type firmware struct {
	*sitl.Board
	mu     sync.Mutex
	motors [4]float64
	time   float64 // simulated, s
	stop   chan struct{}
	done   chan struct{}
}

func newFirmware(t *testing.T) *firmware {
	t.Helper()
	if err := sitl.Built(sitl.Folder()); err != nil {
		t.Skip(err)
	}
	s := betaflight.Sticks{Rates: rates.Linear(10), MinCheck: 1050,
		Thrust: betaflight.Thrust{Throttle: bridge.Throttle{Hover: 0.3, Curve: 1}, Idle: 0.055}}
	b, err := sitl.NewBoard(sitl.Folder(), s, sitl.Settings(10))
	if err != nil {
		t.Fatal(err)
	}
	b.Period = 0
	f := &firmware{Board: b, stop: make(chan struct{}), done: make(chan struct{})}
	if err := b.Reset(quad.State{Q: so3.Identity()}, quad.Command{}); err != nil {
		t.Fatal(err)
	}
	const watches = 6000 // ms: from 5 s after its start on, the firmware's failsafe does
	for range watches {
		if _, err := f.Step(quad.Command{}, quad.State{Q: so3.Identity()}, so3.Vec3{}, so3.Vec3{Z: quad.Gravity},
			step); err != nil {
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

func (f *firmware) run(t *testing.T) {
	defer close(f.done)
	state := quad.State{Q: so3.Identity()}
	for next := time.Now(); ; next = next.Add(time.Millisecond) {
		select {
		case <-f.stop:
			return
		case <-time.After(time.Until(next)):
		}
		if late := time.Since(next); late > 5*time.Millisecond {
			next = time.Now()
		}
		m, err := f.Step(quad.Command{}, state, so3.Vec3{}, so3.Vec3{Z: quad.Gravity}, step)
		if err != nil {
			t.Error(err)
			return
		}
		f.mu.Lock()
		f.motors, f.time = m, f.time+step
		f.mu.Unlock()
	}
}

func (f *firmware) now() (motors [4]float64, seconds float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.motors, f.time
}

// wait waits until something is so of the motors, and returns how long that took, simulated.
func (f *firmware) wait(t *testing.T, what string, so func(m [4]float64) bool) float64 {
	t.Helper()
	_, from := f.now()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if m, now := f.now(); so(m) {
			return now - from
		}
	}
	m, _ := f.now()
	t.Fatalf("waited 30 s for: %s; motors at %v", what, m)
	return 0
}

// companion is one that flies the firmware over MSP, until the test ends or stop is called.
func (f *firmware) companion(t *testing.T) (p *Companion, ctx context.Context, stop func()) {
	t.Helper()
	conn, err := f.Dial()
	if err != nil {
		t.Fatal(err)
	}
	b := NewBoard(conn.(Port))
	s, err := b.Configure(10)
	if err != nil {
		t.Fatal(err)
	}
	times := Times{CommandTimeout: 0.1, PrearmTime: 0.2, ArmTimeout: 5}
	thrust := betaflight.Thrust{Throttle: bridge.Throttle{Hover: 0.3, Curve: 1}, Idle: 0.055}
	if p, err = NewCompanion(b, &s, thrust, times, 250); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return p, ctx, stop
}

// command sends one at 50 Hz until it is stopped.
func command(p *Companion, c quad.Command) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			p.Command(c)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }
}

// armed has the companion arm, once the firmware is ready for it.
func armed(t *testing.T, p *Companion, ctx context.Context) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		r, err := p.Report(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if r.State == Flying {
			return
		}
		if r.State == Idle && r.Status.Disabled == 0 && !r.StatusAt.IsZero() {
			if err := p.SetArmed(ctx, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := p.Report(ctx)
	t.Fatalf("does not arm within a minute: %+v, %v, %v", r, r.Status.Disabled.Words(), err)
}

func turning(m [4]float64) bool { return m[0] > 0 }
func still(m [4]float64) bool   { return m == [4]float64{} }

func TestCompanionArmsFliesAndDisarmsTheFirmware(t *testing.T) {
	f := newFirmware(t)
	p, ctx, _ := f.companion(t)
	if err := p.SetArmed(ctx, true); err == nil {
		t.Error("armed without commands")
	}
	stop := command(p, quad.Command{Thrust: quad.Gravity})
	armed(t, p, ctx)
	hover := 0.055 + 0.945*0.3
	f.wait(t, "hover", func(m [4]float64) bool { return m[0] > hover-0.003 && m[0] < hover+0.003 })
	stop()
	defer command(p, quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: 1}})()
	f.wait(t, "roll to the right", func(m [4]float64) bool { // front right, rear left, front left, rear right
		return m[0] < m[1] && m[3] < m[2]
	})
	if err := p.SetArmed(ctx, false); err != nil {
		t.Fatal(err)
	}
	f.wait(t, "disarmed", still)
}

func TestFirmwareFailsSafe(t *testing.T) {
	f := newFirmware(t)
	for _, c := range []struct {
		name string
		lose func(stopCommands, stopBridge func())
	}{
		{"where commands stop", func(commands, _ func()) { commands() }},
		{"where the bridge is killed", func(_, bridge func()) { bridge() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ctx, kill := f.companion(t)
			stop := command(p, quad.Command{Thrust: quad.Gravity})
			defer stop()
			armed(t, p, ctx)
			f.wait(t, "armed", turning)
			c.lose(stop, kill)
			const most = 0.5 // s
			took := f.wait(t, "the failsafe", still)
			t.Logf("motors stop after %.3f s", took)
			if took > most {
				t.Errorf("motors stop after %.3f s, want %g", took, most)
			}
		})
	}
}

func TestConfigureRefusesWhatDoesNotFit(t *testing.T) {
	f := newFirmware(t)
	conn, err := f.Dial()
	if err != nil {
		t.Fatal(err)
	}
	b := NewBoard(conn.(Port))
	defer b.Close()
	want := "the rates profile ACTUAL reaches 10.1 rad/s of roll, expected 12: set roll_srate and roll_rc_rate " +
		"higher, or max_rate lower"
	if _, err := b.Configure(12); fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}
