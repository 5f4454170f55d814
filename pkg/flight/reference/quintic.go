package reference

// quintic is the polynomial of degree 5 from one number to another that begins at a speed and without acceleration, and
// ends at rest.
type quintic struct {
	duration float64
	c        polynomial
}

func newQuintic(from, speed, to, duration float64) quintic {
	d, w := to-from, speed*duration
	return quintic{duration, polynomial{from, w, 0, 10*d - 6*w, -15*d + 8*w, 6*d - 3*w}}
}

// at returns value, speed and acceleration at t ≥ 0; after the duration it rests.
func (q *quintic) at(t float64) (p, v, a float64) {
	if t >= q.duration {
		p, _, _ = q.c.at(1, q.duration)
		return p, 0, 0
	}
	return q.c.at(t/q.duration, q.duration)
}

// SmoothStep rises from 0 to 1 with u, and returns its first two derivatives by u; they are 0 at both ends.
func SmoothStep(u float64) (s, slope, bend float64) {
	return u * u * u * (10 + u*(-15+6*u)), 30 * u * u * (1 - u) * (1 - u), 60 * u * (1 - u) * (1 - 2*u)
}

// polynomial holds ascending coefficients over the share u of a duration.
type polynomial [8]float64

// at returns value, first and second derivative by time at the share u of duration h.
func (c *polynomial) at(u, h float64) (p, v, a float64) {
	for i := len(c) - 1; i >= 0; i-- {
		a = a*u + 2*v
		v = v*u + p
		p = p*u + c[i]
	}
	return p, v / h, a / (h * h)
}
