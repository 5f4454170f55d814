package preflight

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Commanded is a command as it came. Its numbers may be anything.
type Commanded struct {
	Arrival float64 // s on the clock of who heard it
	Thrust  float64 // claimed to be m/s²
	Rates   so3.Vec3
}

// Hover is a recorded flight on the spot, with nudges to all sides, up and about the vertical.
type Hover struct {
	Poses    []Sample    // in the order of their arrival
	Commands []Commanded // likewise
	Mass     float64     // kg; 0: not known

	Throttle func(thrust float64) float64 // that commands became, 0 to 1; nil: none
}

// Response is how the vehicle follows commands.
type Response struct {
	ThrustGain  float64 `param:"thrust_gain" default:"0.0" min:"0" max:"10" doc:"thrust per commanded thrust; 0: not identified"`
	ThrustDelay float64 `param:"thrust_delay" default:"0.0" min:"0" max:"1" unit:"s" doc:"time before thrust begins to follow a command"`
	ThrustLag   float64 `param:"thrust_lag" default:"0.0" min:"0" max:"1" unit:"s" doc:"time constant with which it follows then"`
	RateGain    float64 `param:"rate_gain" default:"0.0" min:"0" max:"10" doc:"body rate per commanded rate; 0: not identified"`
	RateDelay   float64 `param:"rate_delay" default:"0.0" min:"0" max:"1" unit:"s" doc:"time before body rates begin to follow a command"`
	RateLag     float64 `param:"rate_lag" default:"0.0" min:"0" max:"1" unit:"s" doc:"time constant with which they follow then"`
}

// Known reports whether a hover was good enough to identify all of it.
func (r *Response) Known() bool { return r.ThrustGain > 0 && r.RateGain > 0 }

// leastHover is how long a hover has to be to say something of it, s.
const leastHover = 10.0

// Fly judges units, signs and delays of a hover's commands, and identifies the response. It is zero where the hover
// does not tell, or tells that something is wrong.
func Fly(h *Hover) (Response, []Finding) {
	if len(h.Poses) == 0 || len(h.Commands) == 0 {
		return Response{}, []Finding{wrong("hover",
			fmt.Sprintf("%d poses and %d commands", len(h.Poses), len(h.Commands)), "record both while it hovers")}
	}
	rec, length := resample(h)
	if length < leastHover {
		return Response{}, []Finding{wrong("hover",
			fmt.Sprintf("%.1f s with poses and commands without a gap, expected at least %.0f", length, leastHover),
			"hover for a minute")}
	}
	var r Response
	t, unit := rec.thrustUnit(h)
	f := []Finding{t}
	turn, rates := rec.rates()
	f = append(f, rates...)
	up, lift := rec.lift()
	f = append(f, lift...)
	for _, x := range f {
		if x.Wrong {
			return Response{}, f
		}
	}
	r.RateGain, r.RateDelay, r.RateLag = turn.gain, turn.delay, turn.lag
	r.ThrustGain, r.ThrustDelay, r.ThrustLag = quad.Gravity/unit, up.delay, up.lag
	return r, append(f, late(turn.delay))
}

// late judges the whole way from a command to the motion that motion capture stamps.
func late(delay float64) Finding {
	detail := fmt.Sprintf("the motion begins %.0f ms after a command", 1000*delay)
	if delay > mostLoop {
		return wrong("loop delay", detail, fmt.Sprintf("expected less than %.0f ms: are poses stamped on arrival "+
			"instead of when they were taken, or do commands wait on the way?", 1000*mostLoop))
	}
	return fine("loop delay", detail)
}

