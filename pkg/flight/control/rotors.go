package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/motors"
	"vnd/pkg/robot/rotors"
)

// rotorSide is what a vehicle whose motors are commanded has beside. The guard sees thrust and body rates that come to
// the same as what the policy asks the motors for, and its own are turned into motors.
type rotorSide struct {
	vehicle *motors.Vehicle
	limits  quad.Limits
	lead    float64 // s, after which the guard's model has rates follow

	gyro     so3.Vec3 // body rates measured last, rad/s
	measured int64    // when, ns; 0: never
	was      quad.State
	wasAt    int64 // ns
	turning  motors.Turning

	asked   motors.Command // by the policy
	decided int64          // when motors last went out, ns; 0: never
}

// maxRatesAge is the age above which body rates are not used, ns: two ticks at 50 Hz.
const maxRatesAge = 40e6

// CommandMotors has the loop command the motors of an airframe: its policies command rotors.
func (l *Loop) CommandMotors(a *rotors.Airframe) error {
	v, err := motors.New(a)
	if err != nil {
		return err
	}
	g := &l.config.Guard.Response
	l.rotors = &rotorSide{vehicle: v, limits: l.config.Limits, lead: g.RateDelay + g.RateLag}
	return nil
}

// SetRates takes body rates that were measured at now (ns), rad/s.
func (l *Loop) SetRates(now int64, w so3.Vec3) {
	if l.rotors != nil {
		l.rotors.gyro, l.rotors.measured = w, now
	}
}

// measures reports whether there are fresh body rates.
func (r *rotorSide) measures(now int64) bool {
	return r.measured != 0 && abs(now-r.measured) <= maxRatesAge
}

// turned takes a state, whose attitudes tell of body rates where no gyroscope does.
func (r *rotorSide) turned(s *quad.State, stamp int64) {
	const longest = 0.1 // s
	if dt := seconds(stamp, r.wasAt); dt > 0 && dt < longest {
		w := so3.Log(r.was.Q.Conj().Mul(s.Q)).Scale(1 / dt)
		r.turning.Attitudes(w, r.wasAt+(stamp-r.wasAt)/2)
	}
	r.was, r.wasAt = *s, stamp
}

// rates are the best that are known at now: of the gyroscope, else what the motors lead to, corrected by attitudes.
func (r *rotorSide) rates(now int64) so3.Vec3 {
	w := r.turning.At(now)
	if r.measures(now) {
		w = r.gyro
		r.turning.Measured(w)
	}
	return w
}

// answer has the policy ask for motors, within the greatest thrust of all together, and returns what they come to.
func (r *rotorSide) answer(l *Loop, t float64, s *quad.State) quad.Command {
	w := r.rates(l.ticked)
	r.asked = r.vehicle.Within(l.runner.Motors(t, &rotors.State{State: *s, W: w}), r.limits.MaxThrust)
	return r.limits.Clip(r.vehicle.Equivalent(r.asked, w, r.lead))
}

// decide makes motors of a decision at now: the policy's within the limits of each, or the guard's by rate loop and
// mixer.
func (r *rotorSide) decide(now int64, q *Request, d *Decision) {
	const longest = 0.1 // s
	dt := longest
	if r.decided != 0 {
		dt = min(max(seconds(now, r.decided), 0), longest)
	}
	r.decided = now
	w := r.rates(now)
	if q != nil && d.Stage == guard.Policy {
		d.Motors = r.vehicle.Limit(q.Motors, dt)
		if d.Motors != q.Motors {
			d.Stage = guard.Limited
		}
	} else {
		d.Motors = r.vehicle.Limit(r.vehicle.Mix(d.Sent, w), dt)
	}
	r.vehicle.Sent(d.Motors)
	turn := so3.Vec3{} // of motors that somebody else commands nothing is known
	if d.Offboard && !d.Silent {
		_, turn = r.vehicle.Collective(d.Motors)
	}
	r.turning.Ask(turn)
}
