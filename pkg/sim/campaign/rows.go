package campaign

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
)

// Rows are all rows of the campaign, in the order of their numbers; measurements come last.
func Rows() []Row {
	rows := slices.Concat(trackingRows(), badPoseRows(), stampRows(), latentRows(), bundleRows(), nearGroundRows(),
		processRows(), []Row{batteryRow(), firmwareRow()}, nodeRows())
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.number(), b.number()) })
	return slices.Concat(rows, takeOffRows(), measurements())
}

// number is the row's in the list of faults; 0 for a measurement.
func (r *Row) number() (n int) {
	_, _ = fmt.Sscanf(r.ID, "%d", &n)
	return n
}

// Select returns the rows with the given names, commas between: numbers, ranges such as 1-16, or names; "all" is every
// row.
func Select(names string) (rows []Row, err error) {
	all := Rows()
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		var lo, hi int
		found := false
		for _, row := range all {
			match := name == "all" || row.ID == name
			if n, _ := fmt.Sscanf(name, "%d-%d", &lo, &hi); n == 2 {
				match = row.number() >= max(lo, 1) && row.number() <= hi
			}
			if !match {
				continue
			}
			found = true
			if !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == row.ID }) {
				rows = append(rows, row)
			}
		}
		if !found {
			return nil, fmt.Errorf("no row %q, expected all, or numbers and names such as 1-16,28,false-alarms", name)
		}
	}
	return rows, nil
}

// trackingRows are faults of motion capture.
func trackingRows() []Row {
	return []Row{
		{ID: "1", Name: "mocap drop-out of 10–80 ms", Pass: "no trip, error + ≤ 5 cm",
			Plan:  func(r *Run) { r.Mocap = dropOut(r.between(0.01, 0.08, "%.3f s")) },
			Judge: judge(common, neverTrips, errorGrows(0.05))},
		{ID: "2", Name: "drop-out of 0.1–0.5 s", Pass: "≤ 0.4 m off, control authority back without a person",
			Plan:  func(r *Run) { r.Mocap = dropOut(r.between(0.1, 0.5, "%.2f s")) },
			Judge: judge(common, moved(0.4), backWithout)},
		{ID: "2b", Name: "drop-outs of 0.1–0.5 s every 1–3 s", Pass: "common", Plan: again, Judge: judge(common)},
		{ID: "3", Name: "drop-out of 1–5 s, or for ever, with an autopilot",
			Pass:  "common; the autopilot's landing within 1 s",
			Plan:  func(r *Run) { r.Mocap = dropOut(r.outage()) },
			Judge: judge(common, autopilotWithin(1))},
		{ID: "3b", Name: "mocap lost for ever, no autopilot to land", Pass: "common", Share: 0.99,
			Plan:  func(r *Run) { r.Helper, r.Mocap = false, dropOut(forEver) },
			Judge: judge(common, trips)},
		{ID: "4", Name: "frozen pose under fresh stamps", Pass: "trip ≤ 150 ms",
			Plan:  func(r *Run) { r.Mocap = frozen() },
			Judge: judge(common, tripWithin(0.15))},
		{ID: "5", Name: "frozen while landing", Pass: "common",
			Plan: func(r *Run) {
				r.Mocap, r.Orders = frozen(), []Order{land(-r.between(0.2, 2, "%.2f s into the landing"))}
			},
			Judge: judge(common)},
		{ID: "6", Name: "jump of 5–30 cm for 5–500 ms", Pass: "≤ 0.3 m moved",
			Plan: func(r *Run) {
				length := 0.005 + 0.495*r.rng.Float64()
				by := direction(r.rng, false).Scale(r.between(0.05, 0.3, "%.2f m"))
				r.Label += fmt.Sprintf(" for %.3f s", length)
				r.Mocap = jumped(by, so3.Identity(), length)
			},
			Judge: judge(common, moved(0.3))},
	}
}

