package rates

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/bridge/betaflight/goldentest"
)

func TestRatesAreTheFirmwares(t *testing.T) {
	for _, row := range goldentest.Rows(t, "testdata/rates.csv") {
		t.Run(strings.Join(row[:5], " "), func(t *testing.T) {
			kind := slices.Index(names[:], row[0])
			if kind < 0 {
				t.Fatalf("rates type %s", row[0])
			}
			number := func(cell string) float64 { return goldentest.Number(t, cell) }
			a := Axis{RCRate: uint8(number(row[2])), Expo: uint8(number(row[3])), SRate: uint8(number(row[4])),
				Limit: math.MaxUint16}
			p := Profile{Type: Type(kind), Axes: [3]Axis{a, a, a}, QuickExpo: row[1] == "1"}
			for _, pair := range row[5:] {
				x, y, _ := strings.Cut(pair, ":")
				stick, want := number(x), number(y)
				got := p.Rate(Roll, stick) * degree
				if bound := float64(a.Limit); math.Abs(want) > bound {
					want = math.Copysign(bound, want)
				}
				if math.Abs(got-want) > 3e-6*math.Abs(want)+1e-5 { // the firmware's are float32
					t.Errorf("stick %g: %.9g °/s, want %.9g", stick, got, want)
				}
			}
		})
	}
}

func drawn(t *rapid.T) Profile {
	p := Profile{Type: Type(rapid.IntRange(0, len(names)-1).Draw(t, "type")), QuickExpo: rapid.Bool().Draw(t, "quick")}
	for i := range p.Axes {
		p.Axes[i] = Axis{RCRate: uint8(rapid.IntRange(1, 255).Draw(t, "rc")),
			Expo:  uint8(rapid.IntRange(0, 100).Draw(t, "expo")),
			SRate: uint8(rapid.IntRange(0, 255).Draw(t, "srate")),
			Limit: uint16(rapid.IntRange(200, 1998).Draw(t, "limit"))}
	}
	return p
}

func TestStickIsTheInverseOfRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, axis := drawn(t), rapid.IntRange(Roll, Yaw).Draw(t, "axis")
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		rate := rapid.Float64Range(-1, 1).Draw(t, "share") * p.Max(axis)
		stick, reached := p.Stick(axis, rate)
		if !reached || math.Abs(stick) > 1 {
			t.Fatalf("%g rad/s of %g: stick %g, reached %v", rate, p.Max(axis), stick, reached)
		}
		if got := p.Rate(axis, stick); math.Abs(got-rate) > 1e-9*(math.Abs(rate)+1e-3) {
			t.Fatalf("%g rad/s: stick %g gives %g", rate, stick, got)
		}
		if lower := math.Nextafter(stick, 0); stick != 0 && math.Abs(p.Rate(axis, lower)) >= math.Abs(rate) {
			t.Fatalf("%g rad/s: stick %g, a smaller one does", rate, stick)
		}
	})
}

func TestStickOfRateBeyondReach(t *testing.T) {
	p := Linear(10)
	for _, c := range []struct {
		name    string
		rate    float64
		stick   float64
		reached bool
	}{
		{"nothing", 0, 0, true},
		{"the most", p.Max(Yaw), 1, true},
		{"more", 11, 1, false},
		{"more the other way", -11, -1, false},
		{"infinite", math.Inf(-1), -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if stick, reached := p.Stick(Yaw, c.rate); stick != c.stick || reached != c.reached {
				t.Errorf("stick %g, %v, want %g, %v", stick, reached, c.stick, c.reached)
			}
		})
	}
}

func TestLinearProfileReachesTheRate(t *testing.T) {
	for _, rate := range []float64{1, 6, 10, 20, 34} {
		p := Linear(rate)
		if got := p.Max(Roll); got < rate || got > rate+10/degree {
			t.Errorf("%g rad/s: full stick is %g", rate, got)
		}
		if half := p.Rate(Pitch, 0.5); math.Abs(half-p.Max(Pitch)/2) > 1e-12 {
			t.Errorf("%g rad/s: half a stick is %g of %g", rate, half, p.Max(Pitch))
		}
	}
}

func TestCheckRefusesWhatTheFirmwareHasNot(t *testing.T) {
	for name, p := range map[string]Profile{
		"type": {Type: 5, Axes: Linear(5).Axes},
		"expo": {Type: KISS, Axes: [3]Axis{{RCRate: 1, Expo: 101}, {RCRate: 1}, {RCRate: 1}}},
		"rate": {Type: Quick},
	} {
		t.Run(name, func(t *testing.T) {
			if p.Check() == nil {
				t.Error("taken")
			}
		})
	}
}
