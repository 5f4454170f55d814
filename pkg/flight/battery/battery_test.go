package battery

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
)

// pack is a battery that empties: its cells are off the data sheet, and it lives shorter or longer than was said.
type pack struct {
	charge, life, resistance, off float64
	rng                           *rand.Rand
}

const hoverPower = 100.0 // W

// fly draws the power of a thrust for h seconds and returns the voltage.
func (p *pack) fly(thrust, h float64) float64 {
	open := 4 * (CellVoltage(p.charge) + p.off)
	power := hoverPower * math.Pow(thrust/quad.Gravity, 1.5)
	p.charge = max(0, p.charge-power/hoverPower*h/p.life)
	return open - p.resistance*power/open + 0.02*p.rng.NormFloat64()
}

func configured() (c Config) {
	param.Default(&c)
	c.Cells, c.HoverSag, c.FlightTime = 4, 0.35, 200
	return c
}

// flown is a flight in hover with bursts of thrust: what was believed and true, and when levels came.
type flown struct {
	*Monitor
	pack    *pack
	now     float64
	reached map[Level]float64 // true charge as a level came
	faults  map[error]int
}

func newFlown(charge, life float64, seed uint64) *flown {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &pack{charge: charge, life: life, resistance: 0.05, off: 0.01 * rng.NormFloat64(), rng: rng}
	f := &flown{NewMonitor(configured()), p, 100, map[Level]float64{}, map[error]int{}}
	for range 20 { // on the ground
		f.now += 0.1
		f.Step(f.now, 1, false)
		_ = f.Measure(p.fly(1, 0.1))
	}
	return f
}

// fly goes on for some seconds. spoil changes voltages; false loses them.
func (f *flown) fly(seconds float64, spoil func(v float64) (float64, bool)) {
	for n := 0; n < int(10*seconds); n++ {
		thrust := quad.Gravity * (1 + 0.4*math.Sin(float64(n)/9))
		if n%300 < 30 {
			thrust = 1.8 * quad.Gravity
		}
		f.now += 0.1
		f.Step(f.now, thrust, true)
		v := f.pack.fly(thrust, 0.1)
		if n%5 != 0 {
			continue
		}
		ok := true
		if spoil != nil {
			v, ok = spoil(v)
		}
		if ok {
			_ = f.Measure(v)
		}
		for _, e := range []error{ErrFell, ErrRose, ErrSilent, ErrNoBattery} {
			if errors.Is(f.Fault(), e) {
				f.faults[e]++
			}
		}
		for l := Unknown; l <= f.Level(); l++ {
			if _, ok := f.reached[l]; !ok {
				f.reached[l] = f.pack.charge
			}
		}
	}
}

func fixed(v float64) func(float64) (float64, bool) {
	return func(float64) (float64, bool) { return v, true }
}

// Robots land by what is left, whatever their flight time is within the factor said, with nothing refused.
func TestLevelsComeAsTheBatteryEmpties(t *testing.T) {
	for life := 110.0; life < 380; life *= 1.5 {
		for seed := range uint64(8) {
			f := newFlown(1, life, seed)
			f.fly(1.1*life, nil)
			for l, want := range map[Level]float64{Warn: 0.3, Return: 0.25, Land: 0.2} {
				if at, ok := f.reached[l]; !ok || math.Abs(at-want) > 0.1 {
					t.Errorf("pack of %.0f s, seed %d: %v at a charge of %.2f, expected %.2f", life, seed, l, at, want)
				}
			}
			if f.Level() != Land || len(f.faults) > 0 && f.pack.charge > 0.05 {
				t.Errorf("pack of %.0f s, seed %d: ends %v, faults %v", life, seed, f.Level(), f.faults)
			}
		}
	}
}

