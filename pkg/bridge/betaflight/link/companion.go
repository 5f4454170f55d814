package link

import (
	"context"
	"errors"
	"math"
	"runtime"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/msp"
	"vnd/pkg/core/quad"
)

// Companion is a computer in the receiver's place: it sends commands to a board as sticks.
type Companion struct {
	// Rate of the frames, Hz. A command goes out at once besides.
	Rate float64
	// Sticks are as the board's settings ask for.
	Sticks betaflight.Sticks
	// Arm and Prearm are the board's switches.
	Arm, Prearm Switch
	Sender      Sender
	// Board tells whether it is armed; nil: nobody does, and it counts as armed when it was told to be.
	Board *Board

	supervisor Supervisor
	commands   chan quad.Command
	orders     chan func()
	ended      chan struct{} // of Run
	command    quad.Command
	at         float64 // when that came, s
	voltage    bridge.Battery
	start      time.Time
	polled     int
	override   int // place of that mode; 0: there is none
	failsafe   int // the same
}

// NewCompanion makes a Companion of a board that told its settings. Its thrust is as t says.
func NewCompanion(b *Board, s *Settings, t betaflight.Thrust, times Times, rate float64) (*Companion, error) {
	p := &Companion{Rate: rate, Sticks: betaflight.Sticks{Rates: s.Rates, Thrust: t, MinCheck: s.MinCheck},
		Arm: s.Arm, Prearm: s.Prearm, Sender: b, Board: b,
		commands: make(chan quad.Command, 1), orders: make(chan func()),
		ended: make(chan struct{}),
		at:    math.Inf(-1), start: time.Now()}
	p.supervisor = Supervisor{Times: times, Prearms: s.Prearm.Channel != 0}
	p.failsafe = s.Failsafe
	if s.Override != 0 {
		p.override, p.supervisor.Overrides = s.Override, true
	}
	return p, p.Sticks.Check()
}

// Command is one that came now. Of two that wait, the later one counts.
func (p *Companion) Command(c quad.Command) {
	if !c.Finite() {
		return
	}
	for {
		select {
		case p.commands <- c:
			return
		default:
		}
		select {
		case <-p.commands:
		default:
		}
	}
}

// Report is how a Companion stands.
type Report struct {
	State   State
	Ordered bool   // it is to be armed
	Refusal string // why arming failed last
	// Known says that the board tells how it is; Failsafe, that it flies by itself.
	Known, Failsafe bool
	Telemetry
}

// do has f done by the thread that sends.
func (p *Companion) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case p.orders <- func() { f(); close(done) }:
		<-done
		return nil
	case <-p.ended:
		return errors.New("the board is gone")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SetArmed orders the motors on or off.
func (p *Companion) SetArmed(ctx context.Context, on bool) error {
	var err error
	return first(p.do(ctx, func() {
		if on {
			err = p.supervisor.Arm(p.seen())
		} else {
			p.supervisor.Disarm()
		}
	}), &err)
}

// first is an error, or another that is known by then.
func first(err error, other *error) error {
	if err != nil {
		return err
	}
	return *other
}

// Report tells how it stands.
func (p *Companion) Report(ctx context.Context) (r Report, err error) {
	err = p.do(ctx, func() {
		s := &p.supervisor
		r.State, r.Ordered, r.Refusal = s.State(), s.Ordered(), s.Refusal()
		if p.Board != nil {
			r.Telemetry = p.Board.Telemetry()
			r.Known = p.seen().Known
			r.Failsafe = p.failsafe != 0 && r.Status.Active(p.failsafe)
		}
	})
	return r, err
}

// Run sends until ctx is done or the port fails, on a thread of its own. It is called once.
func (p *Companion) Run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	period := time.Duration(float64(time.Second) / p.Rate)
	timer := time.NewTimer(period)
	defer timer.Stop()
	next := time.Now()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case f := <-p.orders:
			f()
			continue
		case p.command = <-p.commands:
			p.at = p.now()
			err = p.send()
			next = time.Now().Add(period)
		case <-timer.C:
			err = p.send()
			if next = next.Add(period); time.Since(next) > period {
				next = time.Now().Add(period)
			}
		}
		if err == nil {
			err = p.poll()
		}
		if err != nil {
			return err
		}
		timer.Reset(time.Until(next))
	}
}

func (p *Companion) now() float64 { return time.Since(p.start).Seconds() }

// seen is what the supervisor goes by.
func (p *Companion) seen() *Seen {
	x := &Seen{Now: p.now(), Command: p.at}
	if p.Board == nil { // it is as it was told
		x.Known, x.Armed = true, p.supervisor.State() >= Arming
		return x
	}
	t := p.Board.Telemetry()
	x.Known = !t.StatusAt.IsZero() && time.Since(t.StatusAt).Seconds() < Fresh
	x.Armed, x.Why = t.Status.Armed(), t.Status.Disabled
	x.Override = p.override != 0 && t.Status.Active(p.override)
	return x
}

// send sends what the supervisor decides.
func (p *Companion) send() error {
	out := p.supervisor.Step(p.seen())
	if !out.Frame {
		return nil
	}
	c := Channels{betaflight.Middle, betaflight.Middle, betaflight.Low, betaflight.Middle}
	if out.Follow {
		sticks, _ := p.Sticks.Of(p.command, p.volts())
		copy(c[:], sticks[:])
	}
	for i := betaflight.Aux1; i < len(c); i++ {
		c[i] = betaflight.Low
	}
	p.Prearm.set(&c, out.Prearm)
	p.Arm.set(&c, out.Arm)
	return p.Sender.Send(&c)
}

// volts are those that thrust goes by; 0: they are not known.
func (p *Companion) volts() float64 {
	if p.Board == nil || p.Sticks.Thrust.Voltage == 0 {
		return 0
	}
	t := p.Board.Telemetry()
	return p.voltage.Measured(t.Battery.Voltage, t.BatteryAt.UnixNano())
}

// poll asks for telemetry: status at a fifth of the rate, the rest at a fiftieth.
func (p *Companion) poll() error {
	if p.Board == nil {
		return nil
	}
	p.polled++
	switch {
	case p.polled%50 == 1:
		return p.Board.Poll(msp.BatteryState)
	case p.polled%50 == 26:
		return p.Board.Poll(msp.AttitudeAsked)
	case p.polled%5 == 0:
		return p.Board.Poll(msp.StatusEx)
	}
	return nil
}
