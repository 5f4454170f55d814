package campaign

import (
	"fmt"
	"math"

	"vnd/pkg/flight/control"
	"vnd/pkg/sim"
)

// elsewhere are rows whose feature does not exist in the loop yet, or that live in a node.
func elsewhere() []Row {
	const node = "not built here: lives in a node"
	return []Row{
		{ID: "14", Name: "PX4 clock: delay steps of 50–1000 ms", Missing: node},
		{ID: "38", Name: "battery 100 → 0 %, spoofed voltage", Missing: "not built: the loop has no battery"},
	}
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
		{ID: "false-alarms", Name: "two minutes of noise, gusts and turning winds", Pass: "no trip",
			Plan: gusty, Judge: judge(common, neverTrips)},
		{ID: "quality", Name: "flight quality where nothing fails", Pass: "common, no trip",
			Plan: func(r *Run) { r.Onset, r.After = settled, 16 }, Judge: judge(common, neverTrips, meanError)},
	}
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
	if w, err := r.World.Scheduled(switches, 0); err == nil {
		r.World = w
	}
}