// badPoseRows are faults of motion capture that change more than the position for a moment.
func badPoseRows() []Row {
	return []Row{
		{ID: "7", Name: "jump of 0.3–2 m for .05–1 s, or another body for ever", Pass: "≤ 0.4 m off",
			Plan: func(r *Run) {
				length := 0.05 + 0.95*r.rng.Float64()
				by := direction(r.rng, true).Scale(r.between(0.3, 2, "%.2f m"))
				if r.rng.IntN(2) == 0 {
					length = forEver
				}
				r.Label += fmt.Sprintf(" for %.3g s", length)
				r.Mocap = jumped(by, so3.Identity(), length)
			},
			Judge: judge(common, moved(0.4))},
		{ID: "8", Name: "attitude jump of 0.1–0.6 rad for .02–.5 s", Pass: "tilt ≤ 0.5 rad, or + ≤ 0.15 rad",
			Plan: func(r *Run) {
				length := 0.02 + 0.48*r.rng.Float64()
				turn := so3.Exp(direction(r.rng, false).Scale(r.between(0.1, 0.6, "%.2f rad")))
				r.Label += fmt.Sprintf(" for %.3f s", length)
				r.Mocap = jumped(so3.Vec3{}, turn, length)
			},
			Judge: judge(common, tilted(0.5, 0.15))},
		{ID: "9", Name: "NaN, infinite, zero quaternion, millimetres between good samples",
			Pass: "no such sample flown, no trip",
			Plan: func(r *Run) {
				fault, bad := noState[r.rng.IntN(len(noState))], true
				r.Label = fault.name
				r.Mocap = func(_ float64, m *Sample) bool {
					if bad = !bad; bad {
						fault.change(m)
					}
					return true
				}
			},
			Judge: judge(common, neverTrips, finite, errorGrows(0.05))},
		{ID: "24b", Name: "every second sample from a source that drifts by 1–50 cm/s", Pass: "common",
			Plan: func(r *Run) {
				drift, second := drifting(direction(r.rng, true).Scale(r.between(0.01, 0.5, "%.2f m/s"))), false
				r.Mocap = func(t float64, m *Sample) bool {
					if second = !second; second {
						return drift(t, m)
					}
					return true
				}
			},
			Judge: judge(common)},
		{ID: "10", Name: "quaternion sign flips", Pass: "commands bit for bit the same",
			Plan:  func(r *Run) { r.Mocap = signFlips(r.rng) },
			Judge: judge(common, sameCommands)},
	}
}

// again plans drop-outs that come again and again.
func again(r *Run) {
	out := r.repeated(0.1, 0.5, 1, 3)
	r.Mocap = func(t float64, _ *Sample) bool { return !out(t) }
}

// repeated draws a length and a time from one beginning to the next, s, and says when it is so.
func (r *Run) repeated(shortest, longest, soonest, latest float64) func(t float64) bool {
	length, every := shortest+(longest-shortest)*r.rng.Float64(), r.between(soonest, latest, "every %.2f s")
	r.Label = fmt.Sprintf("%.2f s %s", length, r.Label)
	return func(t float64) bool { return math.Mod(t, every) < length }
}

// outage draws a long drop-out, s.
func (r *Run) outage() float64 {
	if r.rng.IntN(2) == 0 {
		r.Label, r.Size = "for ever", forEver
		return forEver
	}
	return r.between(1, 5, "%.1f s")
}

// trips wants the guard to trip at all.
func trips(r *Run) []Check { return tripWithin(after)(r) }

// tilted wants the tilt to stay below a limit, or to grow by no more than some radians.
func tilted(limit, more float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		t, err := r.twin()
		if err != nil {
			return []Check{{err.Error(), 1, 0, ""}}
		}
		usual := t.greatestTilt(r.Onset, r.End)
		return []Check{{"tilt", r.greatestTilt(r.Onset, r.End), max(limit, usual+more), "rad"}}
	}
}

// finite wants every state that was flown to be one.
func finite(r *Run) []Check {
	n := 0.0
	for i := range r.Ticks {
		if s := &r.Ticks[i].Estimate; !s.P.Add(s.V).Finite() || !s.Q.Finite() || s.P.Norm() > 100 {
			n++
		}
	}
	return []Check{{"ticks on such a sample", n, 0, ""}}
}

