package sim

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"vnd/pkg/core/so3"
)

// Gusts are the turbulence of Dryden in the low-altitude form of MIL-F-8785C (up to 1000 ft), as velocity of the air on
// top of a mean wind, which also carries it past: frozen turbulence as a hovering robot meets it. Its scales are
// those of a constant height. Turbulence of the air's rotation is left out: the robot is small against every scale.
type Gusts struct {
	Wind    float64 `param:"wind" default:"0" min:"0" max:"40" unit:"m/s" doc:"W₂₀, the wind at 20 ft that makes the turbulence (light 7.7, moderate 15.4, severe 23.1); 0 is none"`
	Mean    float64 `param:"mean" default:"3" min:"0.1" max:"40" unit:"m/s" doc:"mean wind where the robot flies; acts where wind is above 0"`
	Heading float64 `param:"heading" default:"0" min:"-3.15" max:"3.15" unit:"rad" doc:"direction into which the mean wind blows, from x to y of the world"`
	Height  float64 `param:"height" default:"3.048" min:"3.048" max:"304.8" unit:"m" doc:"height for which the scales are taken; the specification begins at 10 ft"`
}

// deviations returns σ_u = σ_v and σ_w, m/s, and the scales L_u = L_v and L_w, m: MIL-F-8785C, 3.7.3.4.
func (g *Gusts) deviations() (horizontal, vertical, horizontalScale, verticalScale float64) {
	const foot = 0.3048
	h := g.Height / foot
	x := 0.177 + 0.000823*h
	vertical = 0.1 * g.Wind
	return vertical / math.Pow(x, 0.4), vertical, h / math.Pow(x, 1.2) * foot, g.Height
}

// gusts are the three filters of the specification, driven by white noise and discretised exactly.
type gusts struct {
	on       bool
	mean     so3.Vec3 // m/s, world
	sin, cos float64  // of the heading
	u        dryden1
	v, w     dryden2
}

func (g *gusts) start(w *World, seed uint64) {
	p := &w.Gusts
	g.on = p.Wind > 0
	if !g.on {
		return
	}
	sh, sv, lh, lv := p.deviations()
	g.sin, g.cos = math.Sincos(p.Heading)
	g.mean = so3.Vec3{X: p.Mean * g.cos, Y: p.Mean * g.sin}
	g.u.start(sh, lh/p.Mean, w.Step, seed, "gusts u")
	g.v.start(sh, lh/p.Mean, w.Step, seed, "gusts v")
	g.w.start(sv, lv/p.Mean, w.Step, seed, "gusts w")
}

// step moves on by an integration step and returns the velocity of the air in the world, m/s.
func (g *gusts) step() so3.Vec3 {
	if !g.on {
		return so3.Vec3{}
	}
	u, v, w := g.u.step(), g.v.step(), g.w.step()
	return g.mean.Add(so3.Vec3{X: g.cos*u - g.sin*v, Y: g.sin*u + g.cos*v, Z: w})
}

// dryden1 is the filter of the longitudinal gust, 1/(1 + τs) with τ = L/V: a process of Ornstein and Uhlenbeck.
type dryden1 struct {
	noise stream
	x     float64 // m/s
	keep  float64
	add   float64
}

func (d *dryden1) start(sigma, tau, h float64, seed uint64, name string) {
	d.noise.seed(seed, name)
	d.keep = math.Exp(-h / tau)
	d.add = sigma * math.Sqrt(-math.Expm1(-2*h/tau))
	d.x = sigma * d.noise.NormFloat64()
}

func (d *dryden1) step() float64 {
	d.x = d.keep*d.x + d.add*d.noise.NormFloat64()
	return d.x
}

// dryden2 is the filter of the lateral and the vertical gust, (1 + √3·τs)/(1 + τs)², as two lags in a row:
//
//	ẋ₁ = −x₁/τ + noise,  ẋ₂ = (x₁ − x₂)/τ,  y = σ/√2·(√3·x₁ + (1 − √3)·x₂)
//
// The noise makes var x₁ = 1; then var x₂ = cov(x₁, x₂) = ½ and var y = σ².
type dryden2 struct {
	noise      stream
	x1, x2     float64
	keep, pass float64 // e^(−h/τ) and h/τ times that: the exact transition
	a, b, c    float64 // Cholesky factor of the covariance that a step adds
	y1, y2     float64 // m/s
}

func (d *dryden2) start(sigma, tau, h float64, seed uint64, name string) {
	d.noise.seed(seed, name)
	z := h / tau
	d.keep, d.pass = math.Exp(-z), z*math.Exp(-z)
	// A step adds P − Φ·P·Φᵀ, whose entries are incomplete gamma functions of 2h/τ: no cancellation for short steps.
	q11 := mathext.GammaIncReg(1, 2*z)
	q12 := mathext.GammaIncReg(2, 2*z) / 2
	q22 := mathext.GammaIncReg(3, 2*z) / 2
	d.a = math.Sqrt(q11)
	d.b = q12 / d.a
	d.c = math.Sqrt(max(0, q22-d.b*d.b))
	d.y1, d.y2 = sigma*math.Sqrt(1.5), sigma*(1-math.Sqrt(3))/math.Sqrt2
	d.x1 = d.noise.NormFloat64()
	d.x2 = d.x1/2 + d.noise.NormFloat64()/2
}

func (d *dryden2) step() float64 {
	n, m := d.noise.NormFloat64(), d.noise.NormFloat64()
	d.x1, d.x2 = d.keep*d.x1+d.a*n, d.pass*d.x1+d.keep*d.x2+d.b*n+d.c*m
	return d.y1*d.x1 + d.y2*d.x2
}
