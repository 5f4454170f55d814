package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// RateLoop is the flight controller's law from body rates to torques, as flight stacks have it:
//
//	τ = I·(gain·(ω_c − ω) + integral·∫(ω_c − ω) − damping·dω/dt) + ω × (I·ω)
//
// per axis, with a filtered gyroscope. With the default motors a step of roll or pitch is followed with a time
// constant of about 40 ms.
type RateLoop struct {
	Gain     []float64 `param:"gain" default:"40,40,12" min:"0.1" max:"1000" unit:"1/s" doc:"gain of the rate loop for rate errors about x, y, z"`
	Integral []float64 `param:"integral" default:"20,20,6" min:"0" max:"10000" unit:"1/s²" doc:"gain of the rate loop for the integrals of rate errors about x, y, z"`
	Damping  []float64 `param:"damping" default:"0.5,0.5,0" min:"0" max:"10" doc:"gain of the rate loop for angular accelerations about x, y, z"`
	Filter   float64   `param:"filter" default:"0.0016" min:"0.0001" max:"0.1" unit:"s" doc:"time constant of the gyroscope's low-pass filter (100 Hz)"`
	MaxRate  float64   `param:"max_rate" default:"20" min:"0.1" max:"200" unit:"rad/s" doc:"commands beyond it are cut off, per axis"`
}

func (r *RateLoop) check() error {
	for _, l := range []struct {
		name string
		list []float64
	}{{"gain", r.Gain}, {"integral", r.Integral}, {"damping", r.Damping}} {
		if err := length("rate_loop."+l.name, len(l.list), 3); err != nil {
			return err
		}
	}
	return nil
}

// rateLoop is the state of the law.
type rateLoop struct {
	gain, integral, damping [3]float64
	inertia                 so3.Vec3
	maxRate                 float64
	blend                   float64 // share of a new sample that the filter takes
	period                  float64 // s, integration step
	filtered                [3]float64
	sum                     [3]float64 // ∫(ω_c − ω), rad
	primed                  bool       // filtered holds a sample
}

const (
	// groundThrust is the commanded thrust in m/s² below which the integrals are cleared: on the ground they would
	// wind up.
	groundThrust = 0.5
	// maxSum bounds the integrals, rad.
	maxSum = 2
)

func newRateLoop(w *World) rateLoop {
	p := &w.RateLoop
	i := w.Airframe.Inertia
	return rateLoop{
		gain: [3]float64(p.Gain), integral: [3]float64(p.Integral), damping: [3]float64(p.Damping),
		inertia: so3.Vec3{X: i[0], Y: i[1], Z: i[2]}, maxRate: p.MaxRate,
		blend: 1 - math.Exp(-w.Step/p.Filter), period: w.Step,
	}
}

func (l *rateLoop) reset() {
	l.sum, l.filtered, l.primed = [3]float64{}, [3]float64{}, false
}

// step returns the torque in N m for commanded rates (rad/s) and thrust (m/s²) at body rates w. The integrals rest
// while the mixer is saturated.
func (l *rateLoop) step(thrust float64, rates, w so3.Vec3, saturated bool) so3.Vec3 {
	want, is := [3]float64{rates.X, rates.Y, rates.Z}, [3]float64{w.X, w.Y, w.Z}
	if !l.primed {
		l.filtered, l.primed = is, true
	}
	if thrust < groundThrust {
		l.sum = [3]float64{}
	}
	var alpha [3]float64
	for i := range 3 {
		change := l.blend * (is[i] - l.filtered[i])
		l.filtered[i] += change
		err := max(-l.maxRate, min(l.maxRate, want[i])) - l.filtered[i]
		if !saturated && thrust >= groundThrust {
			l.sum[i] = max(-maxSum, min(maxSum, l.sum[i]+err*l.period))
		}
		alpha[i] = l.gain[i]*err + l.integral[i]*l.sum[i] - l.damping[i]*change/l.period
	}
	f := so3.Vec3{X: l.filtered[0], Y: l.filtered[1], Z: l.filtered[2]}
	j := l.inertia
	return so3.Vec3{X: j.X * alpha[0], Y: j.Y * alpha[1], Z: j.Z * alpha[2]}.Add(
		f.Cross(so3.Vec3{X: j.X * f.X, Y: j.Y * f.Y, Z: j.Z * f.Z}))
}
