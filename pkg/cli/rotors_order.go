package cli

import (
	"fmt"

	"vnd/pkg/bridge/logs"
	"vnd/pkg/robot/rotors"
)

// motorOrder is what the angular acceleration of flights says about the order of their motors. ok is false where they
// are too short or say too little.
func motorOrder(flights []*rotors.Flight) (o logs.Order, ok bool) {
	const apart, enough = 1, 10 // s
	l, seconds := new(logs.Log), 0.
	rates, motors := &l.Series[logs.Rates], &l.Series[logs.Motors]
	rates.Width, motors.Width = 3, 4
	for _, f := range flights {
		for k, t := range f.Time {
			rates.T = append(rates.T, seconds+t-f.Time[0])
			rates.V = append(rates.V, f.State[k][10:]...)
			motors.V = append(motors.V, f.Motors[k][:]...)
		}
		seconds = rates.T[len(rates.T)-1] + apart
	}
	motors.T = rates.T
	o, ok = l.MotorOrder()
	return o, ok && seconds > enough
}

// ordered refuses flights whose motors stand in another order than ours.
func ordered(flights []*rotors.Flight) error {
	if o, ok := motorOrder(flights); ok && o.Known() && !o.Right() {
		return fmt.Errorf("%s and those beside it: the angular acceleration says %s (%.0f %% explained), expected "+
			"m1 front right, m2 rear right, m3 rear left, m4 front left: those are columns %s", flights[0].File, &o,
			100*o.R2, o.Flag())
	}
	return nil
}
