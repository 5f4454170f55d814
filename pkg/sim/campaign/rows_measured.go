package campaign

import (
	"fmt"
	"math"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/sim"
)

// processRows are faults of the controller's process and of the network around it, as far as the loop has them.
func processRows() []Row {
	return []Row{
		{ID: "32", Name: "controller stopped for 0.05–5 s", Pass: "common; from 1 s on the autopilot lands",
			Plan: func(r *Run) { r.Stall = during(r.between(0.05, 5, "%.2f s")) },
			Judge: judge(common, func(r *Run) []Check {
				if r.Size < 1 {
					return nil
				}
				return autopilotWithin(1)(r)
			})},
		{ID: "32b", Name: "controller stopped for 0.4–1 s, every 1.5–3 s", Pass: "common",
			// for about as long as an autopilot takes to notice
			Plan: func(r *Run) { r.Stall = r.repeated(0.4, 1, 1.5, 3) }, Judge: judge(common)},
		{ID: "33", Name: "controller gone for ever", Pass: "the autopilot lands ≤ 1 s",
			Plan:  func(r *Run) { r.Stall = during(forEver) },
			Judge: judge(common, autopilotWithin(1))},
		{ID: "33b", Name: "controller and mocap gone for ever", Pass: "the autopilot lands ≤ 1 s",
			Plan:  func(r *Run) { r.Stall, r.Mocap = during(forEver), dropOut(forEver) },
			Judge: judge(common, autopilotWithin(1))},
		{ID: "34", Name: "a stall of 0.13–0.21 s", Pass: "does not end the flight",
			Plan:  func(r *Run) { r.Stall = during(r.between(0.13, 0.21, "%.3f s")) },
			Judge: judge(common, backWithout)},
		{ID: "37", Name: "partition of 50 ms–10 s, or loss of 1–30 %", Pass: "common", Plan: partition,
			Judge: judge(common)},
		{ID: "37b", Name: "partition of 0.1–0.4 s, which no autopilot notices", Pass: "common",
			Plan:  func(r *Run) { r.cut(r.between(0.1, 0.4, "cut for %.2f s")) },
			Judge: judge(common)},
	}
}

// during holds from the onset on for some time.
func during(length float64) func(t float64) bool { return func(t float64) bool { return t < length } }

// partition plans a network that is cut for a time, or that loses messages.
func partition(r *Run) {
	if r.rng.IntN(2) == 0 {
		r.cut(r.between(0.05, 10, "cut for %.2f s"))
		return
	}
	share := r.between(0.01, 0.3, "%.2f lost")
	r.Mocap = func(float64, *Sample) bool { return r.rng.Float64() >= share }
	r.Sent = func(float64) bool { return r.rng.Float64() >= share }
}

// cut loses states and commands for some seconds.
func (r *Run) cut(length float64) {
	r.Mocap = dropOut(length)
	r.Sent = func(t float64) bool { return t >= length }
}

// measurements are flights that no number of the list has: detection times, false alarms, flight quality.
func measurements() []Row {
	return []Row{
		{ID: "freeze", Name: "time to detect: frozen pose", Pass: "≤ 150 ms",
			Plan: func(r *Run) { r.After, r.Mocap = 1, frozen() }, Judge: tripWithin(0.15)},
		{ID: "twist", Name: "time to detect: mirrored twist", Pass: "≤ 300 ms after it errs by 0.3 m/s",
			Plan: func(r *Run) {
				r.Config.Source, r.After, r.Mocap = control.FromOdometry, 2, mirrored(-1, -1, -1)
			}, Judge: tripSince(0.3, knownTwist(-1, -1, -1))},
		{ID: "delay", Name: "time to detect: 80 ms of hidden delay", Pass: "≤ 500 ms",
			Plan: func(r *Run) { r.After, r.Mocap = 3, late(0.08, true) }, Judge: tripWithin(0.5)},
		{ID: "drift", Name: "time to detect: drift of 10 cm/s", Pass: "≤ 2 s",
			Plan:  func(r *Run) { r.After, r.Mocap = 4, drifting(direction(r.rng, true).Scale(0.1)) },
			Judge: tripWithin(2)},
		{ID: "drift-height", Name: "a drift of 10–60 cm/s, up or down, for ever", Pass: "common; it lands",
			Plan: func(r *Run) {
				up := r.between(0.1, 0.6, "%.2f m/s")
				if r.rng.IntN(2) == 0 {
					up, r.Label = -up, r.Label+" down"
				}
				r.After, r.Mocap = 20, drifting(so3.Vec3{Z: up})
			}, Judge: judge(common, lands)},
		{ID: "link", Name: "60 ms more from command to rate loop", Pass: "common",
			Plan: lateLink, Judge: judge(common, errorUnderPolicy)},
		{ID: "link-firmware", Name: "the same with real firmware", Pass: "as there", Firmware: true,
			Plan: lateLink, Judge: judge(common, errorUnderPolicy)},
		{ID: "false-alarms", Name: "two minutes of noise, gusts and turning winds", Pass: "no trip",
			Plan: gusty, Judge: judge(common, neverTrips)},
		{ID: "quality", Name: "flight quality where nothing fails", Pass: "common, no trip",
			Plan: func(r *Run) { r.Onset, r.After = settled, 16 }, Judge: judge(common, neverTrips, meanError)},
	}
}

// lateLink plans more delay of the link from the onset on.
func lateLink(r *Run) {
	const more = 0.06 // s
	r.After = 16
	c := &r.World.Conditions
	twice := func(x []float64) []float64 { return []float64{x[0], x[0]} }
	r.World.Conditions = sim.Conditions{Name: []string{"before", "late"}, WindX: twice(c.WindX), WindY: twice(c.WindY),
		LinkDelay: []float64{0, more}}
	r.World, r.broken = r.World.Scheduled([]sim.Switch{{Start: 0, Condition: "before"},
		{Start: r.Onset, Condition: "late"}}, 0)
}

// gusty plans a long flight in the cell's wind, which turns every ten seconds, and in Dryden turbulence.
func gusty(r *Run) {
	const length, turn = 120, 10 // s
	r.Onset, r.After = settled, length
	r.World.Gusts.Wind = 7.7 // light turbulence
	r.World.Gusts.Heading = math.Remainder(2*math.Pi*r.rng.Float64(), 2*math.Pi)
	c, switches := sim.Conditions{}, []sim.Switch(nil)
	for i := range length / turn {
		w := direction(r.rng, true).Scale(r.Cell.Wind)
		name := fmt.Sprint("wind ", i)
		c.Name = append(c.Name, name)
		c.WindX, c.WindY = append(c.WindX, w.X), append(c.WindY, w.Y)
		switches = append(switches, sim.Switch{Start: float64(i * turn), Condition: name})
	}
	r.World.Conditions = c
	r.World, r.broken = r.World.Scheduled(switches, 0)
}
