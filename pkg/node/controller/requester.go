package controller

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"vnd/pkg/flight/control"
	"vnd/pkg/node/guardlink"
	"vnd/pkg/ros2/ros/diagnostics"
)

// requester is the controller of another process, as the guard's flight knows it.
type requester struct {
	*guardlink.Server
	events   guardlink.Events
	patience time.Duration // after which the policy counts as silent
	period   int64         // ns
	bundle   string        // whose commands count
	begun    bool          // commands go out
	asked    bool          // a request came since the last tick
	last     int64         // time of that, ns
	came     int64         // when the newest request came, ns
	decision control.Decision
	sample   guardlink.Sample // on its way, of the thread of the middleware
	refused  [control.Refusals]atomic.Uint64
	there    atomic.Bool
	at       atomic.Int64 // when a request was accepted, ns of monotonic; 0: never
}

// expect waits for a controller.
func (c *Controller) expect(p *Params, f *ticker) (err error) {
	r := &requester{patience: time.Duration(p.PolicyTimeout * 1e9), period: p.Period()}
	r.Server, err = guardlink.Listen(c.socket(p), func(h *guardlink.Hello) error {
		if d := p.differs(h.Settings); d != "" {
			return errors.New(d)
		}
		return nil
	}, func(line string) { c.Log().Error().Msg(line) })
	if err != nil {
		return err
	}
	f.requester = r
	r.events = guardlink.Events{
		Joined: func() {
			r.there.Store(true)
			r.expect(f.loop, "")
			if f.loop != nil {
				f.loop.SetRequester()
			}
		},
		Left:    func() { r.there.Store(false) },
		Begin:   func() { r.begun = true },
		End:     func() { go c.endRequested() },
		Bundle:  func(id string) { r.expect(f.loop, id) },
		Request: f.accept,
	}
	return nil
}

// pass hands a sample to the controller, on the thread of the middleware.
func (r *requester) pass(s *sample, frame string) {
	r.sample.Sample, r.sample.Sent = s.Sample, int64(s.sent)
	if r.sample.Frame != frame {
		r.sample.Frame = strings.Clone(frame)
	}
	_ = r.Measured(&r.sample) // a controller that does not listen does not get it
}

// expect has a loop take requests of a bundle.
func (r *requester) expect(l *control.Loop, bundle string) {
	if r.bundle = bundle; l != nil {
		l.SetRequested(bundle)
	}
}

// endRequested lands where nobody takes over, has no command go out any more, and answers the controller.
func (c *Controller) endRequested() {
	err := c.landFirst()
	var next *control.Loop
	if err == nil {
		next, err = newLoop(c.params.Load(), c.role)
	}
	_ = c.order(func(f *ticker) error {
		if err == nil {
			f.requester.begun = false
			f.setLoop(next)
			f.sending.Store(0)
		}
		return f.requester.End(err)
	})
}

// accept takes a request, unless it is not to be flown.
func (f *ticker) accept(q *control.Request) {
	r := f.requester
	if !r.begun || !f.active {
		return
	}
	now := int64(f.clock.Now())
	r.came = f.atLeast(q.Stamp, now)
	refusal := f.loop.Accept(r.came, q)
	r.refused[refusal].Add(1)
	r.asked = r.asked || refusal != control.Reordered
	if refusal == control.Accepted {
		r.at.Store(monotonic())
	}
}

// decideOnce takes in what has come, and ticks at a request, or by the clock where none comes.
func (f *ticker) decideOnce() {
	r := f.requester
	f.alarm.Store(false)
	f.runOrders()
	r.asked = false
	r.Receive(&r.events)
	now, _ := f.takeSamples(int64(f.clock.Now()))
	switch {
	case !f.active || !r.begun:
	case r.asked:
		f.decide(now)
	case now-r.last >= r.period*7/4 || now < r.last:
		f.sent = 0
		f.decide(now)
	}
}

// decide is one tick of the guard: the command goes out first, then what there is to say about it.
func (f *ticker) decide(now int64) {
	r := f.requester
	if r.asked { // by a sample that came before its /clock
		now = max(now, r.came)
	}
	r.last = now
	silent := f.silent.Load()
	f.loop.SetOffboard(!silent && !f.link.notOffboard())
	d := &r.decision
	if !f.loop.Decide(now, r.patience, d) {
		return
	}
	if f.stopped.Load() {
		stop(d)
	}
	err := f.send(d)
	d.Silent = d.Silent || silent
	_ = r.Decided(d) // a controller that does not listen does not hear it
	f.noteTick(now, err)
	t := f.ticks.Slot()
	if t == nil {
		return
	}
	f.loop.RecordDecision(t, d)
	f.ticks.Push()
	signal(f.recorded)
}

// reportPolicy is the task "policy" of a guard without one.
func (c *Controller) reportPolicy(s *diagnostics.Status) {
	f := c.ticker()
	if f == nil || f.requester == nil {
		s.Summary(diagnostics.OK, "not configured")
		return
	}
	r := f.requester
	age := monotonic() - r.at.Load()
	switch {
	case !r.there.Load():
		s.Summary(diagnostics.Warn, "no %s is there", Name)
	case r.at.Load() == 0:
		s.Summary(diagnostics.OK, "%s is there, and asks for nothing yet", Name)
	case age > int64(r.patience):
		s.Summary(diagnostics.Warn, "%s is not heard for %.2f s", Name, float64(age)/1e9)
	default:
		s.Summary(diagnostics.OK, "%s is heard", Name)
	}
	for k := control.Reordered; k < control.Refusals; k++ {
		if n := r.refused[k].Load(); n > 0 {
			s.Add("refused: "+k.String(), n)
		}
	}
}
