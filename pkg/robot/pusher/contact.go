package pusher

import "math"

// vector is one along the table.
type vector [2]float64

func (a vector) add(k float64, b vector) vector { return vector{a[0] + k*b[0], a[1] + k*b[1]} }
func (a vector) dot(b vector) float64           { return a[0]*b[0] + a[1]*b[1] }
func (a vector) cross(b vector) float64         { return a[0]*b[1] - a[1]*b[0] }
func (a vector) left() vector                   { return vector{-a[1], a[0]} } // a quarter turn on

// rotation turns vectors of the box to the table.
type rotation struct{ sin, cos float64 }

func turn(angle float64) (r rotation) {
	r.sin, r.cos = math.Sincos(angle)
	return r
}

func (r rotation) on(a vector) vector {
	return vector{r.cos*a[0] - r.sin*a[1], r.sin*a[0] + r.cos*a[1]}
}
func (r rotation) back(a vector) vector {
	return vector{r.cos*a[0] + r.sin*a[1], r.cos*a[1] - r.sin*a[0]}
}

// gap is the signed distance of the tool at p, in the box's frame, from the box: its gradient n is a unit vector, and
// the gradient of n is bend times the projection along the surface, for it turns around corners alone.
func gap(p vector) (distance float64, n vector, bend float64) {
	const a = Side / 2
	sign := vector{math.Copysign(1, p[0]), math.Copysign(1, p[1])}
	q := vector{math.Abs(p[0]) - a, math.Abs(p[1]) - a}
	switch {
	case q[0] > 0 && q[1] > 0:
		d := math.Hypot(q[0], q[1])
		return d - ToolRadius, vector{sign[0] * q[0] / d, sign[1] * q[1] / d}, 1 / d
	case q[0] > q[1]:
		return q[0] - ToolRadius, vector{sign[0], 0}, 0
	default:
		return q[1] - ToolRadius, vector{0, sign[1]}, 0
	}
}

// soft is max(0, x) with a corner rounded over width, and slope its derivative.
func soft(x, width float64) (y, slope float64) {
	switch r := x / width; {
	case r > 30:
		return x, 1
	case r < -30:
		return 0, 0
	default:
		e := math.Exp(r)
		return width * math.Log1p(e), e / (1 + e)
	}
}
