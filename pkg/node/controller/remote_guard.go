package controller

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/node/guardlink"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// remoteGuard is the guard of another process, as the ticker of a controller knows it.
type remoteGuard struct {
	*guardlink.Client
	events    guardlink.Events
	request   control.Request
	announced *control.LoadedPolicy // whose commands the guard takes
	pending   *control.TickRecord   // whose request has not been answered; nil: none
	answer    chan error            // to the end of a flight
	received  atomic.Int64          // when a decision came, ns of monotonic; 0: never
	lost      atomic.Bool           // the guard is not heard
	report    func(line string)
	overdue   atomic.Uint64 // requests that were never answered
}

const (
	guardSilence = int64(250 * time.Millisecond) // after which the guard counts as not heard
	maxAnswer    = maxLanding + 5*time.Second
)

// dial looks for the guard. The state comes from there, so that both sides have the same one.
func (c *Controller) dial(p *Params, f *ticker) (err error) {
	g := &remoteGuard{answer: make(chan error, 1), report: func(line string) { c.Log().Error().Msg(line) }}
	if g.Client, err = guardlink.Dial(c.socket(p), guardlink.Hello{Controller: c.FullName(),
		Settings: p.settings()}); err != nil {
		return err
	}
	f.guard, f.link = g, noAutopilot{}
	topic, _ := p.StateTopic()
	if c.source, err = c.ResolveTopic(topic); err != nil {
		return errors.Join(err, g.Close())
	}
	g.events = guardlink.Events{
		Joined: func() {
			g.announced = nil
			if f.active {
				_ = g.Begin() // one that has ended meanwhile is seen by Receive
			}
		},
		Left: func() {
			g.reply(nil) // it commands nothing
			f.loseGuard()
		},
		Sample: func(s *guardlink.Sample) {
			if world := c.worldFrame.Load(); s.Frame != "" && (world == nil || *world != s.Frame) {
				c.worldFrame.Store(&[]string{s.Frame}[0])
			}
			f.hold(sample{s.Sample, ros.Time(s.Sent)})
		},
		Decision: f.receiveDecision,
		Home:     func(p so3.Vec3) { go c.battery.Load().callHome(p) },
		Ended:    g.reply,
	}
	return nil
}

func (g *remoteGuard) reply(err error) {
	select {
	case g.answer <- err:
	default:
	}
}

// ask has the policy answer the newest state, and sends that to the guard.
func (f *ticker) ask(now int64) {
	g := f.guard
	f.latent.TryTake(f.setLatent)
	if p := f.loop.Policy(); p != nil && p != g.announced && g.SetBundle(p.ID) == nil {
		g.announced = p
	}
	if !f.loop.Ask(now, &g.request) {
		return
	}
	err := g.Ask(&g.request)
	if f.loop.RolledBack() {
		f.rolledBack.Store(f.loop.Policy())
	}
	f.gauges.ticked(f, err)
	f.counts.TryPut(f.count)
	if at := g.received.Load(); at != 0 && monotonic()-at > guardSilence {
		f.loseGuard()
	}
	if g.pending != nil {
		g.overdue.Add(1)
	} else if g.pending = f.ticks.Slot(); g.pending == nil {
		g.pending = &f.scratch
	}
	f.loop.RecordRequest(g.pending)
}

// loseGuard takes down that the guard is not heard any more.
func (f *ticker) loseGuard() {
	g := f.guard
	if !f.active || g.received.Load() == 0 {
		return
	}
	f.loop.Lost()
	if !g.lost.Swap(true) {
		g.report("no command goes out: " + GuardName + " is not heard")
	}
}

// receiveDecision takes what the guard decided, and completes the step of the request that it answered. A step whose
// command nobody answered is none.
func (f *ticker) receiveDecision(d *control.Decision) {
	g := f.guard
	if !f.active {
		return
	}
	g.received.Store(monotonic())
	g.lost.Store(false)
	f.loop.TakeRemote(d)
	t := g.pending
	if t == nil || t.Seq+1 != d.Seq {
		f.loop.Unanswered(d)
		return
	}
	f.loop.Complete(t, d)
	if g.pending = nil; t != &f.scratch {
		f.ticks.Push()
		signal(f.recorded)
	}
}

// endRemote has the guard end the flight, where that is in another process: it lands first where nobody takes over.
func (c *Controller) endRemote() error {
	f := c.ticker()
	if f == nil || !c.ticking() {
		return nil
	}
	g := f.guard
	select {
	case <-g.answer: // to one that nobody waits for any more
	default:
	}
	if g.End(nil) != nil { // a guard that is not there commands nothing
		return nil
	}
	select {
	case err := <-g.answer:
		return err
	case <-time.After(maxAnswer):
	case <-c.ctx.Done():
	}
	return fmt.Errorf("%s does not answer", GuardName)
}

// reportGuard is the task "guard" of a controller without one. Nothing here commands the vehicle when the guard is
// silent: that may come back at any time, and two that command are worse than none. The autopilot lands.
func (c *Controller) reportGuard(s *diagnostics.Status) {
	f := c.ticker()
	if f == nil || f.guard == nil {
		s.Summary(diagnostics.OK, "not configured")
		return
	}
	g := f.guard
	switch trouble := g.Trouble(); {
	case trouble != "":
		s.Summary(diagnostics.Error, "no command goes out: %s: %s", GuardName, trouble)
	case !c.ticking():
		s.Summary(diagnostics.OK, "%s is there", GuardName)
	case g.received.Load() == 0:
		s.Summary(diagnostics.Warn, "%s has not decided anything yet", GuardName)
	case g.lost.Load():
		s.Summary(diagnostics.Error, "%s is not heard for %.1f s: no command goes out", GuardName,
			float64(monotonic()-g.received.Load())/1e9)
	default:
		s.Summary(diagnostics.OK, "%s decides", GuardName)
	}
	s.Add("requests not answered", g.overdue.Load())
}

// askOnce takes in what has come, and has the policy answer where that is due.
func (f *ticker) askOnce() {
	f.runOrders()
	f.guard.Receive(&f.guard.events)
	f.runOnceAt(int64(f.clock.Now()))
}