// thrustUnit judges the mean thrust of a hover, which it returns in m/s² as far as it is that.
func (r *record) thrustUnit(h *Hover) (Finding, float64) {
	const name = "thrust unit"
	mean := r.hoverThrust()
	detail := fmt.Sprintf("hover takes %.4g", mean)
	share := mean / quad.Gravity
	newtons := h.Mass > 0 && math.Abs(mean/(h.Mass*quad.Gravity)-1) < 0.3
	const hundred = 100.0 // kg: no such vehicle flies here
	switch {
	case share > 0.75 && share < 1.33:
		return fine(name, detail+fmt.Sprintf(" m/s²: a thrust gain of %.3f", 1/share)), mean
	case newtons:
		return wrong(name, detail+fmt.Sprintf(", expected about 9.81 m/s²: newtons of a vehicle of %.3g kg", h.Mass),
			"divide by the mass"), mean
	case share < -0.75 && share > -1.33:
		return wrong(name, detail+", expected about 9.81 m/s²: thrust is along z down (FRD)", "change its sign"), mean
	case mean > 0.9 && mean < 1.1:
		return wrong(name, detail+", expected about 9.81 m/s²: in units of gravity, or newtons of a vehicle of 0.1 kg",
			"multiply by 9.81"), mean
	case mean > 0 && mean <= 0.9:
		return wrong(name, detail+fmt.Sprintf(", expected about 9.81 m/s²: throttle 0…1, or newtons of a vehicle of "+
			"%.3g kg", share),
			"set command_interface and hover_throttle, or divide by the mass"), mean
	case share > 0 && share < hundred:
		detail += fmt.Sprintf(", expected about 9.81 m/s²: newtons of a vehicle of %.3g kg", share)
		if h.Throttle == nil {
			return wrong(name, detail, "divide by the mass"), mean
		}
		return wrong(name, detail, fmt.Sprintf("divide by the mass, or set hover_throttle: %.3g holds it",
			h.Throttle(mean))), mean
	}
	return wrong(name, detail+", expected about 9.81 m/s²: PWM or another number of the motors",
		"convert it to thrust over mass"), mean
}

// hoverThrust is the mean of what is commanded along the vertical, in m/s² as far as it is that.
func (r *record) hoverThrust() float64 {
	sum, n := 0.0, 0.0
	for k := range r.q {
		if r.whole[k] {
			sum += r.thrust[k*fine2] * math.Abs(r.q[k].ZAxis().Z)
			n++
		}
	}
	return sum / n
}

// rates judges axes, signs and unit of the commanded rates by the measured ones, and fits gain, delay and lag.
func (r *record) rates() (response, []Finding) {
	const name = "rate axes"
	a, sure := r.rateAxes()
	names := [...]string{"roll", "pitch", "yaw"}
	for i, c := range sure {
		if c < 0.35 {
			return response{}, []Finding{wrong("excitation",
				fmt.Sprintf("the measured %s rate follows no commanded one (correlation %.2f)", names[i], c),
				"hover again, with steps of 0.3 m to all sides and some of yaw")}
		}
	}
	fit := r.fitRates(a, 0, 1, 2)
	var f []Finding
	switch {
	case a == straight:
		f = append(f, fine(name, "roll, pitch and yaw turn as commanded"))
	case a == frdAxes:
		f = append(f, wrong(name, "FRD: pitch and yaw turn against their commands",
			"change the signs of pitch and yaw rate: body axes are forward, left, up"))
	default:
		f = append(f, wrong(name, "the measured rates: "+a.mapping("the command's"), "body axes are forward, left, up"))
	}
	return fit, append(f, rateUnit(fit.gain))
}

func rateUnit(gain float64) Finding {
	const name, degree = "rate unit", math.Pi / 180
	detail := fmt.Sprintf("the robot turns at %.3g of the commanded rate", gain)
	near := func(x float64) bool { return gain > x/1.7 && gain < x*1.7 }
	switch {
	case near(1):
		return fine(name, detail)
	case near(degree):
		return wrong(name, detail+": commands are in degrees per second", "convert them to rad/s")
	case near(1 / degree):
		return wrong(name, detail+": the robot takes them for degrees per second of another unit",
			"radians and degrees are mixed up on the way to the autopilot")
	}
	return wrong(name, detail, "expected about 1: is this the command that it flies by?")
}

// lift judges the sign of the vertical, and fits delay and lag of the thrust.
func (r *record) lift() (response, []Finding) {
	const name = "vertical"
	fit, c := r.fitThrust()
	detail := fmt.Sprintf("correlation of thrust and vertical acceleration %.2f", c)
	switch {
	case c < -0.35:
		return fit, []Finding{wrong(name, "the robot falls when thrust grows: "+detail,
			"z of the positions points down: set mocap_frame to ned")}
	case c < 0.35:
		return fit, []Finding{wrong("excitation", detail, "hover again, with steps of 0.3 m up and down")}
	}
	return fit, []Finding{fine(name, detail)}
}
