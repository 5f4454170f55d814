package gate

import (
	"math/rand/v2"
	"slices"
)

// Interval is a mean with its percentile bootstrap interval (B. Efron, "Bootstrap methods: another look at the
// jackknife", Annals of Statistics 1979).
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// widen returns the interval with its sides so many times as long.
func (i Interval) widen(by float64) Interval {
	return Interval{i.Mean, i.Mean + by*(i.Low-i.Mean), i.Mean + by*(i.High-i.Mean)}
}

// Bootstrap returns the interval of the mean of x under a two-sided level, such as 0.95, from n resamples. x has at
// least one number.
func Bootstrap(x []float64, level float64, n int, rng *rand.Rand) Interval {
	means := make([]float64, n)
	for i := range means {
		means[i] = resampled(x, rng)
	}
	return percentiles(mean(x), means, level)
}

// BootstrapDifference is Bootstrap of mean(x) − mean(y) for two series in time. Neighbours are alike, so runs of them
// are drawn (H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics
// 1989); a run of 1 is for samples without an order.
func BootstrapDifference(x, y []float64, run int, level float64, n int, rng *rand.Rand) Interval {
	means := make([]float64, n)
	for i := range means {
		means[i] = resampledRuns(x, run, rng) - resampledRuns(y, run, rng)
	}
	return percentiles(mean(x)-mean(y), means, level)
}

// resampled is the mean of as many of x, drawn with replacement.
func resampled(x []float64, rng *rand.Rand) float64 {
	sum := 0.
	for range x {
		sum += x[rng.IntN(len(x))]
	}
	return sum / float64(len(x))
}

// resampledRuns is the mean of as many of x, drawn in runs, round the end to the beginning.
func resampledRuns(x []float64, run int, rng *rand.Rand) float64 {
	sum, at := 0., 0
	for i := range x {
		if i%run == 0 {
			at = rng.IntN(len(x))
		}
		sum += x[at%len(x)]
		at++
	}
	return sum / float64(len(x))
}

func percentiles(mean float64, means []float64, level float64) Interval {
	slices.Sort(means)
	at := func(p float64) float64 { return means[int(p*float64(len(means)-1)+0.5)] }
	return Interval{mean, at((1 - level) / 2), at((1 + level) / 2)}
}

func mean(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
