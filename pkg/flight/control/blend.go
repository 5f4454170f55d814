package control

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/reference"
)

// blend leads from the reference flown before to a task reference: a weighted mean of the two, so that neither place
// nor velocity jumps and what both keep out of, such as a fence, is kept out of.
type blend struct {
	from  func(t float64) quad.Reference // nil: there is nothing to lead from
	since float64                        // s on the loop's clock; NaN before the first tick
	over  float64                        // s; before the first tick, how long it takes at least
}

// The most that a blend adds to the motions of both: a policy is trained around its reference, and asks for more tilt
// than the guard allows where that jumps by a metre at two metres per second.
const (
	maxBlendSpeed        = 1.5 // m/s
	maxBlendAcceleration = 2.5 // m/s²
	maxBlendTurn         = 1.0 // rad/s
	minBlendTime         = 0.5 // s
	maxBlendTime         = 600 // s
)

// begin sees how long the way from t on to the references of `to` takes, and ends a blend that is over.
func (j *blend) begin(t float64, to func(t float64) quad.Reference) {
	if j.from == nil {
		return
	}
	if !math.IsNaN(j.since) {
		if t > j.since+j.over {
			*j = blend{}
		}
		return
	}
	j.since, j.over = t, max(minBlendTime, j.over)
	if a, b := j.from(t), to(t); b.P.Sub(a.P).Norm() < .01 && b.V.Sub(a.V).Norm() < .05 && math.Abs(turn(a, b)) < .01 {
		*j = blend{}
		return
	}
	const longer = 1.25
	for j.over < maxBlendTime && !j.gentle(to) {
		j.over *= longer
	}
}

// gentle reports whether the way adds no more than it may.
func (j *blend) gentle(to func(t float64) quad.Reference) bool {
	const samples = 32
	for i := range samples {
		t := j.since + j.over*float64(i)/samples
		a, b := j.from(t), to(t)
		_, rate, accel := j.share(t)
		if d := b.P.Sub(a.P); d.Scale(rate).Norm() > maxBlendSpeed || math.Abs(rate*turn(a, b)) > maxBlendTurn ||
			d.Scale(accel).Add(b.V.Sub(a.V).Scale(2*rate)).Norm() > maxBlendAcceleration {
			return false
		}
	}
	return true
}

// share of the new reference at t, and its first two derivatives.
func (j *blend) share(t float64) (s, rate, accel float64) {
	s, rate, accel = reference.SmoothStep(min(max((t-j.since)/j.over, 0), 1))
	return s, rate / j.over, accel / (j.over * j.over)
}

// at is the blended reference, where b is that of the task reference.
func (j *blend) at(t float64, b quad.Reference) quad.Reference {
	if j.from == nil || math.IsNaN(j.since) || t >= j.since+j.over {
		return b
	}
	a := j.from(t)
	s, rate, accel := j.share(t)
	d, dv := b.P.Sub(a.P), b.V.Sub(a.V)
	return quad.Reference{
		P:       a.P.Add(d.Scale(s)),
		V:       a.V.Add(dv.Scale(s)).Add(d.Scale(rate)),
		A:       a.A.Add(b.A.Sub(a.A).Scale(s)).Add(dv.Scale(2 * rate)).Add(d.Scale(accel)),
		Yaw:     math.Remainder(a.Yaw+s*turn(a, b), 2*math.Pi),
		YawRate: a.YawRate + s*(b.YawRate-a.YawRate) + rate*turn(a, b),
	}
}

// turn is the shorter way from the heading of a to that of b, rad.
func turn(a, b quad.Reference) float64 { return math.Remainder(b.Yaw-a.Yaw, 2*math.Pi) }
