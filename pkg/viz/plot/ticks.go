package plot

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// linearTicks puts up to n+1 labels at multiples of 1, 2 or 5 times a power of ten.
func linearTicks(n int) plot.TickerFunc {
	return func(lo, hi float64) []plot.Tick { return linearTicksBetween(lo, hi, n) }
}

func linearTicksBetween(lo, hi float64, n int) []plot.Tick {
	step := niceStep((hi - lo) / float64(n))
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step; k++ {
		x := k * step
		if k == 0 {
			x = 0 // never −0
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: minus(strconv.FormatFloat(x, 'f', digits, 64))})
	}
	return ticks
}

// niceStep rounds a positive step up to 1, 2 or 5 times a power of ten.
func niceStep(raw float64) float64 {
	if !(raw > 0) || math.IsInf(raw, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logTicks labels 1, 2 and 5 times the powers of ten, powers alone when the range is wide, and marks the rest.
func logTicks(lo, hi float64) []plot.Tick {
	wide := hi/lo > 2000
	var ticks []plot.Tick
	for power := math.Pow(10, math.Floor(math.Log10(lo)+1e-9)); power <= hi; power *= 10 {
		for m := 1.0; m < 10; m++ {
			x := m * power
			if x < lo*(1-1e-9) || x > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: x}
			if m == 1 || !wide && (m == 2 || m == 5) {
				t.Label = strconv.FormatFloat(x, 'g', 4, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// minus sets the sign as a minus, not as a hyphen.
func minus(s string) string {
	if s[0] == '-' {
		return "−" + s[1:]
	}
	return s
}
