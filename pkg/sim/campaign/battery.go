package campaign

import (
	"math"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
)

// A small pack, so that a flight empties it: s of hover, V a hover takes off it, A in hover of the default robot.
const (
	packLife     = 60.0
	packSag      = 0.14
	packCurrent  = 2.85
	voltagesEach = 0.5 // s
)

// watched is what the node's watch over the battery has of a flight.
type watched struct {
	*battery.Monitor
	next   float64 // time of the next voltage, s
	level  battery.Level
	asked  float64 // when the landing was asked for, s; +Inf: never
	charge float64 // true share then
}

// batteryRow empties the battery in flight, and spoils its voltage.
func batteryRow() Row {
	return Row{ID: "38", Name: "battery 100 → 0 %, spoofed voltage",
		Pass: "lands with 3–40 % left, at most 35 % by true voltages; within no 10 s of a false one", Plan: emptying,
		Judge: judge(common, func(r *Run) []Check {
			charge, most := r.watched.charge, 0.4
			r.Figures = append(r.Figures, Figure{"charge at which it lands", charge, ""})
			switch r.Label {
			case "low": // followed, for a cell that died sinks as well
				return []Check{{"landing before 10 s of a false voltage", 10 - (r.watched.asked - r.Onset), 0, "s"}}
			case "true", "every second high", "every second low":
				most = 0.35
			}
			return []Check{{"charge at which it lands", charge, most, ""},
				{"charge that lacks to 3 %", 0.03 - charge, 0, ""}}
		})}
}

// falseVoltages are what comes in place of the battery's voltage.
var falseVoltages = []struct {
	name   string
	change func(n int, v *float64) bool
}{
	{"true", func(int, *float64) bool { return true }},
	{"silence", func(int, *float64) bool { return false }},
	{"high", func(_ int, v *float64) bool { *v = 16.8; return true }},
	{"low", func(_ int, v *float64) bool { *v = 12.8; return true }},
	{"every second high", func(n int, v *float64) bool { *v += 2 * float64(n%2); return true }},
	{"every second low", func(n int, v *float64) bool { *v -= 2 * float64(n%2); return true }},
	{"NaN", func(_ int, v *float64) bool { *v = math.NaN(); return true }},
	{"negative", func(_ int, v *float64) bool { *v = -*v; return true }},
}

func emptying(r *Run) {
	b := &r.World.Battery
	b.Enabled, b.Capacity = true, packLife*packCurrent/3600*(0.9+0.25*r.rng.Float64())
	r.Battery = new(battery.Config)
	param.Default(r.Battery)
	r.Battery.Cells, r.Battery.HoverSag, r.Battery.FlightTime = b.Cells, packSag, packLife
	r.After = 1.5 * packLife
	fault, n := falseVoltages[r.rng.IntN(len(falseVoltages))], 0
	r.Label = fault.name
	off, noise := 0.04*r.rng.NormFloat64(), 0.03
	r.Voltage = func(t float64, v *float64) bool {
		n++
		*v += off + noise*r.rng.NormFloat64()
		return t < 0 || fault.change(n, v)
	}
}

// watchBattery does what the node does: it follows the charge, has the robot return, and land.
func (f *flight) watchBattery(k *control.TickRecord) error {
	w, truth := &f.watched, f.vehicle.Truth()
	if w.Monitor == nil {
		w.Monitor, w.asked = battery.NewMonitor(*f.Battery), math.Inf(1)
	}
	w.Step(truth.Time, k.Sent.Thrust, f.Config.Guard.Flying(&k.State))
	if truth.Time >= w.next {
		w.next += voltagesEach
		if v := truth.Voltage; f.Voltage(truth.Time-f.Onset, &v) {
			_ = w.Measure(v)
		}
	}
	before := w.level
	if w.level = w.Level(); w.level == before {
		return nil
	}
	switch w.level {
	case battery.Return:
		return f.flyHome(&k.State)
	case battery.Land:
		w.asked, w.charge = truth.Time, truth.Charge
		f.loop.Guard().Land()
	}
	return nil
}

func (f *flight) flyHome(s *quad.State) error {
	at := reference.Hover{Point: []float64{f.Start.X, f.Start.Y, s.P.Z}, Yaw: s.Q.Yaw()}
	path, err := at.Build()
	if err != nil {
		return err
	}
	home, err := control.NewTaskReference(f.Cell.Task, path)
	if err == nil {
		f.loop.SetReference(home)
	}
	return err
}
