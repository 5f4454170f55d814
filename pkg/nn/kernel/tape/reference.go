package tape

import "math"

// forwardGo is the plain Go reference of vnd_tape_forward.
func forwardGo(code []instruction, args []int32, theta, x []float64) {
	for _, c := range code {
		out := x[int(c.out)*Lanes:][:Lanes]
		if c.op == opDot {
			clear(out)
			for pairs := args[c.a:][:2*c.b]; len(pairs) > 0; pairs = pairs[2:] {
				t, v := theta[pairs[0]], x[int(pairs[1])*Lanes:][:Lanes]
				for i := range out {
					out[i] += float64(t * v[i])
				}
			}
			continue
		}
		a, b := x[int(c.a)*Lanes:][:Lanes], x[int(c.b)*Lanes:][:Lanes]
		for i := range out {
			out[i] = value(c.op, a[i], b[i], c.k)
		}
	}
}

func value(op int32, a, b, k float64) float64 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opScale:
		return k * a
	case opShift:
		return k + a
	case opSqrt:
		return math.Sqrt(a)
	default:
		return 1 / a
	}
}

// backwardGo is the plain Go reference of vnd_tape_backward.
func backwardGo(code []instruction, args []int32, theta, x, dx, dtheta []float64) {
	for i := len(code) - 1; i >= 0; i-- {
		c := code[i]
		d := dx[int(c.out)*Lanes:][:Lanes]
		if c.op == opDot {
			for pairs := args[c.a:][:2*c.b]; len(pairs) > 0; pairs = pairs[2:] {
				v, dv := x[int(pairs[1])*Lanes:][:Lanes], dx[int(pairs[1])*Lanes:][:Lanes]
				dtheta[pairs[0]] += product(d, v)
				t := theta[pairs[0]]
				for l := range d {
					dv[l] += float64(t * d[l])
				}
			}
		} else {
			pullback(c, x, dx, d)
		}
		clear(d)
	}
}

// product is Σ a b, summed as eight lanes of a vector sum it.
func product(a, b []float64) float64 {
	var s [8]float64
	for i := 0; i < Lanes; i += 8 {
		for j := range s {
			s[j] += float64(a[i+j] * b[i+j])
		}
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// pullback adds to the adjoints of an instruction's operands.
func pullback(c instruction, x, dx, d []float64) {
	a, b := x[int(c.a)*Lanes:][:Lanes], x[int(c.b)*Lanes:][:Lanes]
	out := x[int(c.out)*Lanes:][:Lanes]
	da, db := dx[int(c.a)*Lanes:][:Lanes], dx[int(c.b)*Lanes:][:Lanes]
	for i, g := range d {
		switch c.op {
		case opAdd:
			da[i] += g
			db[i] += g
		case opSub:
			da[i] += g
			db[i] -= g
		case opMul:
			da[i] += float64(g * b[i])
			db[i] += float64(g * a[i])
		case opScale:
			da[i] += float64(c.k * g)
		case opShift:
			da[i] += g
		case opSqrt:
			da[i] += .5 * g / out[i]
		case opInv:
			da[i] -= float64(float64(g*out[i]) * out[i])
		}
	}
}
