package link

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// companion is one that flies the firmware over MSP, until the test ends or stop is called.
func companion(t *testing.T, f *sitltest.Firmware, timeout float64) (p *Companion, ctx context.Context, stop func()) {
	t.Helper()
	conn, err := f.Dial()
	if err != nil {
		t.Fatal(err)
	}
	b := NewBoard(&cable{Port: conn.(Port)})
	s, err := b.Configure(10)
	if err != nil {
		t.Fatal(err)
	}
	times := Times{CommandTimeout: timeout, PrearmTime: 0.2, ArmTimeout: 5}
	if p, err = NewCompanion(b, &s, sitltest.Thrust(), times, 250); err != nil {
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
				t.Log(err) // the machine was busy, and commands late
			}
		}
	}
	r, err := p.Report(ctx)
	t.Fatalf("does not arm within a minute: %+v, %v, %v", r, r.Status.Disabled.Words(), err)
}

func TestCompanionArmsFliesAndDisarmsTheFirmware(t *testing.T) {
	f := sitltest.New(t, 10)
	p, ctx, _ := companion(t, f, 0.5)
	if err := p.SetArmed(ctx, true); err == nil {
		t.Error("armed without commands")
	}
	stop := command(p, quad.Command{Thrust: quad.Gravity})
	armed(t, p, ctx)
	hover := sitltest.Idle + (1-sitltest.Idle)*sitltest.Hover
	f.Wait(t, "hover", func(m [4]float64) bool { return m[0] > hover-0.003 && m[0] < hover+0.003 })
	stop()
	defer command(p, quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: 1}})()
	f.Wait(t, "roll to the right", func(m [4]float64) bool { // front right, rear left, front left, rear right
		return m[0] < m[1] && m[3] < m[2]
	})
	if err := p.SetArmed(ctx, false); err != nil {
		t.Fatal(err)
	}
	f.Wait(t, "disarmed", sitltest.Still)
}

func TestConfigureRefusesWhatDoesNotFit(t *testing.T) {
	f := sitltest.New(t, 10)
	conn, err := f.Dial()
	if err != nil {
		t.Fatal(err)
	}
	b := NewBoard(conn.(Port))
	defer b.Close()
	want := "the rates profile ACTUAL reaches 10.1 rad/s of roll, expected 12: set roll_srate and roll_rc_rate " +
		"higher, or the airframe's max_tilt_rate and max_yaw_rate lower"
	if _, err := b.Configure(12); fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// gap is a sender that loses what it sends for a while from the first frame on that is to arm.
type gap struct {
	Sender
	arm    Switch
	length time.Duration
	until  time.Time
}

func (g *gap) Send(c *Channels) error {
	if g.until.IsZero() && c[g.arm.Channel] == g.arm.On {
		g.until = time.Now().Add(g.length)
	}
	if time.Now().Before(g.until) {
		return nil
	}
	return g.Sender.Send(c)
}

// TestCompanionArmsFirmwareThatLockedItsSwitch: the receiver counts as lost while the switch is turned on.
func TestCompanionArmsFirmwareThatLockedItsSwitch(t *testing.T) {
	f := sitltest.New(t, 10)
	p, ctx, _ := companion(t, f, 0.5)
	defer command(p, quad.Command{Thrust: quad.Gravity})()
	lost := &gap{arm: p.Arm, length: time.Second}
	if err := p.do(ctx, func() {
		p.Sender, lost.Sender = lost, p.Sender
		p.supervisor.ArmTimeout = 120 // longer than the test waits: of one order
	}); err != nil {
		t.Fatal(err)
	}
	armed(t, p, ctx)
	if lost.until.IsZero() {
		t.Error("no frame was lost")
	}
	f.Wait(t, "armed", sitltest.Turning)
}
