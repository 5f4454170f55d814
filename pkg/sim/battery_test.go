package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/so3"
)

func TestBatteryUnderLoad(t *testing.T) {
	w := Default()
	w.Battery.Enabled = true
	b := newPack(&w)
	last := math.Inf(1)
	for _, power := range []float64{0, 40, 200, 800} {
		b.charge = .8
		v := b.step(power, 0)
		if want := 4*3.98 - .05*power/v; math.Abs(v-want) > 1e-9 {
			t.Errorf("%v W: %v V, expected V₀ − R·P/V = %v", power, v, want)
		}
		if !(v < last) {
			t.Errorf("%v W: %v V, expected less than %v", power, v, last)
		}
		last = v
	}
	if v := b.step(1e6, 0); math.Abs(v-4*3.98/2) > 1e-9 {
		t.Errorf("a short circuit leaves %v V, expected half of the open voltage", v)
	}
}

// TestBatteryCharge counts coulombs.
func TestBatteryCharge(t *testing.T) {
	w := Default()
	w.Battery.Enabled = true
	b := newPack(&w)
	used := 0.
	for range 60000 {
		used += 45 / b.step(45, .001) * .001
	}
	if got := (1 - b.charge) * .45 * 3600; math.Abs(got-used) > 1e-6 || used < 150 || used > 190 {
		t.Errorf("%v C gone, drawn %v", got, used)
	}
	b.charge = 0
	if v := b.step(45, 10); b.charge != 0 || v <= 0 || v > 4*3.27 {
		t.Errorf("an empty battery has %v V and charge %v", v, b.charge)
	}
}

// TestSagInFlight: as the battery drains, the same command lifts less.
func TestSagInFlight(t *testing.T) {
	w := Default()
	w.Battery.Enabled = true
	w.Conditions = Conditions{Name: []string{"full", "low"}, Charge: []float64{1, .05}}
	height := func(name string) (float64, Truth) {
		only, err := w.Only(name)
		if err != nil {
			t.Fatal(err)
		}
		s := mustNew(t, only)
		hover(t, s, so3.Vec3{Z: 1}, 5)
		return s.State().P.Z, s.Truth()
	}
	full, a := height("full")
	low, b := height("low")
	if !(low < full-.05) || !(b.Voltage < a.Voltage-1) || !(b.Charge < .05) || !(a.Charge < 1) {
		t.Errorf("hovers at %.3f m with %.2f V, then at %.3f m with %.2f V; expected to sink", full, a.Voltage, low,
			b.Voltage)
	}
}
