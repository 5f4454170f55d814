// Package battery says how much charge a flying robot has left, by a voltage that may be wrong, and what that asks for.
//
// A model of the load predicts the charge: hovering takes a full pack flight_time, and power goes with thrust to the
// power of 3/2, as momentum theory has it. Voltages correct the prediction within what batteries can do; one outside of
// that is refused. Times are of one clock, in s; the charge is a share of a full pack, 0 to 1.
package battery

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/quad"
)

// Config of a Monitor, as the airframe's file has it.
type Config struct {
	Cells      int     `param:"cells" default:"0" min:"0" max:"24" doc:"lithium polymer cells in series, by which charge is told; 0: the battery is not watched"`
	HoverSag   float64 `param:"hover_sag" default:"0.0" min:"0" max:"50" unit:"V" doc:"voltage of the resting pack less that of the pack in hover; 0 takes charge for lower than it is"`
	FlightTime float64 `param:"flight_time" default:"300.0" min:"10" max:"7200" unit:"s" doc:"time for which a full pack hovers, to within a factor of two"`
	Warn       float64 `param:"warn" default:"0.3" min:"0" max:"1" doc:"share of the charge from which on diagnostics warn, and no take-off begins"`
	Return     float64 `param:"return" default:"0.25" min:"0" max:"1" doc:"share of the charge from which on the robot flies to where it took off, and no other task is taken; 0: never"`
	Land       float64 `param:"land" default:"0.2" min:"0" max:"1" doc:"share of the charge from which on the robot lands where it is; 0: never"`
}

// Watched reports whether there is a battery to watch.
func (c *Config) Watched() bool { return c.Cells > 0 }

// Check refuses thresholds out of order.
func (c *Config) Check() error {
	if !(c.Land <= c.Return && c.Return <= c.Warn) {
		return fmt.Errorf("parameters battery.land, battery.return, battery.warn are %g, %g, %g, expected none below "+
			"the one before", c.Land, c.Return, c.Warn)
	}
	return nil
}

// Level is what the charge asks for.
type Level uint8

// Levels, in the order in which they come.
const (
	Unknown Level = iota // no voltage has come
	Good
	Warn
	Return
	Land
)

var levels = [...]string{"unknown", "good", "low", "so low that the robot returns", "so low that it lands"}

// String names the level.
func (l Level) String() string {
	if int(l) < len(levels) {
		return levels[l]
	}
	return "unknown"
}

// Why a voltage is not gone by.
var (
	ErrNoBattery = errors.New("no voltage of such a battery")
	ErrFell      = errors.New("the voltage fell faster than any battery's does")
	ErrRose      = errors.New("the voltage rose, which no battery's does in flight")
	ErrSilent    = errors.New("no voltage comes any more: the charge is carried on by the load")
)

const (
	tolerance   = 0.15 // V a cell, between voltages that batteries differ by and what they say
	slack       = 0.08 // of the charge, by which the belief may err
	quickest    = 3.0  // times the load model's drain: a battery's greatest
	slowest     = 0.5  // times that: its least
	correcting  = 12.0 // s, time constant with which voltages correct the charge
	learning    = 40.0 // s, time constant of the slope
	loadTime    = 0.7  // s, time constant of the load, as that of a voltmeter's filter
	settling    = 3.0  // s after a landing before the voltage is that of a resting pack
	silence     = 5.0  // s without a voltage that counts
	reporting   = 5.0  // s for which a refused voltage is reported
	persistence = 10.0 // s after which a low voltage, alone, is followed as quickly as a battery falls
	hysteresis  = 0.1  // of the charge: on the ground, above a threshold, another flight may begin
	emptyCell   = 2.5  // V
	fullCell    = 4.5  // V, of high-voltage cells under charge
)

// Monitor follows the charge of a battery. It is for one goroutine.
type Monitor struct {
	config Config
	known  bool
	charge float64
	slope  float64 // of the charge, in drains of the load model
	load   float64 // power, in shares of that in hover
	now    float64 // s; NaN before the first step
	flying bool    // or it stands for a moment only
	level  Level

	standing     float64 // s on the ground
	begun        float64 // s, of the first step
	received     float64 // s, of the newest voltage that counted; −Inf before
	drained      float64 // by the load model since then
	refusedAt    float64 // s
	refusal      error
	refusedVolts float64
}

// NewMonitor has seen nothing.
func NewMonitor(c Config) *Monitor {
	return &Monitor{config: c, now: math.NaN(), slope: 1, load: 1, received: math.Inf(-1), refusedAt: math.Inf(-1)}
}

