// Package campaign is the safety campaign: it injects faults into flights of control.Loop in the full simulator and
// holds each flight to limits, measured on the true motion. One row of the table is one fault, flown in six cells.
//
// The simulated vehicle has motor lag, delay, sensor noise and an autopilot of its own. Everything runs in simulated
// time, on all cores. A run is named by row, cell and number; the same name and seed give the same flight to the bit.
package campaign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// Row is one line of the table: a fault and what must come of it.
type Row struct {
	ID   string // number of the row in the list of faults; a letter or a word for what that list has not
	Name string
	Pass string // the criterion in words

	Plan  func(r *Run)         // draws the fault of a run and puts it in
	Judge func(r *Run) []Check // what is held against limits afterwards

	Tests    []NodeTest // of nodes, which the loop has not: they fly the row, and Plan and Judge are nil
	Firmware bool       // an autopilot's own firmware flies the vehicle: without one the row is not flown
	// Share of the runs that must pass; 0 is all of them.
	Share float64
}

// share is that of the runs that must pass.
func (r *Row) share() float64 {
	if r.Share == 0 {
		return 1
	}
	return r.Share
}

// Check is a figure of a run with its limit.
type Check struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"` // the greatest value that passes
	Unit  string  `json:"unit,omitempty"`
}

// OK reports whether the figure is within its limit. A figure that is no number is not.
func (c *Check) OK() bool { return c.Value <= c.Limit }

// MarshalJSON writes a value that never came as null.
func (c Check) MarshalJSON() ([]byte, error) {
	type plain Check
	if !math.IsInf(c.Value, 0) && !math.IsNaN(c.Value) {
		return json.Marshal(plain(c))
	}
	return json.Marshal(struct {
		plain
		Value *float64 `json:"value"`
	}{plain: plain(c)})
}

// String is the figure in words.
func (c Check) String() string {
	if math.IsInf(c.Value, 1) {
		return fmt.Sprintf("%s: never", c.Name)
	}
	return fmt.Sprintf("%s: %.3g %s, at most %.3g", c.Name, c.Value, c.Unit, c.Limit)
}

// excess orders failures: how many times its limit a figure is.
func (c *Check) excess() float64 {
	switch {
	case math.IsNaN(c.Value):
		return math.Inf(1)
	case c.Limit > 0:
		return c.Value / c.Limit
	}
	return 1 + c.Value
}

// Cell is where runs of a row are flown.
type Cell struct {
	Task string  // hover, or track: a figure-eight
	Wind float64 // m/s², in a random level direction
}

// Cells are those of every row.
func Cells() []Cell {
	return []Cell{{"hover", 0}, {"hover", 0.7}, {"hover", 3}, {"track", 0}, {"track", 0.7}, {"track", 3}}
}

// String names the cell.
func (c Cell) String() string {
	name := map[string]string{"track": "figure-eight"}[c.Task]
	if name == "" {
		name = c.Task
	}
	return fmt.Sprintf("%s, wind %g m/s²", name, c.Wind)
}

// Phases of a flight: the fault sets in between settled and settled + period, s.
const (
	settled = 4.0
	period  = 4.93 // of the default figure-eight
	after   = 10.0 // how long a run goes on after that
)

// Run is one flight with its fault: what was drawn, and what came of it.
type Run struct {
	Row    *Row
	Cell   Cell
	Number int
	rng    *rand.Rand // of the fault

	// What Plan may change.
	World      sim.World
	Start      so3.Vec3
	Path       reference.Reference // nil: that of the task
	Config     control.Config
	Bundle     *bundle.Bundle
	Onset      float64         // of the fault, s
	After      float64         // how long the flight goes on after the onset, s
	Label      string          // what was drawn, in words
	Size       float64         // what was drawn, as a number: length, distance, delay
	Helper     bool            // the autopilot leaves offboard mode and lands when commands stop
	LawLands   bool            // where the state is lost, though the autopilot would
	HandedOver float64         // when commands are followed, s
	Firmware   sim.NewFirmware // nil: the world's rate loop
	Fault
	Battery  *battery.Config // nil: nobody watches it
	policies *Policies
	broken   error                // why the run could not be planned
	Known    func(r *Run) float64 // when the fault can be known, s after the onset

	Result
}

// Fault is what goes wrong in a flight; t is in s since the onset.
type Fault struct {
	Mocap  func(t float64, m *Sample) bool         // changes a sample; false loses it
	Clock  func(t float64) float64                 // is added to the loop's clock, s
	Stamps bool                                    // Clock is that of motion capture's stamps too
	Latent func(t float64, z *control.Latent) bool // an encoder's latent after each tick; false: none came
	Sent   func(t float64) bool                    // false loses the command on its way
	Gyro   func(t float64) bool                    // false loses body rates, where motors are commanded
	Stall  func(t float64) bool                    // true stops the controller, whose samples wait
	Orders []Order

	Voltage func(t float64, v *float64) bool // changes one of the battery; false loses it
}

// Order is something done to the loop between two ticks.
type Order struct {
	At     float64 // s since the onset
	Do     func(l *control.Loop) error
	Bundle *bundle.Bundle // that may fly from then on; nil: the same
}

// Sample is one of motion capture on its way to the loop; times in s since the start of the world.
type Sample struct {
	Stamp   float64
	Arrival float64
	State   quad.State // V only where the source measures it
}

// newRun draws everything that rows have in common. The world is the same for every row: cell, number and seed alone
// decide on it, so that a flight without the fault serves for comparison.
func newRun(p *Policies, row *Row, cell, number int, seed uint64) (*Run, error) {
	r := &Run{Row: row, Cell: Cells()[cell], Number: number, World: sim.Default(), Start: so3.Vec3{Z: 1}, After: after,
		Bundle: p.Base, Helper: true, policies: p}
	param.Default(&r.Config)
	if p.Odometry {
		r.Config.Source = control.FromOdometry
	}
	r.World, r.Seed = world(r.Cell, cell, number, seed)
	r.World.Mocap.Rate = cmp.Or(p.Mocap, r.World.Mocap.Rate)
	r.rng = rand.New(rand.NewPCG(r.Seed, hashed(row.ID)))
	r.Onset = settled + period*r.rng.Float64()
	r.twins = p.twins
	r.twinKey = twinKey{cell: cell, number: number, seed: seed}
	if row.Firmware {
		if r.Firmware = p.Firmware; r.Firmware == nil {
			return nil, ErrNoFirmware
		}
	}
	if row.Plan != nil {
		row.Plan(r)
	}
	r.Config.Filter = p.Filter
	if r.broken != nil {
		return nil, r.broken
	}
	return r, r.World.Check()
}

// world is the default robot in a steady wind of a random direction.
func world(c Cell, cell, number int, seed uint64) (sim.World, uint64) {
	w := sim.Default()
	own := hashed(fmt.Sprintf("%d %d %d", seed, cell, number))
	sin, cos := math.Sincos(2 * math.Pi * rand.New(rand.NewPCG(own, 1)).Float64())
	w.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{c.Wind * cos},
		WindY: []float64{c.Wind * sin}}
	return w, own
}

func hashed(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// autopilot is the vehicle's: with its defaults, or one that follows the last command for ever.
func (r *Run) autopilot() (a closedloop.Autopilot) {
	param.Default(&a)
	if !r.Helper {
		a.Timeout = 1e6
	}
	return a
}
