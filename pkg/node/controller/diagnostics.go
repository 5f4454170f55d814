package controller

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// gauges show how the flight goes, on /diagnostics.
type gauges struct {
	rate        *diagnostics.Frequency // of ticks
	latency     *diagnostics.Latency   // from a sample sent to its command sent
	age         *diagnostics.Latency   // from a sample's stamp to its command sent
	missed      atomic.Uint64          // ticks that samples came too late for
	unsent      atomic.Uint64          // commands that the middleware refused
	unpublished atomic.Uint64          // steps that it refused
	refused     atomic.Uint64          // samples without a use: of another frame, or no state of the robot
	logged      control.Validity       // that the log has last
	badBundle   atomic.Pointer[string] // what was wrong with the newest bundle; nil for nothing
	trouble     atomic.Pointer[fault]  // the newest of samples and of what else comes all the time; nil for none
	frames      frameGauges
}

// ticked takes a tick down whose command has gone out.
func (g *gauges) ticked(f *ticker, err error) {
	if err != nil {
		g.unsent.Add(1)
	}
	g.rate.Tick()
	if f.sent != 0 {
		g.latency.Observe(time.Duration(time.Now().UnixNano() - int64(f.sent)))
	}
	g.age.Observe(time.Duration(int64(f.clock.Now()) - f.loop.Stamp()))
	g.missed.Store(f.pace.Missed())
}

// newGauges puts the tasks of a controller on an updater.
func newGauges(u *diagnostics.Updater, c *Controller) *gauges {
	const oldest = 100 * time.Millisecond
	g := &gauges{rate: diagnostics.NewFrequency(0, 0), latency: diagnostics.NewLatency(0, oldest),
		age: diagnostics.NewLatency(-oldest, oldest)}
	flying := func(run diagnostics.Task) diagnostics.Task {
		return func(s *diagnostics.Status) {
			if !c.ticking() {
				s.Summary(diagnostics.OK, "not active")
				return
			}
			run(s)
		}
	}
	u.Add("rate", flying(g.rate.Run))
	u.Add("latency", flying(g.latency.Run))
	u.Add("age", flying(g.age.Run))
	u.Add("control", c.report)
	if c.role.hasPolicy() {
		u.Add("features", flying(c.reportFeatures))
	}
	switch c.role {
	case policySide:
		u.Add("guard", c.reportGuard)
	case guardSide:
		u.Add("policy", c.reportPolicy)
	}
	if c.role.hasVehicle() {
		u.Add("autopilot", c.reportAutopilot)
		u.Add("battery", c.reportBattery)
	}
	u.Add("clock", func(s *diagnostics.Status) { clock(s, c.Clock()) })
	return g
}

// clock is an error while simulated time stands still: so does everything that depends on it.
func clock(s *diagnostics.Status, c *ros.Clock) {
	const patience = time.Second
	s.Summary(diagnostics.OK, "time passes")
	if silent, simulated := c.SinceUpdate(); simulated && silent > patience {
		s.Summary(diagnostics.Error, "no message on /clock for %.1f s", silent.Seconds())
	}
}

// report is the task "control".
func (c *Controller) report(s *diagnostics.Status) {
	f := c.ticker()
	if f == nil {
		s.Summary(diagnostics.OK, "not configured")
		return
	}
	c.reportFlight(s, f)
	var k estimator.Counts
	f.counts.Read(func(v *estimator.Counts) { k = *v })
	g := c.gauges
	s.Addf("poses dropped", "%d invalid, %d repeated, %d late", k.Invalid, k.Duplicates, k.Late)
	s.Addf("estimates begun anew", "%d gaps, %d jumps, %d clocks set back", k.Gaps, k.Jumps, k.ClockResets)
	s.Add("samples refused", g.refused.Load())
	s.Add("samples dropped", f.samples.Dropped())
	s.Add("ticks missed", g.missed.Load())
	s.Add("commands not sent", g.unsent.Load())
	s.Add("steps dropped", f.ticks.Dropped()+g.unpublished.Load())
	if t := g.badBundle.Load(); t != nil {
		s.Merge(diagnostics.Warn, "%s", *t)
	}
	if t := g.trouble.Load().recent(monotonic()); t != "" {
		s.Merge(diagnostics.Warn, "%s", t)
	}
	c.reportSamples(s, f)
	if f.stopped.Load() {
		s.Merge(diagnostics.Error, "%v", errStopped)
	}
	topics := []string{c.source}
	if c.role.hasVehicle() {
		topics = append(topics, f.sender.topic())
	}
	for _, topic := range topics {
		if len(c.Context().Graph().Publishers(topic)) > 1 {
			s.Merge(diagnostics.Error, "%s", others(c.Node, topic))
		}
	}
	if f.silent.Load() {
		s.Merge(diagnostics.Error, "no command goes out: %s", errSecond)
	}
}

// reportSamples tells what is wrong with those of motion capture, and with the clocks.
func (c *Controller) reportSamples(s *diagnostics.Status, f *ticker) {
	g, p := c.gauges, c.params.Load()
	f.rejected.TryTake(func(d *rejectedSample) {
		text := p.ExplainInvalid(c.source, &d.Sample, d.Validity)
		if g.logged != d.Validity {
			g.logged = d.Validity
			c.Log().Error().Msg(text)
		}
		s.Merge(diagnostics.Error, "%s", text)
	})
	at := f.at.Load()
	if !c.ticking() || at == 0 {
		return
	}
	quiet, age := time.Duration(int64(c.Now())-at), time.Duration(at-f.newest.Load())
	if text := explainTimes(quiet, age, p.Guard.MaxAge); text != "" {
		s.Merge(diagnostics.Error, "topic %s: %s", c.source, text)
	}
}

