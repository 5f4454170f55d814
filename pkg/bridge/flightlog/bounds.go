package flightlog

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
)

// Numbers beyond these are no flight's, whatever its vehicle: of another unit, another origin, or damaged.
const (
	maxPosition = 1e5   // m, from the origin: the digits of a position are for the flight
	maxVelocity = 200.0 // m/s
	minThrust   = -1.0  // m/s²: noise around zero
	maxThrust   = 500.0 // m/s², 50 g
	maxRate     = 200.0 // rad/s
)

// implausible says why a column cannot hold x, or nothing.
func implausible(column int, x float64) string {
	switch {
	case column >= colPX && column <= colPZ && math.Abs(x) > maxPosition:
		return fmt.Sprintf("%g m, expected at most %g m from the origin: of coordinates like UTM, subtract a local "+
			"origin", x, maxPosition)
	case column >= colVX && column <= colVZ && math.Abs(x) > maxVelocity:
		return fmt.Sprintf("%g m/s, expected at most %g", x, maxVelocity)
	case column == colThrust && (x < minThrust || x > maxThrust):
		return fmt.Sprintf("%g, expected thrust per mass in m/s² (hover is %g) from %g to %g: is it newtons, grams "+
			"or PWM?",
			x, quad.Gravity, minThrust, maxThrust)
	case column >= colWX && column <= colWZ && math.Abs(x) > maxRate:
		return fmt.Sprintf("%g, expected rad/s, at most %g: are they degrees per second?", x, maxRate)
	}
	return ""
}

// checkLimits refuses rates that the airframe is said not to do.
func checkLimits(name string, rows []row, l PlausibleRange) error {
	if l.Rate == 0 {
		return nil
	}
	for _, r := range rows {
		if w := r.step.Command.Rates; w.Norm() > l.Rate {
			column := colWX
			if math.Abs(w.Y) > math.Abs(w.X) {
				column = colWY
			}
			if math.Abs(w.Z) > max(math.Abs(w.X), math.Abs(w.Y)) {
				column = colWZ
			}
			return fmt.Errorf("%sbody rates of %.4g rad/s in all, the airframe's limit is %g (max_rate)",
				where(name, r.line, columnNames[column]),
				w.Norm(), l.Rate)
		}
	}
	return nil
}
