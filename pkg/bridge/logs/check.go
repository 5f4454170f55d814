package logs

import (
	"fmt"
	"math"
	"strings"
)

// State of a finding.
const (
	Good    = "ok"
	Missing = "missing" // a fit does without
	Wrong   = "wrong"   // a fit learns something else from it
)

// Finding is one thing about a log that was looked at.
type Finding struct {
	Name, State, Detail string
	Cost                string // of what is not good
}

// degrees in a radian: what a number is off by where one is taken for the other.
const degrees = 180 / math.Pi

// Check says what is wrong with a log before a fit.
func (l *Log) Check(delta float64) []Finding {
	return append(l.checkChannels(delta), l.checkFlight(delta))
}

// checkChannels looks at each channel, and at those that have to agree.
func (l *Log) checkChannels(delta float64) []Finding {
	all := []Finding{l.checkFile(), l.checkState(delta)}
	all = append(all, l.checkMotors()...)
	all = append(all, l.checkVelocity())
	if l.Has(Attitude) {
		all = append(all, l.CheckClock(), l.checkCommands())
	}
	all = append(all, l.checkBattery())
	all = append(all, l.checkRows()...)
	kept := all[:0]
	for _, f := range all {
		if f.Name != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

func (l *Log) checkFile() Finding {
	f := Finding{"log", Good, l.Kind + ": " + l.Summary(), ""}
	if lines := l.About.Faults.Lines(); len(lines) > 0 {
		f = Finding{"log", Missing, l.Kind + ": " + strings.Join(lines, "; "), "rows are missing there"}
	}
	return f
}

func (l *Log) checkState(delta float64) Finding {
	for _, c := range []Channel{Position, Attitude} {
		if !l.Has(c) {
			return Finding{"state", Wrong, fmt.Sprintf("no %s; the log has %s", c, l.Summary()),
				"there is nothing to learn from: give a recording of motion capture with --state"}
		}
		if rate := l.Series[c].Rate(); rate < 0.9/delta {
			return Finding{"state", Missing, fmt.Sprintf("%s at %.1f Hz", c, rate),
				fmt.Sprintf("rows of %g s are interpolated: log it at %.0f Hz", delta, 1/delta)}
		}
	}
	return Finding{"state", Good, fmt.Sprintf("position %.0f Hz, attitude %.0f Hz", l.Series[Position].Rate(),
		l.Series[Attitude].Rate()), ""}
}

// limits of motor commands of 0…1.
const rangeSlack = 0.02

func (l *Log) checkMotors() (all []Finding) {
	if !l.Has(Motors) {
		if l.Has(Thrust) && l.Has(Commands) {
			return []Finding{{"motors", Missing, "no motor commands, but thrust and rates at " +
				fmt.Sprintf("%.0f Hz", l.Series[Commands].Rate()), "the fit is of thrust and rates"}}
		}
		return []Finding{{"motors", Wrong, "no motor commands; the log has " + l.Summary(), "there is no input to fit"}}
	}
	s := &l.Series[Motors]
	least, most, out := math.Inf(1), math.Inf(-1), 0
	for i := range s.T {
		if !l.flying(s.T[i]) {
			continue
		}
		for _, x := range s.Row(i) {
			least, most = min(least, x), max(most, x)
			if x < -rangeSlack || x > 1+rangeSlack {
				out++
			}
		}
	}
	detail := fmt.Sprintf("%s, %.0f Hz, %.3g to %.3g of full", s.Source, s.Rate(), least, most)
	if math.IsInf(least, 0) {
		all = append(all, Finding{"motors", Wrong, s.Source + ": never turn", "there is no flight to fit"})
	} else if out > 0 {
		all = append(all, Finding{"motors", Wrong, fmt.Sprintf("%s: %d of %d beyond 0 to 1", detail, out, len(s.V)),
			"PWM out of its range, or in another unit"})
	} else {
		all = append(all, Finding{"motors", Good, detail, ""})
	}
	return append(all, l.checkOrder())
}

func (l *Log) checkOrder() Finding {
	const unseen = "a wrong order would go unseen: fly some quick turns"
	o, ok := l.MotorOrder()
	switch {
	case !ok:
		return Finding{"motor order", Missing, "the motors explain too little of the angular acceleration", unseen}
	case o.Right():
		return Finding{"motor order", Good,
			fmt.Sprintf("%s (%.0f %% explained, lag %.0f ms)", &o, 100*o.R2, 1e3*o.Lag), ""}
	case o.Known():
		return Finding{"motor order", Wrong,
			fmt.Sprintf("the angular acceleration says %s (%.0f %% explained)", &o, 100*o.R2),
			"expected m1 front right, m2 rear right, m3 rear left, m4 front left: import with --motors " + o.Flag()}
	}
	return Finding{"motor order", Missing, fmt.Sprintf("unclear: %s (%.0f %% explained)", &o, 100*o.R2), unseen}
}

// Flag is the order as an import takes it: for each of our motors, the column that has it.
func (o *Order) Flag() string {
	var columns [4]string
	for i, c := range o.Corners {
		columns[c] = fmt.Sprint(i + 1)
	}
	return strings.Join(columns[:], ",")
}

// CheckClock compares gyro and attitude: their clocks, units and frames.
func (l *Log) CheckClock() Finding {
	if !l.Has(Rates) {
		return Finding{"clock", Missing, "no measured body rates",
			"body rates are made from the attitude, clocks go unchecked"}
	}
	a, ok := l.Align()
	switch {
	case !ok:
		return Finding{"clock", Missing, "too little turning to compare gyro and attitude", unchecked}
	case a.Opposed >= 0:
		return Finding{"clock", Wrong, fmt.Sprintf("the gyro turns against the attitude about %c", 'x'+rune(a.Opposed)),
			"one of them is in another frame"}
	case a.Correlation < unrelated:
		return Finding{"clock", Wrong,
			fmt.Sprintf("the gyro does not follow the attitude (correlation %.2f)", a.Correlation),
			"another flight, or rates of another kind"}
	case a.Correlation < alignable:
		return Finding{"clock", Missing,
			fmt.Sprintf("gyro and attitude are too noisy or too sparse to compare (correlation %.2f)", a.Correlation),
			unchecked}
	case (a.Slope < 0.5 || a.Slope > 2) && a.Correlation < comparable:
		return Finding{"clock", Missing,
			fmt.Sprintf("gyro and attitude hardly agree (correlation %.2f)", a.Correlation), unchecked}
	case near(a.Slope, degrees):
		return Finding{"units", Wrong, fmt.Sprintf("the gyro is %.1f times the turning of the attitude", a.Slope),
			"it is in degrees per second, expected rad/s"}
	case near(a.Slope, 1/degrees):
		return Finding{"units", Wrong, fmt.Sprintf("the attitude turns %.1f times as fast as the gyro", 1/a.Slope),
			"its angles are in degrees, or the rates were converted twice"}
	case a.Slope < 0.5 || a.Slope > 2:
		return Finding{"units", Wrong, fmt.Sprintf("the gyro is %.2f times the turning of the attitude", a.Slope),
			"one of them has another unit or scale"}
	case a.Wander > maxWander:
		return Finding{"clock", Wrong,
			fmt.Sprintf("gyro and attitude wander apart by %.0f ms over %d stretches", 1e3*a.Wander, a.Stretches),
			"commands and motion cannot be put together"}
	}
	return Finding{"clock", Good, fmt.Sprintf("gyro %+.0f ms beside the attitude, correlation %.2f, scale %.2f",
		1e3*a.Lag, a.Correlation, a.Slope), ""}
}

const unchecked = "clocks and units go unchecked"

// unrelated is the correlation up to which gyro and attitude have nothing to do with each other.
const unrelated = 0.2

// comparable is the correlation of gyro and attitude from which their units are.
const comparable = 0.85

// maxWander is what clocks may wander within a flight, s: two rows at 50 Hz.
const maxWander = 0.04

// near reports whether x is around a factor, within 40 %.
func near(x, factor float64) bool { return x > 0.6*factor && x < 1.4*factor }

// checkCommands compares commanded with measured rates, at the lag that fits best.
func (l *Log) checkCommands() (f Finding) {
	if !l.Has(Commands) || !l.Has(Rates) {
		return f
	}
	said, seen := &l.Series[Commands], &l.Series[Rates]
	slope, correlation := 0.0, -1.0
	for lag := 0.0; lag <= 0.1; lag += 0.02 {
		var xy, xx, yy float64
		for i := 0; i < len(seen.T); i += 1 + len(seen.T)/orderMost {
			var c [3]float64
			t := seen.T[i]
			if l.flying(t) && said.held(t-lag, 0.1, c[:]) {
				x, y := vec(c[:]), vec(seen.Row(i))
				xy, xx, yy = xy+x.Dot(y), xx+x.Dot(x), yy+y.Dot(y)
			}
		}
		if r := xy / math.Sqrt(xx*yy); r > correlation {
			slope, correlation = xy/xx, r
		}
	}
	switch {
	case correlation < alignable:
		return f
	case near(slope, 1/degrees) || near(slope, degrees):
		return Finding{"units", Wrong, fmt.Sprintf("measured rates are %.3g times the commanded ones", slope),
			"commanded rates are in degrees per second, expected rad/s"}
	}
	return Finding{"rate commands", Good, fmt.Sprintf("followed, scale %.2f, correlation %.2f", slope, correlation), ""}
}

func (l *Log) checkBattery() Finding {
	s := &l.Series[Battery]
	if !l.Has(Battery) {
		if !l.Has(Motors) {
			return Finding{}
		}
		return Finding{"battery", Missing, "no voltage",
			"thrust falls with it, by a third in a flight: log it beside the motors"}
	}
	least, most := math.Inf(1), 0.0
	for _, x := range s.V {
		least, most = min(least, x), max(most, x)
	}
	if least < 2 || most > 100 {
		return Finding{"battery", Wrong, fmt.Sprintf("%.3g to %.3g V", least, most), "expected volts of 2 to 100"}
	}
	return Finding{"battery", Good, fmt.Sprintf("%.2f to %.2f V", least, most), ""}
}

// suspectShare of a flight's rows that were not measured is too much.
const suspectShare = 0.1

func (l *Log) checkRows() (all []Finding) {
	found := l.Suspects()
	for c := range channels {
		rows, first, kinds := 0, "", 0
		for _, f := range found {
			if f.Channel == c {
				if rows += f.Rows; kinds == 0 {
					first = f.String()
				}
				kinds++
			}
		}
		if n := l.Refused[c]; n > 0 {
			all = append(all, Finding{"rows", shareState(n, n+len(l.Series[c].T)),
				fmt.Sprintf("%s: %d of %d rows are duplicates, go back in time, or are not finite or beyond 1e9", c, n,
					n+len(l.Series[c].T)), "they are left out"})
		}
		if rows == 0 {
			continue
		}
		all = append(all, Finding{"rows", shareState(rows, len(l.Series[c].T)),
			fmt.Sprintf("%s; %d runs, %d of %d rows in all", first, kinds, rows,
				len(l.Series[c].T)), "they are left out"})
	}
	return all
}

// shareState is Wrong where too many rows of all are not what they seem.
func shareState(rows, all int) string {
	if float64(rows) > suspectShare*float64(all) {
		return Wrong
	}
	return Missing
}

func (l *Log) checkFlight(delta float64) Finding {
	f, err := l.Flight(delta)
	if err != nil {
		return Finding{"flight", Wrong, strings.TrimPrefix(err.Error(), l.Path+": "), "nothing to fit"}
	}
	longest := 0
	for _, s := range f.Segments {
		longest = max(longest, len(s))
	}
	var fastest float64
	for _, s := range f.Segments {
		for i := range s {
			fastest = max(fastest, s[i].State.V.Norm())
		}
	}
	return Finding{"flight", Good, fmt.Sprintf("%.1f s in %d segments, the longest %.1f s, up to %.1f m/s",
		float64(f.Rows())*delta, len(f.Segments), float64(longest)*delta, fastest), ""}
}
