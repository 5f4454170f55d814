package logs

import (
	"fmt"
)

// mergeable is the correlation of gyro and attitude from which two recordings are of one flight.
const mergeable = 0.8

// longest is what two recordings may last together, s: each place of one in the other is tried.
const longest = 10000.

// Merge takes the state from another recording, of motion capture say. The clocks may be any time apart: the lag is
// found by correlation of the gyro with the turning of the attitude.
func (l *Log) Merge(state *Log) error {
	for _, c := range []Channel{Position, Attitude} {
		if !state.Has(c) {
			return fmt.Errorf("%s: no %s; it has %s", state.Path, c, state.Summary())
		}
	}
	if len(l.Series[Rates].T) < 2 {
		return fmt.Errorf("%s: no body rates to find its clock by; it has %s", l.Path, l.Summary())
	}
	for _, c := range []Channel{Position, Velocity, Attitude} {
		l.Series[c] = state.Series[c]
	}
	all := l.intervals()
	if len(all) < minIntervals || excitation(all) < stillRates {
		return fmt.Errorf("%s: too little turning to find the clock of %s by", state.Path, l.Path)
	}
	gyro := l.Series[Rates].T
	if apart := gyro[len(gyro)-1] - gyro[0] + all[len(all)-1].to - all[0].from; !(apart < longest) {
		return fmt.Errorf("%s and %s have %.0f s together, expected less than %.0f: cut out the flight", l.Path,
			state.Path,
			apart, longest)
	}
	lag, correlation := l.find(all)
	if correlation < mergeable {
		return fmt.Errorf("%s: not the flight of %s: at best the gyro follows the attitude with a correlation of %.2f",
			state.Path, l.Path, correlation)
	}
	l.Shift(lag)
	l.Notes = append(l.Notes, fmt.Sprintf("its clock is %.3f s ahead of that of %s (correlation %.2f)", lag, state.Path,
		correlation))
	return nil
}

// find looks for a lag at which half of the shorter recording lies within the longer.
func (l *Log) find(all []interval) (lag, correlation float64) {
	gyro := l.Series[Rates].T
	from, to := all[0].from, all[len(all)-1].to
	whole := thin(all)
	few := every(whole, 1+len(whole)/1500)
	share := min(1, (gyro[len(gyro)-1]-gyro[0])/(to-from))
	g := integrate(&l.Series[Rates])
	first, last := gyro[0]-to, gyro[len(gyro)-1]-from
	lag, _ = search(g, few, int(float64(len(few))*share/2), (first+last)/2, (last-first)/2, 0.03)
	lag, best := search(g, whole, int(float64(len(whole))*share/2), lag, 0.1, 0.01)
	return lag, best.correlation()
}

func every(all []interval, n int) (out []interval) {
	for i := 0; i < len(all); i += n {
		out = append(out, all[i])
	}
	return out
}
