package sim

import (
	"math"

	"vnd/pkg/flight/battery"
)

// Battery sags with load and charge, and with it the speed that a PWM value gives a motor: thrust gain and largest
// thrust go with the square of the voltage.
type Battery struct {
	Enabled    bool    `param:"enabled" default:"false" doc:"the battery sags; false holds its voltage at the reference"`
	Cells      int     `param:"cells" default:"4" min:"1" max:"24" doc:"lithium polymer cells in series"`
	Capacity   float64 `param:"capacity" default:"0.45" min:"0.01" max:"1000" unit:"A h" doc:"charge from full to empty"`
	Charge     float64 `param:"charge" default:"1" min:"0" max:"1" doc:"share of the capacity at the start"`
	Resistance float64 `param:"resistance" default:"0.05" min:"0" max:"10" unit:"Ω" doc:"resistance of the pack and its leads"`
	Reference  float64 `param:"reference" default:"15.6" min:"1" max:"200" unit:"V" doc:"voltage at which the autopilot's thrust map was made"`
}

func (b *Battery) check() error {
	if full := float64(b.Cells) * battery.CellVoltage(1); b.Reference > full {
		return faulty("battery.reference", "%v V, expected at most the %.1f V of %d full cells", b.Reference, full,
			b.Cells)
	}
	return nil
}

// pack is a battery with its state of charge.
type pack struct {
	Battery
	charge float64 // share of the capacity
}

func newPack(w *World) pack { return pack{w.Battery, w.Battery.Charge} }

// step draws a power in W for h seconds and returns the voltage under that load: V = V₀ − R·I with I = P/V, of whose
// two roots the higher is the stable one. A power beyond V₀²/4R is more than the battery has, and gets V₀/2.
func (b *pack) step(power, h float64) float64 {
	if !b.Enabled {
		return b.Reference
	}
	open := float64(b.Cells) * battery.CellVoltage(b.charge)
	v := (open + math.Sqrt(max(0, open*open-4*power*b.Resistance))) / 2
	b.charge = max(0, b.charge-power/v*h/(3600*b.Capacity))
	return v
}
