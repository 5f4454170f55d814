package cli

import (
	"fmt"
	"slices"

	"vnd/pkg/bridge/logs"
	"vnd/pkg/robot/rotors"
)

// logOf is flights with motors, one after the other, as a log.
func logOf(flights ...*rotors.Flight) (l *logs.Log, seconds float64) {
	const apart = 1 // s
	l = new(logs.Log)
	attitude, rates, motors := &l.Series[logs.Attitude], &l.Series[logs.Rates], &l.Series[logs.Motors]
	attitude.Width, rates.Width, motors.Width = 4, 3, 4
	for _, f := range flights {
		for k, t := range f.Time {
			rates.T = append(rates.T, seconds+t-f.Time[0])
			attitude.V = append(attitude.V, f.State[k][3:7]...)
			rates.V = append(rates.V, f.State[k][10:]...)
			motors.V = append(motors.V, f.Motors[k][:]...)
		}
		seconds = rates.T[len(rates.T)-1] + apart
	}
	attitude.T, motors.T = rates.T, rates.T
	return l, seconds
}

// motorOrder is what the angular acceleration of flights says about the order of their motors. ok is false where they
// are too short or say too little.
func motorOrder(flights []*rotors.Flight) (o logs.Order, ok bool) {
	const enough = 10 // s
	l, seconds := logOf(flights...)
	o, ok = l.MotorOrder()
	return o, ok && seconds > enough
}

// sound refuses flights whose motors stand in another order than ours, or whose rates and attitudes are of clocks that
// wander apart.
func sound(flights []*rotors.Flight) error {
	if o, ok := motorOrder(flights); ok && o.Known() && !o.Right() {
		return fmt.Errorf("%s and those beside it: the angular acceleration says %s (%.0f %% explained), expected "+
			"m1 front right, m2 rear right, m3 rear left, m4 front left: those are columns %s", flights[0].File, &o,
			100*o.R2, o.Flag())
	}
	for _, f := range flights {
		l, _ := logOf(f)
		if c := l.CheckClock(); c.State == logs.Wrong {
			return fmt.Errorf("%s: %s: %s: %s", f.File, c.Name, c.Detail, c.Cost)
		}
	}
	return nil
}

// likePulses reports whether all motors are within the range of pulses, µs, with a battery beside, which speeds do
// without.
func likePulses(flights []*rotors.Flight) bool {
	const least, most = 1000, 2000
	for _, f := range flights {
		for _, m := range f.Motors {
			if f.Volts == nil || slices.Min(m[:]) < least || slices.Max(m[:]) > most {
				return false
			}
		}
	}
	return true
}
