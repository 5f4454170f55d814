package reference

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Check reports where a reference first leaves the box from lo to hi (world, m).
func Check(r Reference, lo, hi so3.Vec3) error {
	return sampled(r, func(t float64, at *quad.Reference) error {
		p := at.P
		for _, c := range [3]struct {
			axis      string
			x, lo, hi float64
		}{{"x", p.X, lo.X, hi.X}, {"y", p.Y, lo.Y, hi.Y}, {"z", p.Z, lo.Z, hi.Z}} {
			if !(c.x >= c.lo && c.x <= c.hi) {
				return fmt.Errorf("the reference (%s) leaves the geofence at t = %.2f s: %s is %.3f m, expected %g … "+
					"%g m",
					r.Spec().Kind(), t, c.axis, c.x, c.lo, c.hi)
			}
		}
		return nil
	})
}

// CheckPace reports where a reference first is faster than speed, m/s, or asks for more thrust than thrust, m/s².
func CheckPace(r Reference, speed, thrust float64) error {
	return sampled(r, func(t float64, at *quad.Reference) error {
		if v := at.V.Norm(); !(v <= speed) {
			return fmt.Errorf("the reference (%s) is too fast at t = %.2f s: %.3g m/s, expected at most %g",
				r.Spec().Kind(), t, v, speed)
		}
		if f := at.A.Add(so3.Vec3{Z: quad.Gravity}).Norm(); !(f <= thrust) {
			return fmt.Errorf("the reference (%s) asks for too much thrust at t = %.2f s: %.3g m/s², expected "+
				"at most %g", r.Spec().Kind(), t, f, thrust)
		}
		return nil
	})
}

// sampled calls check along a reference until it fails, at most a million times.
func sampled(r Reference, check func(t float64, at *quad.Reference) error) error {
	const step, fewest, most = 0.005, 1000, 1 << 20
	end := r.Horizon()
	n := int(min(max(end/step, fewest), most))
	for i := range n + 1 {
		t := end * float64(i) / float64(n)
		at := r.At(t)
		if err := check(t, &at); err != nil {
			return err
		}
	}
	return nil
}