// explainTimes says what is wrong where the newest sample came quiet ago, and had an age then; "" for nothing.
// maxAge is in s.
func explainTimes(quiet, age time.Duration, maxAge float64) string {
	const silence = time.Second
	side := "before"
	if age < 0 {
		side = "after"
	}
	switch {
	case quiet > silence:
		return fmt.Sprintf("no sample for %.1f s", quiet.Seconds())
	case quiet < -silence:
		return fmt.Sprintf("no sample since this clock was set back by %.1f s", -quiet.Seconds())
	case age.Abs().Seconds() > maxAge:
		return fmt.Sprintf("stamped %.3f s %s this clock, expected at most %g (guard.max_age): are the clocks "+
			"synchronised?", age.Abs().Seconds(), side, maxAge)
	}
	return ""
}

// explainTurns says what is wrong where the robot turns later than it should by so many s; "" for nothing.
func explainTurns(late float64) string {
	const most = 0.01
	side := "later"
	if late < 0 {
		side = "sooner"
	}
	if math.Abs(late) <= most {
		return ""
	}
	return fmt.Sprintf("by its stamps the robot turns %.0f ms %s than guard.response says, expected at most %.0f: "+
		"synchronise the clocks, or set guard.response", 1e3*math.Abs(late), side, 1e3*most)
}

// others names who publishes on a topic beside this node, once, or beside one another where it does not.
func others(n *ros.Node, topic string) string {
	names := publishers(n, topic)
	if own := slices.Index(names, n.FullName()); own >= 0 {
		return "topic " + topic + " has other publishers too: " + listed(slices.Delete(names, own, own+1))
	}
	return "topic " + topic + " has more than one publisher: " + listed(names)
}

// listed names the first few: strangers may announce thousands.
func listed(names []string) string {
	const most = 5
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}

// publishers are the full names of the nodes that publish on a topic, once for each publisher.
func publishers(n *ros.Node, topic string) (names []string) {
	for _, e := range n.Context().Graph().Publishers(topic) {
		names = append(names, fullName(e.Node))
	}
	return names
}

func fullName(n rmw.NodeName) string { return strings.TrimSuffix(n.Namespace, "/") + "/" + n.Name }

// reportFlight tells what flies, and who has control authority.
func (c *Controller) reportFlight(s *diagnostics.Status, f *ticker) {
	var last control.TickRecord
	c.last.Read(func(t *control.TickRecord) { last = *t })
	switch policy, _ := c.flying(); {
	case !c.ticking():
		s.Summary(diagnostics.OK, "not active")
	case policy == nil && c.role.hasPolicy():
		s.Summary(diagnostics.Warn, "waiting for a bundle")
	case last.Stamp == 0 && c.role == policySide:
		s.Summary(diagnostics.Warn, "waiting for a state on %s, and for %s", c.source, GuardName)
	case last.Stamp == 0 && c.role == guardSide:
		s.Summary(diagnostics.OK, "waiting for a state on %s, and for %s", c.source, Name)
	case last.Stamp == 0:
		s.Summary(diagnostics.Warn, "waiting for a state on %s", c.source)
	case last.Stage == guard.Policy && last.LatentStamp == 0 && policy != nil && policy.UsesLatent():
		s.Summary(diagnostics.Warn, "the policy flies under the prior mean: topic latent has none of its bundle that "+
			"is fresh")
	case last.Stage == guard.Policy:
		s.Summary(diagnostics.OK, "the policy flies")
	case last.Stage == guard.Limited:
		level, text := limited(&c.params.Load().Limits, last.Command)
		s.Summary(level, "%s", text)
	case last.Stage == guard.NotOffboard && last.Cause == guard.None:
		s.Summary(diagnostics.OK, "commands are not followed: the autopilot flies by itself, or stands")
	case last.Stage == guard.NotOffboard && last.Cause == guard.NotReady:
		s.Summary(diagnostics.OK, "commands are not followed; if they were, the guard would fly, not the policy: %v",
			last.Cause)
	case last.Stage == guard.NotOffboard:
		s.Summary(diagnostics.Warn, "commands are not followed; if they were, the guard would fly: %v", last.Cause)
	default:
		s.Summary(diagnostics.Error, "%s", f.guarded(authority{last.Stage, last.Cause}))
	}
	s.Add("bundle", last.Bundle)
	s.Add("task", last.Task)
	s.Add("guard", last.Stage)
	s.Addf("confidence", "%.2f", last.Confidence)
	s.Addf("hidden", "%.2f", last.Hidden)
	if c.params.Load().FiltersPoses() {
		s.Add("state by the filter of poses", last.Filtered)
	}
	if last.TurnsLate == 0 {
		s.Add("turns late by", "not known")
	} else {
		s.Addf("turns late by", "%.0f ms", 1e3*last.TurnsLate)
	}
	if text := explainTurns(last.TurnsLate); text != "" && c.ticking() {
		s.Merge(diagnostics.Warn, "topic %s: %s", c.source, text)
	}
	s.Add("tick", last.Seq)
}

// limited tells why what the policy asked for was not what went out.
func limited(l *quad.Limits, asked quad.Command) (diagnostics.Level, string) {
	if l.Clip(asked) == asked { // so does each return and each take-off for a moment
		return diagnostics.OK, "the policy flies, led over to from the guard's law or kept within guard.max_tilt"
	}
	return diagnostics.Warn, "the policy flies, cut to the limits"
}
