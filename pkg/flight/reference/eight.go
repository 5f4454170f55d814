package reference

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// FigureEight flies Gerono's lemniscate in a level plane, x = ½W sin φ, y = ½D sin 2φ, from its centre. Its greatest
// speed is at the centre, 2π/period · √(W²/4 + D²): 2.3 m/s by default.
type FigureEight struct {
	Center    []float64 `param:"center" default:"0,0,1" min:"-10000" max:"10000" unit:"m" doc:"middle of the eight: x, y, z in the world"`
	Width     float64   `param:"width" default:"3.0" min:"0.01" max:"1000" unit:"m" doc:"W, extent along x"`
	Depth     float64   `param:"depth" default:"1.0" min:"0.01" max:"1000" unit:"m" doc:"D, extent along y"`
	Period    float64   `param:"period" default:"4.93" min:"0.5" max:"3600" unit:"s" doc:"time of one eight"`
	Ramp      float64   `param:"ramp" default:"2.0" min:"0" max:"60" unit:"s" doc:"time from rest to full speed; 0 begins at full speed"`
	Yaw       float64   `param:"yaw" default:"0.0" min:"-6.3" max:"6.3" unit:"rad" doc:"heading of the body x axis"`
	AlongPath bool      `param:"along_path" default:"false" doc:"turn the body x axis along the path; yaw is then added"`
}

type eight struct {
	spec   FigureEight
	center so3.Vec3
	rate   float64 // dφ/dt at full speed, rad/s
}

// Kind implements Spec.
func (*FigureEight) Kind() string { return "figure_eight" }

// Build implements Spec.
func (s *FigureEight) Build() (Reference, error) {
	c, err := point("center", s.Center)
	return &eight{*s, c, 2 * math.Pi / s.Period}, err
}

// At implements Reference.
func (e *eight) At(t float64) quad.Reference {
	phase, rate, accel := e.phase(max(t, 0))
	sin, cos := math.Sincos(phase)
	sin2, cos2 := math.Sincos(2 * phase)
	w, d := e.spec.Width/2, e.spec.Depth/2
	d1 := so3.Vec3{X: w * cos, Y: 2 * d * cos2} // of the curve by φ
	d2 := so3.Vec3{X: -w * sin, Y: -4 * d * sin2}
	r := quad.Reference{
		P:   e.center.Add(so3.Vec3{X: w * sin, Y: d * sin2}),
		V:   d1.Scale(rate),
		A:   d2.Scale(rate * rate).Add(d1.Scale(accel)),
		Yaw: e.spec.Yaw,
	}
	if e.spec.AlongPath { // d1 never vanishes: cos φ = 0 has cos 2φ = −1
		r.Yaw = math.Remainder(r.Yaw+math.Atan2(d1.Y, d1.X), 2*math.Pi)
		r.YawRate = (d1.X*d2.Y - d1.Y*d2.X) / d1.Dot(d1) * rate
	}
	return r
}

// phase returns φ and its first two derivatives at t ≥ 0. On the ramp dφ/dt rises by SmoothStep.
func (e *eight) phase(t float64) (phi, rate, accel float64) {
	ramp := e.spec.Ramp
	if t >= ramp {
		return e.rate * (t - ramp/2), e.rate, 0
	}
	u := t / ramp
	step, slope, _ := SmoothStep(u)
	sum := u * u * u * u * (2.5 + u*(-3+u)) // ∫ step
	return e.rate * ramp * sum, e.rate * step, e.rate * slope / ramp
}

func (e *eight) Duration() float64 { return 0 }
func (e *eight) Horizon() float64  { return e.spec.Ramp + e.spec.Period }
func (e *eight) Spec() Spec        { s := e.spec; return &s }
