package motors

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/rotors"
)

func frame() *rotors.Airframe {
	a := new(rotors.Airframe)
	param.Default(a)
	return a
}

func vehicle(t testing.TB) *Vehicle {
	t.Helper()
	v, err := New(frame())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Thrust and torques that the motors can give come out of them again.
func TestMixIsTheInverseOfCollective(t *testing.T) {
	v := vehicle(t)
	for name, c := range map[string]quad.Command{
		"hover": {Thrust: quad.Gravity},
		"climb": {Thrust: 14},
		"roll":  {Thrust: quad.Gravity, Rates: so3.Vec3{X: 1}},
		"pitch": {Thrust: quad.Gravity, Rates: so3.Vec3{Y: -1}},
		"yaw":   {Thrust: quad.Gravity, Rates: so3.Vec3{Z: 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			thrust, turn := v.Collective(v.Mix(c, so3.Vec3{}))
			g := frame().RateGain
			want := so3.Vec3{X: g[0] * c.Rates.X, Y: g[1] * c.Rates.Y, Z: g[2] * c.Rates.Z}
			if math.Abs(thrust-c.Thrust) > 1e-9 || turn.Sub(want).Norm() > 1e-9 {
				t.Errorf("thrust %g and turn %v, want %g and %v", thrust, turn, c.Thrust, want)
			}
		})
	}
}

// Whatever is asked for, motors stay within their limits, and turn the body the way that is asked for.
func TestMixStaysWithinTheLimits(t *testing.T) {
	v, a := vehicle(t), frame()
	rapid.Check(t, func(t *rapid.T) {
		x := func(name string, most float64) float64 { return rapid.Float64Range(-most, most).Draw(t, name) }
		c := quad.Command{Thrust: x("thrust", 100), Rates: so3.Vec3{X: x("x", 50), Y: x("y", 50), Z: x("z", 50)}}
		m := v.Mix(c, so3.Vec3{})
		for i, u := range m {
			if !(u >= a.Least && u <= a.Most) {
				t.Fatalf("motor %d is at %g", i, u)
			}
		}
		_, turn := v.Collective(m)
		if w := c.Rates; min(turn.X*w.X, turn.Y*w.Y, turn.Z*w.Z) < -1e-6 {
			t.Fatalf("%+v turns by %v", c, turn)
		}
	})
}

func TestLimitHoldsIdleMaxAndSlew(t *testing.T) {
	v, a := vehicle(t), frame()
	h := a.Hover()
	for name, c := range map[string]struct {
		command Command
		dt      float64
		want    Command
	}{
		"within":  {Command{h, h, h, h}, 0.02, Command{h, h, h, h}},
		"idle":    {Command{0, h, h, h}, 1, Command{a.Least, h, h, h}},
		"most":    {Command{h, 1, h, h}, 1, Command{h, a.Most, h, h}},
		"slew up": {Command{h, h, 1, h}, 0.005, Command{h, h, h + 0.15, h}},
		"down":    {Command{h, h, h, 0}, 0.005, Command{h, h, h, h - 0.15}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.Limit(c.command, c.dt); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestNewRefusesAnAirframeThatCannotFly(t *testing.T) {
	a := frame()
	if a.RateGain = a.RateGain[:2]; must(New(a)) == nil {
		t.Error("two gains are taken")
	}
	a = frame()
	if a.Most = 0.2; must(New(a)) == nil {
		t.Error("motors too weak to hover are taken")
	}
}

func must(_ *Vehicle, err error) error { return err }

// All motors together give way where their thrust is too great, and nothing changes where it is not.
func TestWithinBoundsTheThrustOfAll(t *testing.T) {
	v := vehicle(t)
	for name, c := range map[string]struct {
		command Command
		want    float64 // m/s²
	}{
		"too much": {Command{0.7, 0.6, 0.65, 0.7}, 20},
		"enough":   {Command{0.4, 0.35, 0.4, 0.35}, 0},
		"unknown":  {Command{math.NaN(), 0.4, 0.4, 0.4}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := v.Within(c.command, 20)
			if c.want == 0 {
				if got != c.command && got.Finite() {
					t.Errorf("%v, want %v", got, c.command)
				}
				return
			}
			if thrust, _ := v.Collective(got); math.Abs(thrust-c.want) > 1e-9 {
				t.Errorf("a thrust of %g m/s², want %g", thrust, c.want)
			}
		})
	}
}
