package quadrotor

import "math"

// MaxDelay is the length of the command delay line in control steps.
const MaxDelay = 8

// Actuator is the identified chain from a command to what the airframe does: gain, delay, first-order lag, for thrust
// and for the three body rates alike. Yaw has a lag of its own beside that of all rates: drag of the propellers, which
// turns a robot about its thrust, is weak, so that its loop is slow. The zero value is not meaningful; start from
// NominalActuator. Delays are in steps; an airframe's file has delays of the same names in s.
type Actuator struct {
	ThrustGain  float64 `json:"thrust_gain"`       // –
	ThrustDelay float64 `json:"thrust_delay"`      // control steps, 0 … MaxDelay, fractions interpolate
	ThrustLag   float64 `json:"thrust_lag"`        // s, time constant
	RateGain    float64 `json:"rate_gain"`         // –
	RateDelay   float64 `json:"rate_delay"`        // control steps
	RateLag     float64 `json:"rate_lag"`          // s
	YawLag      float64 `json:"yaw_lag,omitempty"` // s, by which the time constant of yaw is longer
}

// NominalActuator does at once what it is told.
func NominalActuator() Actuator { return Actuator{ThrustGain: 1, RateGain: 1} }

// blend is the share of the new command that a first-order lag takes over one step of dt seconds.
func blend(lag, dt float64) float64 {
	if lag <= 0 {
		return 1
	}
	return 1 - math.Exp(-dt/lag)
}

// tap splits a fractional delay into the index of its younger command (0 = the present one) and the weight of the
// elder one.
func tap(delay float64) (int, float64) {
	delay = math.Min(math.Max(delay, 0), MaxDelay)
	i := int(delay)
	if i == MaxDelay {
		return MaxDelay - 1, 1
	}
	return i, delay - float64(i)
}
