package reference

import (
	"fmt"

	"vnd/pkg/core/so3"
)

// Check reports where a reference first leaves the box from lo to hi (world, m).
func Check(r Reference, lo, hi so3.Vec3) error {
	const step, fewest, most = 0.005, 1000, 1 << 20
	end := r.Horizon()
	n := int(min(max(end/step, fewest), most))
	for i := range n + 1 {
		t := end * float64(i) / float64(n)
		p := r.At(t).P
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
	}
	return nil
}