// No voltage lands a robot or keeps it in the air at once: it is refused.
func TestRefusesVoltagesThatNoBatteryHas(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(float64) (float64, bool)
		want  error
	}{
		"high":      {fixed(16.8), ErrRose},
		"higher":    {func(v float64) (float64, bool) { return v + 1.5, true }, ErrRose},
		"low":       {fixed(13), ErrFell},
		"NaN":       {fixed(math.NaN()), ErrNoBattery},
		"infinite":  {fixed(math.Inf(1)), ErrNoBattery},
		"negative":  {fixed(-15), ErrNoBattery},
		"zero":      {fixed(0), ErrNoBattery},
		"absurd":    {fixed(2000), ErrNoBattery},
		"no sample": {func(v float64) (float64, bool) { return v, false }, ErrSilent},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlown(0.95, 200, 3)
			f.fly(60, nil)
			before, _ := f.Charge()
			f.fly(9.5, c.spoil)
			after, _ := f.Charge()
			if f.faults[c.want] == 0 || !errors.Is(f.Fault(), c.want) {
				t.Errorf("faults %v, now %v, expected %v", f.faults, f.Fault(), c.want)
			}
			if f.Level() != Good || after >= before || before-after > quickest*12/200 {
				t.Errorf("%v, charge from %.3f to %.3f in 9.5 s", f.Level(), before, after)
			}
			f.fly(140, c.spoil)
			// The load carries the charge on; a voltage that stays low is followed as quickly as batteries fall.
			if at, ok := f.reached[Land]; !ok || at < 0.1 || name != "low" && at > 0.35 {
				t.Errorf("it lands at a charge of %.2f (%v)", at, ok)
			}
		})
	}
}

// Of two voltages in turn, the one that can be counts.
func TestTrueVoltagesBetweenFalseOnesCount(t *testing.T) {
	for name, v := range map[string]float64{"high": 16.8, "low": 12.5} {
		f, n := newFlown(0.9, 200, 5), 0
		f.fly(150, func(real float64) (float64, bool) {
			if n++; n%2 == 0 {
				return v, true
			}
			return real, true
		})
		if at := f.reached[Land]; math.Abs(at-0.2) > 0.1 || len(f.faults) == 0 {
			t.Errorf("%s: lands at %.2f, faults %v", name, at, f.faults)
		}
	}
}

// A landing that has begun is not called off by a voltage; on the ground a full battery counts at once.
func TestLevelIsKeptInFlight(t *testing.T) {
	f := newFlown(0.24, 200, 1)
	f.fly(30, nil)
	if f.Level() != Land {
		t.Fatalf("%v", f.Level())
	}
	f.fly(60, fixed(16.8))
	if f.Level() != Land {
		t.Errorf("in flight: %v", f.Level())
	}
	f.Step(f.now+0.1, 1, false)
	if _ = f.Measure(16.7); f.Level() != Land {
		t.Errorf("just landed: %v", f.Level())
	}
	for range 40 {
		f.now += 0.1
		f.Step(f.now, 1, false)
	}
	if err := f.Measure(14.9); err != nil || f.Level() != Land {
		t.Errorf("on the ground, at rest: %v, %v", f.Level(), err)
	}
	if err := f.Measure(16.7); err != nil || f.Level() != Good {
		t.Errorf("with a full battery: %v, %v", f.Level(), err)
	}
}

func TestClockThatIsSetChangesNoCharge(t *testing.T) {
	f := newFlown(0.8, 200, 1)
	f.fly(10, nil)
	before, _ := f.Charge()
	for _, by := range []float64{1e6, -1e6, 3600} {
		f.now += by
		f.fly(1, nil)
	}
	if after, _ := f.Charge(); before-after > 0.05 || f.Fault() != nil {
		t.Errorf("charge from %.3f to %.3f, %v", before, after, f.Fault())
	}
}

func TestWithoutVoltages(t *testing.T) {
	m := NewMonitor(configured())
	if m.Measure(15) != nil || m.Level() != Unknown {
		t.Error("a voltage without a time counts")
	}
	for now := range 10 {
		m.Step(float64(now), 9.81, true)
	}
	if m.Fault() == nil || m.Level() != Unknown {
		t.Errorf("%v, %v", m.Fault(), m.Level())
	}
}

func TestCheck(t *testing.T) {
	c := configured()
	if err := c.Check(); err != nil || !c.Watched() {
		t.Error(err)
	}
	c.Land = 0.5
	if c.Check() == nil {
		t.Error("a landing before the warning passes")
	}
}

func TestChargeOfVoltage(t *testing.T) {
	for c := 0.0; c <= 1; c += 0.01 {
		if got := chargeOf(CellVoltage(c)); math.Abs(got-c) > 1e-9 {
			t.Errorf("charge %.2f comes back as %.4f", c, got)
		}
	}
	if chargeOf(2) != 0 || chargeOf(5) != 1 {
		t.Error("voltages outside of the table")
	}
}
