// Package rates is Betaflight's curves from stick to body rate, and back.
//
// A stick is −1 … 1, a rate rad/s about the axis that the stick is for, in the firmware's sense. The formulas are those
// of the firmware of 2025 (4.6, MSP API 1.47); it has had them since 4.3.
package rates

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Type is a formula.
type Type uint8

// Types, by the firmware's numbers.
const (
	Betaflight Type = iota
	Raceflight
	KISS
	Actual
	Quick
)

var names = [...]string{"BETAFLIGHT", "RACEFLIGHT", "KISS", "ACTUAL", "QUICK"}

// String is the firmware's name of the type.
func (t Type) String() string {
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("rates type %d", uint8(t))
}

// Axis is the settings of one axis, as the firmware has them: what a number means goes with the type.
type Axis struct {
	RCRate uint8  // roll_rc_rate …
	Expo   uint8  // roll_expo …, 0 … 100
	SRate  uint8  // roll_srate …
	Limit  uint16 // roll_rate_limit …, °/s
}

// Axes of a profile.
const (
	Roll = iota
	Pitch
	Yaw
)

// Profile is a rates profile.
type Profile struct {
	Type      Type
	Axes      [3]Axis // roll, pitch, yaw
	QuickExpo bool    // quickrates_rc_expo
}

// Linear is the profile in which a full stick is a whole number of 10 °/s, at least a rate in rad/s, and half a stick
// half of it. It is bounded by what the firmware takes, 1990 °/s.
func Linear(rate float64) Profile {
	const most = 199
	n := uint8(min(math.Ceil(rate*degree/10-1e-9), most))
	a := Axis{RCRate: n, SRate: n, Limit: 1998}
	return Profile{Type: Actual, Axes: [3]Axis{a, a, a}}
}

const (
	degree = 180 / math.Pi
	most   = 1998 // °/s, of what KISS and Quick give
)

// Check refuses what the firmware has no formula for.
func (p *Profile) Check() error {
	if int(p.Type) >= len(names) {
		return fmt.Errorf("%s is not known, expected one of %s", p.Type, strings.Join(names[:], ", "))
	}
	for _, a := range p.Axes {
		if a.Expo > 100 || a.RCRate == 0 {
			return errors.New("a rates profile with an expo above 100 or a rate of 0, which the firmware does not take")
		}
	}
	return nil
}

// Rate is the body rate that a stick asks for, rad/s.
func (p *Profile) Rate(axis int, stick float64) float64 {
	x := min(math.Abs(stick), 1)
	return math.Copysign(min(p.curve(axis, x), float64(p.Axes[axis].Limit))/degree, stick)
}

// Max is the rate of a full stick, rad/s.
func (p *Profile) Max(axis int) float64 { return p.Rate(axis, 1) }

// Stick is the least deflection that asks for a rate, rad/s. It is exact to the bit where the curve is steep enough.
// reached is false where no stick asks for so much; the stick is full then.
func (p *Profile) Stick(axis int, rate float64) (stick float64, reached bool) {
	want := math.Abs(rate)
	if !(want <= p.Max(axis)) { // NaN, too
		return math.Copysign(1, rate), false
	}
	low, high := 0., 1. // every curve rises
	for {
		middle := (low + high) / 2
		if middle == low || middle == high {
			break
		}
		if p.Rate(axis, middle) < want {
			low = middle
		} else {
			high = middle
		}
	}
	if want == 0 {
		high = 0
	}
	return math.Copysign(high, rate), true
}

// curve is the formula of the type for a deflection of 0 … 1, °/s.
func (p *Profile) curve(axis int, x float64) float64 {
	a := &p.Axes[axis]
	rc, expo, super := float64(a.RCRate), float64(a.Expo)/100, float64(a.SRate)
	switch p.Type {
	case Betaflight:
		return betaflight(rc/100, expo, super/100, x)
	case Raceflight:
		bent := x * (1 + expo*(x*x-1))
		return 10 * rc * bent * (1 + x*super/100)
	case KISS:
		bent := x * (1 + expo*(x*x-1))
		return min(2*rc*bent*boost(x*super/100), most)
	case Actual:
		centre := 10 * rc
		bent := x * x * (1 + expo*(x*x*x*x-1))
		return centre*x + max(0, 10*super-centre)*bent
	case Quick:
		return p.quick(2*rc, expo, max(10*super, 2*rc), x)
	}
	return 0
}

// boost is the factor by which a super rate s, 0 … 1, raises the rate.
func boost(s float64) float64 { return 1 / min(max(1-s, 0.01), 1) }

func betaflight(rc, expo, super, x float64) float64 {
	const steep, from = 14.54, 2. // rates above from count so much more
	if rc > from {
		rc += steep * (rc - from)
	}
	bent := x * (1 + expo*(x*x*x-1))
	return 200 * rc * bent * boost(x*super)
}

func (p *Profile) quick(rc, expo, full, x float64) float64 {
	super := 1 - rc/full
	bent := x * (1 + expo*(x*x-1))
	if p.QuickExpo {
		return min(rc*bent*boost(x*super), most)
	}
	return min(rc*x*boost(bent*super), most)
}
