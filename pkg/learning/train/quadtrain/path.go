package quadtrain

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// path is a reference seen from an origin, worked out once for each multiple of
// Δt: what is ahead of one step is at the next ones.
type path struct {
	of     func(t float64) quad.Reference
	dt     float64
	rate   float64 // 1/Δt
	origin so3.Vec3
	points []quad.Reference // of 0, Δt, 2Δt, …
	loose  quad.Reference   // of another time
}

func (p *path) begin(of func(t float64) quad.Reference, dt float64, origin so3.Vec3) {
	p.of, p.dt, p.rate, p.origin, p.points = of, dt, 1/dt, origin, p.points[:0]
}

// at returns the reference of t ≥ 0, which holds until the next call.
func (p *path) at(t float64) *quad.Reference {
	const close = 1e-6 // of a step: rounding
	steps := t * p.rate
	k := int(steps + 0.5)
	if math.Abs(steps-float64(k)) > close || k > len(p.points)+1000 {
		p.loose = p.point(t)
		return &p.loose
	}
	for len(p.points) <= k {
		p.points = append(p.points, p.point(float64(len(p.points))*p.dt))
	}
	return &p.points[k]
}

func (p *path) point(t float64) quad.Reference {
	r := p.of(t)
	r.P = r.P.Sub(p.origin)
	return r
}
