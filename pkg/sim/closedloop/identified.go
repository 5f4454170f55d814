package closedloop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/guard"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/sim"
)

// looks is what quadrotor.Identify finds of sim.Default: delay and lag together, s, and the drag, 1/s. Motion capture,
// and what makes states of its poses, are in it.
type looks struct{ thrust, thrustDelay, rate, rateDelay, yawLag, drag float64 }

// A filter of poses has states of now, where an estimator has those of before.
var (
	bareLooks     = looks{thrust: 0.055, thrustDelay: 0.050, rate: 0.067, rateDelay: 0.046, yawLag: 0.024, drag: 0.275}
	filteredLooks = looks{thrust: 0.042, thrustDelay: 0.040, rate: 0.0565, rateDelay: 0.040, yawLag: 0.024, drag: 0.275}
)

// looksOf is what the default robot looks like by the states that policies fly by.
func looksOf(filtered bool) *looks {
	if filtered {
		return &filteredLooks
	}
	return &bareLooks
}

// Of implements quadgate.Simulator.
func (j *Judge) Of(r ...quadgate.Identified) gate.Judge {
	like := *j
	like.identified = slices.DeleteFunc(slices.Clone(r), func(x quadgate.Identified) bool {
		return !x.Known()
	})
	return &like
}

// Misfit implements quadgate.Simulator. Filtered states by a response that is not the robot's show its thrust up to
// twice as far off as it is.
func (j *Judge) Misfit(r *quadgate.Identified) string {
	const most = 0.02 // s; where the lab's is the robot's, flights show it to 13 ms
	if !r.Known() {
		return ""
	}
	var plain guard.Config
	param.Default(&plain)
	lab, found := &plain.Response, ResponseOf(r, j.Filter)
	if j.Guard != nil {
		lab = &j.Guard.Response
	}
	thrust := found.ThrustDelay + found.ThrustLag - lab.ThrustDelay - lab.ThrustLag
	rate := found.RateDelay + found.RateLag - lab.RateDelay - lab.RateLag
	if math.Abs(thrust) < most && math.Abs(rate) < most {
		return ""
	}
	about := func(s float64) float64 { return 20 * math.Round(50*s) } // ms, the same from round to round
	line := fmt.Sprintf("by its flights thrust answers about %+.0f ms and body rates %+.0f ms later than "+
		"guard.response says", about(thrust), about(rate))
	if !j.Filter {
		return line + ": set it to the robot's, unless states are as late"
	}
	return line + ": set it to the robot's, and begin with an empty buffer: what was recorded leans towards it"
}

// ResponseOf is the guard.response of a lab that set it to what was identified, as far as that can be written. A delay
// that counts as a lag there has filtered states show thrust by up to 30 ms too late.
func ResponseOf(r *quadgate.Identified, filtered bool) *guard.Response {
	var c guard.Config
	param.Default(&c)
	a, out, plain := &r.Actuator, &c.Response, looksOf(filtered)
	delay := func(of *float64, found float64) { *of = min(max(0, *of+found), guard.LongestDelay) }
	lag := func(of *float64, found float64) { *of = min(max(0, *of+found), guard.LongestLag) }
	delay(&out.ThrustDelay, a.ThrustDelay*r.Dt-plain.thrustDelay)
	lag(&out.ThrustLag, a.ThrustLag-(plain.thrust-plain.thrustDelay))
	delay(&out.RateDelay, a.RateDelay*r.Dt-plain.rateDelay)
	lag(&out.RateLag, a.RateLag-(plain.rate-plain.rateDelay))
	return out
}

// responding returns a world whose robot follows commands as an identified one does. Flights tell delay and lag to a
// few milliseconds, which are drawn. Every trial draws up to 10 ms of delay beside: the judge's robot is rather later
// than the true one, for a policy that flies the later of two flies the earlier, and not the other way round.
func responding(w sim.World, r *quadgate.Identified, plain *looks, rng *rand.Rand) sim.World {
	a, motorLag := &r.Actuator, w.Motor.Lag
	const spread = 0.005 // s, of delays and lags
	off := func() float64 { return spread * (2*rng.Float64() - 1) }
	thrust := a.ThrustDelay*r.Dt + a.ThrustLag - plain.thrust + off()
	rate := a.RateDelay*r.Dt + a.RateLag - plain.rate + off()
	before := following(&w.RateLoop, 0, w.Motor.Gain)
	w.Motor.Gain = min(max(a.ThrustGain, 0.5), 1.5)
	later := following(&w.RateLoop, 0, w.Motor.Gain) - before // weaker motors turn the robot later, too
	rate -= later
	// A rate loop behind motors is of second order: of its lag the identification takes most for delay.
	const asDelay = 0.6
	beyond := a.RateDelay*r.Dt - plain.rateDelay + off() - asDelay*later
	lag := min(max(0, (rate-beyond)/(1-asDelay)), max(0, rate))
	w.Link.Delay = min(max(0, w.Link.Delay+rate-lag), 0.2)
	slowDown(&w, lag, a.YawLag-plain.yawLag)
	w.Link.ThrustLag = min(max(0, thrust-(rate-lag)-(w.Motor.Lag-motorLag)), 1)
	w.Mocap.Position, w.Mocap.Attitude = max(w.Mocap.Position, r.Position), max(w.Mocap.Attitude, r.Attitude)
	if r.Gap > 0 {
		w.Mocap.Dropout = sim.Outage{Every: r.Every, Length: r.Gap}
	}
	if r.Drag > 0 {
		by := min(r.Drag/plain.drag, 4)
		w.Drag.Rotor, w.Drag.Body = scaled(w.Drag.Rotor, by), scaled(w.Drag.Body, by)
	}
	return w
}

// following is the time constant with which body rates follow about an axis, s: motors bring a gain times the torques
// that the rate loop asks for.
func following(l *sim.RateLoop, axis int, gain float64) float64 {
	return (1 + gain*l.Damping[axis]) / (gain * l.Gain[axis])
}

// slowDown has body rates follow later by a lag, s, and yaw by another beside it, where that is above 0. Half of the
// lag of all rates is of the motors.
func slowDown(w *sim.World, lag, yaw float64) {
	const share = 0.5
	w.Motor.Lag += share * lag
	loop := &w.RateLoop
	loop.Gain, loop.Integral = slices.Clone(loop.Gain), slices.Clone(loop.Integral)
	for i, gain := range loop.Gain {
		before, later := following(loop, i, w.Motor.Gain), lag
		if i == 2 {
			later += max(0, yaw)
		}
		by := before / (before + later)
		loop.Gain[i], loop.Integral[i] = by*gain, by*by*loop.Integral[i]
	}
}

func scaled(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = by * x[i]
	}
	return out
}
