package betaflightbridge

import (
	"errors"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/link"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/airframe"
)

// Name of the node.
const Name = "betaflight_bridge"

// Params of the node, read at its start.
type Params struct {
	Port      string  `param:"port" default:"/dev/ttyACM0" read_only:"true" doc:"port for the sticks: a serial device, or tcp:HOST:PORT"`
	Protocol  string  `param:"protocol" default:"msp" enum:"msp,crsf,sbus" read_only:"true" doc:"protocol for the sticks"`
	Telemetry string  `param:"telemetry_port" default:"" read_only:"true" doc:"port that speaks MSP; needed beside crsf and sbus, for the board's settings and whether it is armed"`
	Rate      float64 `param:"rate" default:"250.0" min:"50" max:"500" unit:"Hz" read_only:"true" doc:"rate of the frames with sticks; a command goes out at once besides"`
	Idle      float64 `param:"motor_idle" default:"0.055" min:"0" max:"0.2" read_only:"true" doc:"least output of an armed motor, motor_idle / 10000 of the board; thrust_curve is then that of the motors"`
	link.Times

	quad.Limits     `file:"airframe"`
	bridge.Throttle `file:"airframe"`
	Airframe        string `param:"airframe" default:"" read_only:"true" doc:"file of the vehicle: throttle and limits; empty takes the defaults of params/airframe.yaml"`
}

// SetAirframe sets what the airframe's file holds.
func (p *Params) SetAirframe(a *airframe.Airframe) {
	p.Limits, p.Throttle = a.Limits, bridge.Throttle(a.Throttle)
}

func (p *Params) check() error {
	if p.Protocol != link.MSP && p.Telemetry == "" {
		return errors.New("parameter telemetry_port is not set: beside " + p.Protocol +
			" the board's settings are read there")
	}
	return p.Throttle.Check()
}

// thrust is how throttle becomes thrust.
func (p *Params) thrust() betaflight.Thrust {
	return betaflight.Thrust{Throttle: p.Throttle, Idle: p.Idle}
}

// fastest is the greatest rate that the sticks must reach, rad/s.
func (p *Params) fastest() float64 { return max(p.MaxTiltRate, p.MaxYawRate) }
