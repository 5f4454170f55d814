package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// autopilot is what there is to know of, and to ask from, the one behind a command interface. All of it may be called
// by any goroutine.
type autopilot interface {
	volts() float64                                      // of its battery, smoothed; 0: not known
	lastReport() (s bridge.Autopilot, age time.Duration) // what it said last; an age of forever before
	notOffboard() bool                                   // it says that it does not follow what is sent
	fault() string                                       // why it cannot be commanded at all; "" for nothing
	offboard(context.Context) error                      // asks it to follow setpoints
	disarm(context.Context) error
	kill(context.Context) error // asks for motors off, in the air too where the autopilot takes that
	land(context.Context) error // asks it to land by itself
	landsUnasked() bool         // its failsafe lands it where commands end
}

// forever is older than anything that was heard.
const forever = time.Duration(math.MaxInt64)

func newAutopilot(c *Controller, p *Params) (autopilot, error) {
	switch p.CommandInterface {
	case bridge.Mavros:
		return newMavrosAutopilot(c, p)
	case bridge.Ardupilot:
		return newArdupilot(c, p)
	case bridge.PX4:
		return newPX4Autopilot(c, p, px4msgs.VehicleStatusNavigationStateOffboard, []fmuInput{
			{"vehicle_rates_setpoint", 0}, {"offboard_control_mode", 0}, {"vehicle_command", 0}})
	case bridge.PX4Mode:
		return newPX4Mode(c, p)
	case bridge.Betaflight:
		return newBetaflight(c, p)
	case bridge.Crazyswarm2, bridge.Crazyswarm2FullState:
		return newCrazyflie(c, p)
	case bridge.Aerostack2:
		return newAerostack2(c, p)
	case bridge.MRS:
		return newMRS(c, p)
	}
	return noAutopilot{}, nil
}

// noAutopilot is behind the topic command, where nothing is said of it.
type noAutopilot struct{}

func (noAutopilot) volts() float64                                      { return 0 }
func (noAutopilot) lastReport() (s bridge.Autopilot, age time.Duration) { return s, forever }
func (noAutopilot) notOffboard() bool                                   { return false }
func (noAutopilot) fault() string                                       { return "" }
func (noAutopilot) offboard(context.Context) error                      { return errNoAutopilot }
func (noAutopilot) disarm(context.Context) error                        { return errNoAutopilot }
func (noAutopilot) kill(context.Context) error                          { return errNoAutopilot }
func (noAutopilot) land(context.Context) error                          { return nil } // its failsafe does
func (noAutopilot) landsUnasked() bool                                  { return false }

var errNoAutopilot = errors.New("this command_interface has no autopilot to arm: whoever hears the commands does that")

// reports keeps what an autopilot says: its state and its battery's voltage.
type reports struct {
	clock   *ros.Clock // of the node
	last    atomic.Pointer[report]
	voltage atomic.Uint64  // float64 bits, V
	battery bridge.Battery // of one callback
}

// report is one report of an autopilot, with its time.
type report struct {
	bridge.Autopilot
	at    time.Time // on the machine
	stamp ros.Time  // on the node's clock
}

// lastReport has an age by whichever clock makes it less: simulated time may be slower than the machine's, and may
// leap.
func (s *reports) lastReport() (bridge.Autopilot, time.Duration) {
	w := s.last.Load()
	if w == nil {
		return bridge.Autopilot{}, forever
	}
	age := time.Since(w.at)
	if d := time.Duration(s.clock.Now() - w.stamp); d >= 0 && d < age {
		age = d
	}
	return w.Autopilot, age
}

// notFollowed goes by a report that is not older than silence, of an autopilot to which there is a connection. mavros
// says not armed and no mode where it has lost that: then, as where nothing is heard any more, nobody knows, and the
// guard assumes flight.
func notFollowed(a interface {
	lastReport() (bridge.Autopilot, time.Duration)
}) bool {
	s, age := a.lastReport()
	return age < silence && s.Connected && !s.Follows()
}

func (s *reports) notOffboard() bool { return notFollowed(s) }

func (s *reports) addReport(a bridge.Autopilot) { s.last.Store(&report{a, time.Now(), s.clock.Now()}) }

func (s *reports) volts() float64 { return math.Float64frombits(s.voltage.Load()) }

// measured takes a voltage in.
func (s *reports) measured(volts float64) {
	s.voltage.Store(math.Float64bits(s.battery.Measured(volts, time.Now().UnixNano())))
}

// px4Autopilot is behind PX4's own topics. Their names carry the version of the message where that is not 0.
type px4Autopilot struct {
	reports
	c          *Controller
	commands   *ros.Publisher[px4msgs.VehicleCommand]
	status     string // full names without a version
	battery    string
	in         []fmuInput // what PX4 is to take
	subscribed map[string]io.Closer
	wrong      atomic.Pointer[string]
	follows    atomic.Uint32 // nav_state in which it follows setpoints
}

