package preflight

import (
	"math"
	"strings"

	"vnd/pkg/core/so3"
)

// axes says which true axis a measured one is: measured[i] = sign[i]·true[of[i]].
type axes struct {
	of   [3]int
	sign [3]float64
}

var straight = axes{[3]int{0, 1, 2}, [3]float64{1, 1, 1}}

// allAxes are the 24 right-handed ones, then the 24 mirrored ones; straight is the first.
var allAxes = func() (all []axes) {
	var mirrored []axes
	for _, of := range [...][3]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}} {
		for bits := range 8 {
			a := axes{of, [3]float64{1, 1, 1}}
			for i := range 3 {
				if bits>>i&1 == 1 {
					a.sign[i] = -1
				}
			}
			if a.handed() > 0 {
				all = append(all, a)
			} else {
				mirrored = append(mirrored, a)
			}
		}
	}
	return append(all, mirrored...)
}()

const properAxes = 24

// rotations are the right-handed axes as rotations, from true to measured coordinates.
var rotations = func() (all [properAxes]so3.Quat) {
	for i := range all {
		all[i] = allAxes[i].quat()
	}
	return all
}()

// handed is the determinant, 1 or −1.
func (a axes) handed() float64 {
	d := a.sign[0] * a.sign[1] * a.sign[2]
	if (a.of[0]+1)%3 != a.of[1] {
		d = -d
	}
	return d
}

// apply is what is measured of a true vector.
func (a axes) apply(v so3.Vec3) so3.Vec3 {
	x := [3]float64{v.X, v.Y, v.Z}
	return so3.Vec3{X: a.sign[0] * x[a.of[0]], Y: a.sign[1] * x[a.of[1]], Z: a.sign[2] * x[a.of[2]]}
}

// quat is a right-handed one as a rotation, from true to measured coordinates.
func (a axes) quat() so3.Quat {
	var m so3.Mat3
	for i := range 3 {
		m[i][a.of[i]] = a.sign[i]
	}
	return so3.FromMat3(m)
}

// mapping tells measured axes in the words of the true ones.
func (a axes) mapping(of string) string {
	var parts []string
	for i, name := range [...]string{"x", "y", "z"} {
		sign := ""
		if a.sign[i] < 0 {
			sign = "−"
		}
		parts = append(parts, "its "+name+" is "+of+" "+sign+[...]string{"x", "y", "z"}[a.of[i]])
	}
	return strings.Join(parts, ", ")
}

// up is the measured axis that points up, and its sign.
func (a axes) up() (axis int, sign float64) {
	for i := range 3 {
		if a.of[i] == 2 {
			axis, sign = i, a.sign[i]
		}
	}
	return axis, sign
}

// The axes that have names.
var (
	nedWorld = axes{[3]int{1, 0, 2}, [3]float64{1, 1, -1}} // x north, y east, z down, of east, north, up
	frdAxes  = axes{[3]int{0, 1, 2}, [3]float64{1, -1, -1}}
)

// nearest are the axes that take three true directions closest to what was measured of them, and how far off those are
// on average, rad.
func nearest(truth, measured [3]so3.Vec3) (best axes, off float64) {
	most := math.Inf(-1)
	for _, a := range allAxes {
		sum, turned := 0.0, 0.0
		for i := range 3 {
			c := a.apply(truth[i]).Dot(measured[i]) / (truth[i].Norm() * measured[i].Norm())
			sum += c
			turned += math.Acos(max(-1, min(1, c))) / 3
		}
		if sum > most+1e-9 {
			most, best, off = sum, a, turned
		}
	}
	return best, off
}