// Step lets time pass until now, under a thrust in m/s². In flight the charge falls with it.
func (m *Monitor) Step(now, thrust float64, flying bool) {
	if math.IsNaN(m.now) {
		m.begun, m.now = now, now
	}
	dt := now - m.now
	if !(dt >= 0 && dt < silence) { // the clock was set
		m.received, m.refusedAt, m.begun = m.received+dt, m.refusedAt+dt, m.begun+dt
		dt = 0
	}
	m.now = now
	if m.standing += dt; flying {
		m.standing, m.flying = 0, true
	} else if m.standing > settling {
		m.flying = false
	}
	power := math.Pow(max(thrust, 0)/quad.Gravity, 1.5)
	if !(power < 100) {
		power = 1
	}
	m.load += (power - m.load) * (1 - math.Exp(-dt/loadTime))
	if flying && m.known {
		drain := m.load / m.config.FlightTime * dt
		m.drained += drain
		m.charge = max(m.charge-m.slope*drain, 0)
	}
	m.decide()
}

// Measure takes in a voltage of the pack, of now. The error says why it is not gone by.
func (m *Monitor) Measure(volts float64) error {
	if math.IsNaN(m.now) { // no time yet
		return nil
	}
	err := m.take(volts)
	if err != nil {
		m.refusal, m.refusedVolts, m.refusedAt = err, volts, m.now
	}
	m.decide()
	return err
}

func (m *Monitor) take(volts float64) error {
	cell := (volts + m.config.HoverSag*m.load) / float64(m.config.Cells)
	if raw := volts / float64(m.config.Cells); !(raw >= emptyCell && cell <= fullCell) {
		return ErrNoBattery
	}
	measured := chargeOf(cell)
	if !m.known || !m.flying {
		m.known, m.charge, m.received, m.drained, m.slope = true, measured, m.now, 0, 1
		return nil
	}
	switch {
	case cell > CellVoltage(m.charge+slack)+tolerance:
		return ErrRose
	case cell < CellVoltage(m.charge-slack)-tolerance:
		if m.now-m.received > persistence {
			m.correct(measured)
		}
		return ErrFell
	}
	m.correct(measured)
	m.received = m.now
	return nil
}

// correct moves the charge towards a measured one, so that its slope stays within what batteries do.
func (m *Monitor) correct(measured float64) {
	drain := min(m.drained, silence*m.load/m.config.FlightTime)
	m.drained = 0
	if drain == 0 {
		return
	}
	dt := drain * m.config.FlightTime / max(m.load, 0.1)
	change := (measured - m.charge) * (1 - math.Exp(-dt/correcting))
	change = min(max(change, (m.slope-quickest)*drain), (m.slope-slowest)*drain)
	m.charge = max(m.charge+change, 0)
	m.slope += (m.slope - change/drain - m.slope) * (1 - math.Exp(-dt/learning))
	m.slope = min(max(m.slope, slowest), quickest)
}

// decide finds the level. In flight it never goes back, as the charge does not rise.
func (m *Monitor) decide() {
	if !m.known {
		return
	}
	level, c := Good, &m.config
	for l, threshold := range [...]float64{Warn: c.Warn, Return: c.Return, Land: c.Land} {
		l := Level(l)
		if threshold > 0 && (m.charge <= threshold || m.level >= l && m.charge <= threshold+hysteresis) {
			level = max(level, l)
		}
	}
	m.level = level
}

// Level is what the charge asks for.
func (m *Monitor) Level() Level { return m.level }

// Charge is the share that is left; false before the first voltage.
func (m *Monitor) Charge() (share float64, known bool) { return m.charge, m.known }

// Left is the time until the landing at the present load, s.
func (m *Monitor) Left() float64 {
	return max(m.charge-m.config.Land, 0) * m.config.FlightTime / max(m.slope*m.load, 0.1)
}

// Fault is what is wrong with the voltage now; nil: nothing.
func (m *Monitor) Fault() error {
	if m.now-m.refusedAt < reporting {
		return fmt.Errorf("%w: %.4g V of %d cells", m.refusal, m.refusedVolts, m.config.Cells)
	}
	if !m.known && m.now-m.begun > silence {
		return errors.New("no voltage has come: nothing lands the robot before its battery is empty")
	}
	if m.known && m.now-m.received > silence {
		return ErrSilent
	}
	return nil
}

// openCircuit is the voltage of a resting lithium polymer cell at 0, 10 … 100 % of its charge, as data sheets have it.
var openCircuit = [11]float64{3.27, 3.61, 3.69, 3.73, 3.77, 3.80, 3.84, 3.91, 3.98, 4.08, 4.20}

// CellVoltage is that of a resting cell at a charge, V.
func CellVoltage(charge float64) float64 {
	x := 10 * max(0, min(1, charge))
	i := min(int(x), 9)
	return openCircuit[i] + (x-float64(i))*(openCircuit[i+1]-openCircuit[i])
}

// chargeOf is the charge of a resting cell's voltage.
func chargeOf(volts float64) float64 {
	for i := range 10 {
		if lo, hi := openCircuit[i], openCircuit[i+1]; volts < hi {
			return max(0, (float64(i)+(volts-lo)/(hi-lo))/10)
		}
	}
	return 1
}