// fmuInput is a topic that PX4 is to take, in version 0 of its message or in another.
type fmuInput struct {
	topic   string // its full name in an autopilot
	another int    // 0: none
}

// newPX4Autopilot is PX4 that follows in a nav_state, and hears topics.
func newPX4Autopilot(c *Controller, p *Params, follows uint8, topics []fmuInput) (*px4Autopilot, error) {
	a := &px4Autopilot{reports: reports{clock: c.Clock()}, c: c, subscribed: map[string]io.Closer{}}
	a.follows.Store(uint32(follows))
	var err error
	if a.commands, err = ros.NewPublisher[px4msgs.VehicleCommand](c, p.autopilotName("fmu/in/vehicle_command"),
		node.CommandQoS()); err != nil {
		return nil, err
	}
	c.keep(a.commands)
	full := func(topic string) string {
		name, e := c.ResolveTopic(p.autopilotName(topic))
		err = errors.Join(err, e)
		return name
	}
	a.status, a.battery = full("fmu/out/vehicle_status"), full("fmu/out/battery_status")
	for _, in := range topics {
		a.in = append(a.in, fmuInput{full("fmu/in/" + in.topic), in.another})
	}
	if err != nil {
		return nil, err
	}
	const often = 250 * time.Millisecond
	t, err := c.NewWallTimer(often, a.look)
	if err != nil {
		return nil, err
	}
	c.keep(t)
	a.look()
	return a, nil
}

// look listens to whichever version of a topic is there, and sees which versions PX4 hears.
func (a *px4Autopilot) look() {
	g := a.c.Context().Graph()
	subscribers := map[string]map[int]bool{}
	for name := range g.Topics() {
		if _, ok := bridge.Version(name, a.status); ok && len(g.Publishers(name)) > 0 {
			a.listen(name, "px4_msgs/msg/VehicleStatus", func(data []byte, _ ros.Info) error {
				s, err := bridge.FromVehicleStatusIn(data, uint8(a.follows.Load()))
				if err == nil {
					a.addReport(s)
				}
				return err
			})
		}
		if _, ok := bridge.Version(name, a.battery); ok && len(g.Publishers(name)) > 0 {
			a.listen(name, "px4_msgs/msg/BatteryStatus", func(data []byte, i ros.Info) error {
				v, err := bridge.VoltageOfBatteryStatus(data)
				if err == nil && a.c.voltage(v, i.Publisher) {
					a.measured(v)
				}
				return err
			})
		}
		for _, in := range a.in {
			if v, ok := bridge.Version(name, in.topic); ok && len(g.Subscriptions(name)) > 0 {
				if subscribers[in.topic] == nil {
					subscribers[in.topic] = map[int]bool{}
				}
				subscribers[in.topic][v] = true
			}
		}
	}
	a.compare(subscribers)
}

// compare finds a topic that PX4 hears in other versions alone.
func (a *px4Autopilot) compare(subscribers map[string]map[int]bool) {
	for _, in := range a.in {
		versions := subscribers[in.topic]
		if len(versions) == 0 || versions[0] || versions[in.another] {
			continue
		}
		sent := "0"
		if in.another > 0 {
			sent = fmt.Sprintf("0 or %d", in.another)
		}
		text := fmt.Sprintf("topic %s: PX4 hears version %d of the message, expected %s, as sent here: the firmware "+
			"is of another px4_msgs", in.topic, slices.Min(slices.Collect(maps.Keys(versions))), sent)
		a.wrong.Store(&text)
		return
	}
	a.wrong.Store(nil)
}

// listen hears one topic, once. What cannot be read is as if it had not come.
func (a *px4Autopilot) listen(topic, typeName string, read func([]byte, ros.Info) error) {
	if a.subscribed[topic] != nil {
		return
	}
	s, err := ros.NewRawSubscription(a.c, topic, typeName, node.AutopilotQoS(), func(data []byte, i ros.Info) {
		if err := read(data, i); err != nil {
			a.c.gauges.refuse(fmt.Errorf("topic %s: %w", topic, err))
		}
	})
	if err != nil {
		a.c.Log().Error().Msg(err.Error())
		return
	}
	a.subscribed[topic] = s
	a.c.keep(s)
}

func (a *px4Autopilot) fault() string {
	if w := a.wrong.Load(); w != nil {
		return *w
	}
	return ""
}

func (a *px4Autopilot) offboard(context.Context) error {
	m := bridge.ToOffboard()
	return a.commands.Publish(&m)
}

func (a *px4Autopilot) disarm(context.Context) error {
	m := bridge.Disarm()
	return a.commands.Publish(&m)
}

func (a *px4Autopilot) kill(context.Context) error {
	m := bridge.Kill()
	return a.commands.Publish(&m)
}

func (a *px4Autopilot) landsUnasked() bool { return true }

func (a *px4Autopilot) land(context.Context) error {
	m := bridge.Land()
	return a.commands.Publish(&m)
}
