package betaflight

import (
	"math"
	"testing"

	"pgregory.net/rapid"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func sticks() Sticks {
	return Sticks{Rates: rates.Linear(10), MinCheck: 1050,
		Thrust: Thrust{Throttle: bridge.Throttle{Hover: 0.3, Curve: 0.9, Voltage: 16}, Idle: 0.055}}
}

func TestSticksOfACommand(t *testing.T) {
	s := sticks()
	full := s.Rates.Max(rates.Roll)
	for _, c := range []struct {
		name    string
		command quad.Command
		want    Positions
		reached bool
	}{
		{"hover", quad.Command{Thrust: quad.Gravity}, Positions{1500, 1500, 1050 + 950*0.301, 1500}, true},
		{"no thrust", quad.Command{}, Positions{1500, 1500, 1050, 1500}, false},
		{"right side down", quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: full / 2}},
			Positions{1750, 1500, 1050 + 950*0.301, 1500}, true},
		{"nose down", quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{Y: full / 4}},
			Positions{1500, 1625, 1050 + 950*0.301, 1500}, true},
		{"to the left", quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{Z: full}},
			Positions{1500, 1500, 1050 + 950*0.301, 1000}, true},
		{"beyond reach", quad.Command{Thrust: 1000, Rates: so3.Vec3{X: -11}}, Positions{1000, 1500, 2000, 1500}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, reached := s.Of(c.command, 0)
			for i := range got {
				if math.Abs(got[i]-c.want[i]) > 1e-6 {
					t.Errorf("%v, want %v", got, c.want)
				}
			}
			if reached != c.reached {
				t.Errorf("reached: %v, want %v", reached, c.reached)
			}
		})
	}
}

func TestThrottleIsTheInverseOfThrust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Thrust{Throttle: bridge.Throttle{Hover: rapid.Float64Range(0.15, 0.9).Draw(t, "hover"),
			Curve: rapid.Float64Range(0, 1).Draw(t, "curve"), Voltage: 16,
			Least: rapid.SampledFrom([]float64{0, 0.05, 0.3, 0.9}).Draw(t, "least")},
			Idle: rapid.Float64Range(0, 0.1).Draw(t, "idle")}
		throttle := rapid.Float64Range(0, 1).Draw(t, "throttle")
		volts := rapid.Float64Range(12, 20).Draw(t, "volts")
		o := x.overOutput()
		of := func(throttle, volts float64) float64 {
			thrust, _ := o.Thrust(x.Output(throttle), volts)
			return thrust
		}
		got, _ := x.Of(of(throttle, volts), volts)
		if math.Abs(got-throttle) > 1e-7 {
			t.Fatalf("throttle %g comes back as %g", throttle, got)
		}
		if x.Least > 0 && math.Abs(of(0, 0)/quad.Gravity-x.Least) > 1e-9 {
			t.Fatalf("no throttle gives %g g", of(0, 0)/quad.Gravity)
		}
		gain := rapid.Float64Range(0.7, 1).Draw(t, "gain")
		if gain*of(1, 0) < quad.Gravity {
			return // the motors do not lift it
		}
		scaled := x.Scaled(gain)
		more := scaled.overOutput()
		if thrust, _ := more.Thrust(x.Output(throttle), 0); math.Abs(thrust/of(throttle, 0)-gain) > 1e-7 {
			t.Fatalf("throttle %g gives %g m/s² and, scaled by %g, %g", throttle, of(throttle, 0), gain, thrust)
		}
	})
}

func TestDitherKeepsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Dither
		want := rapid.Float64Range(Low, High).Draw(t, "position")
		mean := 0.
		const frames = 1000
		for range frames {
			mean += float64(d.Round(Positions{want, want, want, want})[Yaw]) / frames
		}
		if math.Abs(mean-want) > 1.5/frames {
			t.Fatalf("%g is %g on average", want, mean)
		}
	})
}

func TestCheckRefusesSticksOfNoBoard(t *testing.T) {
	for name, spoil := range map[string]func(*Sticks){
		"hover throttle": func(s *Sticks) { s.Thrust.Hover = 0 },
		"idle":           func(s *Sticks) { s.Thrust.Idle = 0.3 },
		"min_check":      func(s *Sticks) { s.MinCheck = 900 },
		"rates":          func(s *Sticks) { s.Rates.Type = 9 },
	} {
		t.Run(name, func(t *testing.T) {
			s := sticks()
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if spoil(&s); s.Check() == nil {
				t.Error("taken")
			}
		})
	}
}
