package controller

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/node"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// batteryWatch follows the battery of one configured flight: it warns, brings the robot back and has it land.
type batteryWatch struct {
	*Controller
	params *Params

	mu         sync.Mutex // of what follows
	monitor    *battery.Monitor
	writer     soleWriter
	home       so3.Vec3 // where it took off, or was handed over
	homeKnown  bool
	level      battery.Level // that the log has
	fault      string        // that the log has
	returning  bool
	calledHome atomic.Bool // by the guard of another process, until a new one is configured
	asked      ros.Time    // when the guard was asked to act last, on the node's clock
}

const (
	batteryStep  = 100 * time.Millisecond
	batteryAgain = time.Second     // between two requests
	batteryQuiet = 5 * time.Second // without a voltage of one publisher before another one counts
	returnHeight = 0.5             // m above the ground, at least
	fenceInset   = 0.3             // m
)

// watchBattery begins to watch; without cells a publisher beside the first is refused all the same.
func (c *Controller) watchBattery(p *Params) error {
	w := &batteryWatch{Controller: c, params: p, monitor: battery.NewMonitor(p.Battery)}
	w.writer.within = batteryQuiet
	c.battery.Store(w)
	if !p.Battery.Watched() || !c.role.hasVehicle() {
		return nil
	}
	t, err := c.NewTimer(batteryStep, w.step, ros.InGroup(c.Context().NewGroup(ros.Exclusive)))
	if err != nil {
		return err
	}
	c.keep(t)
	if !p.sendsThrust() {
		return nil // the autopilot's topic
	}
	s, err := ros.NewSubscription(c, "battery", node.AutopilotQoS(), func(m *sensormsgs.BatteryState, i ros.Info) {
		c.voltage(float64(m.Voltage), i.Publisher)
	})
	if err != nil {
		return err
	}
	c.keep(s)
	return nil
}

// voltage takes in one of the battery's topic, and reports whether to go by it.
func (c *Controller) voltage(volts float64, from rmw.GID) bool {
	w := c.battery.Load()
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.writer.accept(from, monotonic()) {
		c.gauges.refused.Add(1)
		if w.writer.reported != from {
			w.writer.reported = from
			c.Log().Error().Msgf("topic %s has two publishers: voltages of the second are refused",
				w.params.batteryTopic())
		}
		return false
	}
	return !w.params.Battery.Watched() || w.monitor.Measure(volts) == nil
}

// batteryTopic is where voltages come from.
func (p *Params) batteryTopic() string {
	if p.sendsThrust() {
		return "battery"
	}
	return p.AutopilotTopics()[1]
}

// step lets the charge fall by what was flown, and acts.
func (w *batteryWatch) step() {
	var s quad.State
	var thrust float64
	var stage guard.Stage
	known := false
	w.last.Read(func(t *control.TickRecord) {
		s, thrust, stage, known = t.State, t.Sent.Thrust, t.Stage, t.Bundle != ""
	})
	turns, _ := w.motorsTurn()
	flies := known && w.params.Guard.Flying(&s)
	if !turns {
		thrust = quad.Gravity // by the autopilot, if at all
	}
	w.mu.Lock()
	w.monitor.Step(float64(w.Now())/1e9, thrust, flies)
	if known && (!flies || !w.homeKnown) {
		w.home, w.homeKnown, w.returning = s.P, true, false
	}
	w.log()
	level, due := w.monitor.Level(), time.Duration(w.Now()-w.asked).Abs() > batteryAgain
	w.mu.Unlock()
	if !turns || !flies || !due || level < battery.Return {
		return
	}
	w.act(level, stage, &s)
}

// act has the robot return, or land.
func (w *batteryWatch) act(level battery.Level, stage guard.Stage, s *quad.State) {
	var err error
	switch {
	case level == battery.Land && stage != guard.Land && stage != guard.Blind:
		err = w.land()
	case level == battery.Return && !w.returning:
		if err = w.bringHome(s); err == nil {
			w.returning = true
		}
	default:
		return
	}
	w.mu.Lock()
	w.asked = w.Now()
	w.mu.Unlock()
	if err != nil {
		w.Log().Error().Msgf("the battery is %v: %v", level, err)
	}
}

