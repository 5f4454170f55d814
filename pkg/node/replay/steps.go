package replay

import (
	"math"

	"vnd/msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
)

// recordedPath is the reference that a step recorded, at the policy's look-aheads.
type recordedPath struct {
	begun  int64 // stamp of the tick with which the reference began, ns
	step   *msgs.Step
	policy *control.LoadedPolicy
}

// At implements reference.Reference.
func (p *recordedPath) At(t float64) quad.Reference {
	ahead := t - float64(stamp(p.step)-p.begun)/1e9
	rows, best, nearest := p.step.Reference, 0, math.Inf(1)
	for k := range min(p.policy.PreviewPoints(), len(rows)/7) {
		if d := math.Abs(p.policy.PreviewTime(k) - ahead); d < nearest {
			best, nearest = k, d
		}
	}
	if len(rows) < 7*(best+1) {
		return quad.Reference{}
	}
	r := rows[7*best:]
	return quad.Reference{P: so3.Vec3{X: r[0], Y: r[1], Z: r[2]}, V: so3.Vec3{X: r[3], Y: r[4], Z: r[5]}, Yaw: r[6]}
}

// Duration, Horizon and Spec implement reference.Reference: it is as long as the flight, and made of nothing else.
func (p *recordedPath) Duration() float64    { return 0 }
func (p *recordedPath) Horizon() float64     { return 0 }
func (p *recordedPath) Spec() reference.Spec { return nil }

// difference is the largest one of two commands, 0 where they are the same to the bit.
func difference(c quad.Command, said [4]float64) (worst float64) {
	for i, x := range [4]float64{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z} {
		switch d := math.Abs(x - said[i]); {
		case math.Float64bits(x) == math.Float64bits(said[i]):
		case d > worst:
			worst = d
		case !(d >= 0): // NaN
			worst = math.Inf(1)
		default:
			worst = math.Max(worst, math.SmallestNonzeroFloat64)
		}
	}
	return worst
}
