package policy

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// FeedForward moves the reference that the policy sees by a function of the reference's own velocity and acceleration.
// Its weights follow the position error by normalised least mean squares. A policy that lags, cuts corners or drifts
// aside errs alike wherever it flies alike: nine tenths of that go within twenty times Time. Weights are of robot,
// condition and policy: they hold on another path, and are nothing where the reference stands still.
type FeedForward struct {
	Time  float64 `param:"time" default:"1.0" min:"0" max:"100" unit:"s" doc:"in which weights follow an error; 0 takes no feed-forward"`
	Error float64 `param:"error" default:"0.03" min:"0.001" max:"1" unit:"m" doc:"greater errors count the less the greater they are: a turn of the wind is for the latent"`
	Limit float64 `param:"limit" default:"0.2" min:"0" max:"1" unit:"m" doc:"greatest distance by which the reference is moved"`
}

// What the function is made of: six numbers v and a, and their products.
const (
	linear    = 6
	quadratic = linear * (linear + 1) / 2
)

// slow is the square of the first six up to which they teach little: what a gust makes of weights in slow flight is
// many times that in a fast one.
const slow = 4.0

type (
	basis   [linear + quadratic]float64
	weights [linear + quadratic]so3.Vec3 // m
)

// basisOf are velocity and acceleration of a reference, and their products: their squares add up to the square of the
// first six's, so that no direction of the world is before others.
func basisOf(r *quad.Reference) (x basis) {
	const accelerationUnit = 2 // m/s², beside 1 m/s
	v, a := r.V, r.A.Scale(1.0/accelerationUnit)
	copy(x[:], []float64{v.X, v.Y, v.Z, a.X, a.Y, a.Z})
	n := linear
	for i := range linear {
		for j := range i {
			x[n] = math.Sqrt2 * x[i] * x[j]
			n++
		}
		x[n] = x[i] * x[i]
		n++
	}
	return x
}

// step carries weights on by dt seconds under a position error along a reference, in the world, m.
func (k *FeedForward) step(w *weights, r *quad.Reference, err so3.Vec3, dt float64) {
	x := basisOf(r)
	var square float64
	for _, y := range x[:linear] {
		square += y * y
	}
	if !(dt > 0) || !err.Finite() || math.IsNaN(square) || math.IsInf(square, 0) {
		return
	}
	trust := 1.0
	if n := err.Norm(); n > k.Error {
		trust = (k.Error / n) * (k.Error / n)
	}
	by := err.Scale(min(trust*min(dt, longestTick)/k.Time, 1))
	first, second := by.Scale(1/(slow+square)), by.Scale(1/(slow*slow+square*square))
	for i, y := range x[:linear] {
		w[i] = w[i].Add(first.Scale(y))
	}
	for i, y := range x[linear:] {
		w[linear+i] = w[linear+i].Add(second.Scale(y))
	}
	if n := w.sum(&x).Norm(); n > k.Limit {
		w.scale(k.Limit / n)
	}
}

// sum is the function of weights, m.
func (w *weights) sum(x *basis) (moved so3.Vec3) {
	for i, y := range x {
		moved = moved.Add(w[i].Scale(y))
	}
	return moved
}

func (w *weights) scale(by float64) {
	for i := range w {
		w[i] = w[i].Scale(by)
	}
}