// bringHome has the policy return, in whichever process it is.
func (w *batteryWatch) bringHome(s *quad.State) error {
	if w.role == guardSide {
		return w.ticker().requester.Home(w.home)
	}
	return w.flyHome(w.home, s)
}

// callHome is bringHome of the guard of another process.
func (w *batteryWatch) callHome(home so3.Vec3) {
	var s quad.State
	w.last.Read(func(t *control.TickRecord) { s = t.State })
	w.calledHome.Store(true)
	if err := w.flyHome(home, &s); err != nil {
		w.Log().Error().Msgf("the battery asks for a return: %v", err)
	}
}

// flyHome has the policy hold above the place of the take-off. A landing goes on.
func (w *batteryWatch) flyHome(home so3.Vec3, s *quad.State) error {
	policy, k := w.flying()
	if policy == nil || k == nil || k.Task == "land" || policy.Landmarks() > 0 { // which hovers where they are
		return nil
	}
	task := k.Task
	if policy.TrainedFor("hover") {
		task = "hover"
	}
	lo, hi := w.params.Fence()
	within := func(x, lo, hi float64) float64 { return min(max(x, lo+fenceInset), hi-fenceInset) }
	at := reference.Hover{Point: []float64{within(home.X, lo.X, hi.X), within(home.Y, lo.Y, hi.Y),
		within(max(s.P.Z, w.params.Guard.Ground+returnHeight), lo.Z, hi.Z)}, Yaw: s.Q.Yaw()}
	path, err := at.Build()
	if err != nil {
		return err
	}
	back, err := control.NewTaskReference(task, path)
	if err != nil {
		return err
	}
	return w.setPolicyAndTask(nil, back)
}

// log writes a level and a fault when they come.
func (w *batteryWatch) log() {
	if level := w.monitor.Level(); level != w.level {
		if charge, _ := w.monitor.Charge(); level > battery.Good && level > w.level {
			w.Log().Warn().Msgf("the battery is %v: %.0f %% of its charge is left", level, 100*charge)
		}
		w.level = level
	}
	text := ""
	if err := w.monitor.Fault(); err != nil {
		text = fmt.Sprintf("topic %s: %v", w.params.batteryTopic(), err)
	}
	if kind := kindOf(text); kind != w.fault {
		if text != "" {
			w.Log().Error().Msg(text)
		}
		w.fault = kind
	}
}

// kindOf is a fault without its figures, so that the log has each once.
func kindOf(fault string) string {
	for i, r := range fault {
		if r >= '0' && r <= '9' {
			return fault[:i]
		}
	}
	return fault
}

// chargeSuffices refuses what a battery of a level or worse cannot end, or one of which nothing is known.
func (c *Controller) chargeSuffices(worst battery.Level) error {
	w := c.battery.Load()
	if w == nil || !w.params.Battery.Watched() {
		return nil
	}
	if !c.role.hasVehicle() {
		if w.calledHome.Load() {
			return fmt.Errorf("the battery is low: %s has the robot return", GuardName)
		}
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	charge, known := w.monitor.Charge()
	switch level := w.monitor.Level(); {
	case !known:
		return fmt.Errorf("topic %s: no voltage has come, and battery.cells is set", w.params.batteryTopic())
	case level >= worst:
		return fmt.Errorf("the battery is %v: %.0f %% of its charge is left", level, 100*charge)
	}
	return nil
}

// reportBattery is the task "battery".
func (c *Controller) reportBattery(s *diagnostics.Status) {
	w := c.battery.Load()
	if w == nil || c.ticker() == nil || !w.params.Battery.Watched() {
		s.Summary(diagnostics.OK, "not watched (battery.cells)")
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	charge, known := w.monitor.Charge()
	switch level := w.monitor.Level(); {
	case !known:
		s.Summary(diagnostics.Warn, "no voltage yet on %s", w.params.batteryTopic())
	case level >= battery.Return:
		s.Summary(diagnostics.Error, "%v", level)
	case level == battery.Warn:
		s.Summary(diagnostics.Warn, "%v", level)
	default:
		s.Summary(diagnostics.OK, "%v", level)
	}
	if err := w.monitor.Fault(); err != nil {
		s.Merge(diagnostics.Error, "topic %s: %v", w.params.batteryTopic(), err)
	}
	s.Addf("charge (%)", "%.0f", 100*charge)
	s.Addf("time to the landing (s)", "%.0f", w.monitor.Left())
}
