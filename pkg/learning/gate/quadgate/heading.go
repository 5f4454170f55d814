package quadgate

import (
	"fmt"
	"math"

	"vnd/pkg/core/so3"
)

// mostHeading is how far a heading may be off at the end of a judge's flight, rad.
const mostHeading = 0.5

// OffHeading says that a flight ended with a heading far from the reference's yaw, rad; "" where it did not. A policy
// whose yaw diverges may hold its place for seconds.
func OffHeading(q so3.Quat, yaw float64) string {
	if off := math.Abs(math.Remainder(q.Yaw()-yaw, 2*math.Pi)); !(off <= mostHeading) {
		return fmt.Sprintf("the heading ends %.2f rad off, at most %g", off, mostHeading)
	}
	return ""
}
