// Package flightlog turns recordings into flights: rows of state and command at Δt, cut wherever time has a gap.
//
// A flight CSV has such rows already. Topics, out of a bag or live, go through an Assembler, message by message.
package flightlog

import (
	"fmt"
	"math"

	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/estimator"
)

// Config says how topics become steps. Its defaults fit bags that vnd itself records; of others, it names what cannot
// be guessed.
type Config struct {
	Delta        float64 `param:"dt" default:"0.02" min:"0.001" max:"0.5" unit:"s" doc:"time step Δt of the rows"`
	PoseTopic    string  `param:"pose_topic" default:"" doc:"topic with poses or odometry; empty takes the only one there is"`
	Body         string  `param:"body" default:"" doc:"name of the rigid body, or of the transform's child frame, where the topic holds several"`
	WorldFrame   string  `param:"world_frame" default:"auto" enum:"auto,enu,ned" doc:"frame of the poses: enu (z up, body FLU), ned (z down, body FRD); auto takes ned where the frame's name ends in _ned"`
	TwistFrame   string  `param:"twist_frame" default:"auto" enum:"auto,body,world" doc:"frame of an odometry's velocity; auto takes world where child and parent have the same name"`
	PoseDelay    float64 `param:"pose_delay" default:"0.0" min:"-1" max:"1" unit:"s" doc:"how long before its stamp a pose was taken"`
	CommandTopic string  `param:"command_topic" default:"" doc:"topic with commands; empty takes the only one there is"`

	CommandInterface string `param:"command_interface" default:"auto" enum:"auto,vnd,mavros,px4,crazyswarm" doc:"whose commands they are; auto goes by the type (crazyswarm's Twist has to be named)"`

	HoverThrottle  float64          `param:"hover_throttle" default:"0.0" min:"0" max:"1" doc:"throttle at which the vehicle hovers, for mavros, px4 and crazyswarm (PWM/65535); 0 is not known"`
	ThrustCurve    float64          `param:"thrust_curve" default:"0.0" min:"0" max:"1" doc:"curve of thrust over throttle, as it was flown: 0 where thrust goes with throttle, 1 with its square"`
	LeastThrust    float64          `param:"least_thrust" default:"0.0" min:"0" max:"0.9" doc:"thrust at no throttle over that of a hover, as it was flown"`
	BatteryVoltage float64          `param:"battery_voltage" default:"0.0" min:"0" max:"200" unit:"V" doc:"voltage at which hover_throttle holds the vehicle, where throttle was to make up for the battery; 0 where it was not"`
	BatteryTopic   string           `param:"battery_topic" default:"" doc:"topic with the battery's voltage, for battery_voltage; empty takes the only one there is"`
	AutopilotTopic string           `param:"autopilot_topic" default:"" doc:"topic of the autopilot's state: commands count while armed and offboard; empty takes the only one, none every command"`
	CommandDelay   float64          `param:"command_delay" default:"0.0" min:"-1" max:"1" unit:"s" doc:"time after its stamp from which a command is in force"`
	CommandTimeout float64          `param:"command_timeout" default:"0.1" min:"0.001" max:"10" unit:"s" doc:"time for which a command is in force that no other follows"`
	Stamps         string           `param:"stamps" default:"auto" enum:"auto,header,receive" doc:"time of messages, of header or recording; auto takes headers unless they are empty or the topics' clocks differ"`
	MaxGap         float64          `param:"max_gap" default:"0.0" min:"0" max:"1" unit:"s" doc:"longest time without a pose within a segment; 0 is 1.5 dt"`
	FlightGap      float64          `param:"flight_gap" default:"2.0" min:"0" max:"3600" unit:"s" doc:"a longer time without rows in a bag begins another flight, for fits hold back whole flights; 0 keeps a bag one flight"`
	Estimate       estimator.Params `param:"estimate" doc:"estimator of the velocity from poses"`
}

// stampsReceive and stampsHeader are values of Config.Stamps.
const (
	stampsHeader  = "header"
	stampsReceive = "receive"
)

// Options of reading a recording.
type Options struct {
	Config
	Window int // rows of context; a flight needs Window+1 rows without a gap
	Limits PlausibleRange
}

// throttle is how commands became thrust.
func (c *Config) throttle() bridge.Throttle {
	return bridge.Throttle{Hover: c.HoverThrottle, Curve: c.ThrustCurve, Least: c.LeastThrust,
		Voltage: c.BatteryVoltage}
}

// PlausibleRange of the airframe: rates of a CSV beyond them are refused. Zero is unknown.
type PlausibleRange struct {
	Rate float64 // |ω_B|, rad/s
}

// DefaultOptions are 50 Hz and the paper's window of 20 rows.
func DefaultOptions() Options {
	o := Options{Window: 20}
	param.Default(&o.Config)
	return o
}

func (o Options) check() error {
	if !(o.Delta > 0) || math.IsInf(o.Delta, 1) {
		return fmt.Errorf("time step Δt is %g s, expected more than 0", o.Delta)
	}
	if o.Window < 1 {
		return fmt.Errorf("window is %d rows, expected at least 1", o.Window)
	}
	return nil
}

// gap is the longest time between two poses of one segment, s.
func (o Options) gap() float64 {
	if o.MaxGap > 0 {
		return o.MaxGap
	}
	return gapSteps * o.Delta
}

// Warning is a suspicion about a recording that was read nevertheless.
type Warning struct {
	File   string
	Line   int    // of a CSV; 0 when it is about the whole file
	Column string // of a CSV; "" when it is about no single column
	Topic  string // of a bag; "" when it is about no single topic
	Text   string
}

// String is one line: file:line: column "t": text, or file: topic /t: text.
func (w Warning) String() string {
	if w.Topic != "" {
		return w.File + ": topic " + w.Topic + ": " + w.Text
	}
	return where(w.File, w.Line, w.Column) + w.Text
}

// where returns the prefix of an error or a warning.
func where(file string, line int, column string) string {
	s := file
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
	}
	if column != "" {
		s += fmt.Sprintf(": column %q", column)
	}
	return s + ": "
}