// stampRows are faults of velocity, latency and clocks.
func stampRows() []Row {
	hidden := func(r *Run) []Check {
		checks := common(r)
		if r.Size >= 0.08 {
			checks = append(checks, trips(r)...)
		}
		return checks
	}
	return []Row{
		{ID: "11", Name: "odometry twist reversed or mirrored", Pass: "trip ≤ 300 ms after it errs by 0.3 m/s",
			Plan: func(r *Run) {
				signs := [][3]float64{{-1, -1, -1}, {-1, 1, 1}, {1, -1, 1}}
				s := signs[r.rng.IntN(len(signs))]
				r.Config.Source, r.Label = control.FromOdometry, fmt.Sprint("signs ", s)
				r.Mocap = mirrored(s[0], s[1], s[2])
				r.Known = knownTwist(s[0], s[1], s[2])
			},
			Judge: judge(common, func(r *Run) []Check { return tripSince(0.3, r.Known)(r) })},
		{ID: "12", Name: "honest latency of 20–300 ms", Pass: "stable to 60 ms extra, else trip ≤ 150 ms",
			Plan:  func(r *Run) { r.Mocap = late(r.between(0.02, 0.3, "%.3f s"), false) },
			Judge: judge(common, stableOrTrips(0.06, 0.15))},
		{ID: "13", Name: "the same, stamps lie", Pass: "detected from 80 ms on; common",
			Plan:  func(r *Run) { r.Mocap = late(r.between(0.02, 0.3, "%.3f s"), true) },
			Judge: hidden},
		{ID: "13b", Name: "hidden delay of 80–300 ms that is over after 1–6 s", Pass: "common",
			Plan: passingDelay, Judge: judge(common)},
		{ID: "15", Name: "stamps skewed by ≤ 5 ms; one stamp 0.02–2 s in the future", Pass: "≤ 1 tick lost",
			Plan:  skewed,
			Judge: judge(common, lostTicks(1), errorGrows(0.05))},
		{ID: "16", Name: "NTP step of ± .05–2 s", Pass: "no landing, control authority back",
			Plan:  clockStep,
			Judge: judge(common, neverLands, backWithout, moved(0.4))},
	}
}

// stableOrTrips wants a delay up to a size to be stable without a trip, and a longer one to be so or to trip in time.
func stableOrTrips(size, limit float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		off := moved(0.4)(r)
		if r.Size <= size {
			return append(off, neverTrips(r)...)
		}
		if off[0].OK() {
			return nil
		}
		return tripWithin(limit)(r)
	}
}

// neverLands wants the robot not to touch the ground.
func neverLands(r *Run) []Check {
	if math.IsInf(r.Landed, 1) {
		return nil
	}
	return []Check{{"landed", 1, 0, ""}}
}

// skewed plans noise on the stamps, or one stamp of the future, from either source of the state.
func skewed(r *Run) {
	if r.rng.IntN(2) == 0 {
		r.Config.Source = control.FromOdometry
	}
	if r.rng.IntN(2) == 0 {
		skew := r.between(-0.005, 0.005, r.Config.Source+", skew of %+.4f s")
		r.Mocap = func(_ float64, m *Sample) bool { m.Stamp += skew; return true }
		return
	}
	ahead, done := r.between(0.02, 2, r.Config.Source+", one stamp %.2f s ahead"), false
	r.Mocap = func(_ float64, m *Sample) bool {
		if !done {
			m.Stamp, done = m.Stamp+ahead, true
		}
		return true
	}
}

// clockStep plans a step of the machine's clock; of motion capture's stamps too where that runs on the same machine.
func clockStep(r *Run) {
	by := r.between(0.05, 2, "%+.2f s")
	if r.rng.IntN(2) == 0 {
		by = -by
		r.Label = fmt.Sprintf("%+.2f s", by)
	}
	r.Clock = func(t float64) float64 {
		if t < 0 {
			return 0
		}
		return by
	}
	if r.rng.IntN(2) == 0 {
		r.Label += ", stamps too"
		r.Stamps = true
	}
}
