package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestCoverage: of 400 samples of 34 with a known mean, about 95 % have it in their interval. The percentile interval
// is known to be a little short for few and for skewed samples.
func TestCoverage(t *testing.T) {
	for name, c := range map[string]struct {
		draw        func(rng *rand.Rand) float64
		mean, least float64
	}{
		"normal":      {func(rng *rand.Rand) float64 { return 3 + rng.NormFloat64() }, 3, 0.915},
		"uniform":     {func(rng *rand.Rand) float64 { return rng.Float64() }, 0.5, 0.915},
		"exponential": {func(rng *rand.Rand) float64 { return rng.ExpFloat64() }, 1, 0.88},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		const samples = 400
		covered, above, below := 0, 0, 0
		for range samples {
			x := make([]float64, 34)
			for i := range x {
				x[i] = c.draw(rng)
			}
			switch ci := Bootstrap(x, 0.95, 400, rng); {
			case c.mean < ci.Low:
				below++
			case c.mean > ci.High:
				above++
			default:
				covered++
			}
		}
		share := float64(covered) / samples
		t.Logf("%s: %.3f, below %d, above %d", name, share, below, above)
		if share < c.least || share > 0.98 || below == 0 || above == 0 {
			t.Errorf("%s: %.3f of the intervals cover the mean, want 0.95", name, share)
		}
	}
}

// TestCoverageOfDifferences: for unpaired samples of unequal size and spread.
func TestCoverageOfDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	covered := 0
	const samples = 400
	for range samples {
		x, y := make([]float64, 20), make([]float64, 40)
		for i := range x {
			x[i] = 5 + rng.NormFloat64()
		}
		for i := range y {
			y[i] = 2 + 3*rng.NormFloat64()
		}
		if ci := BootstrapDifference(x, y, 1, 0.95, 400, rng); ci.Low <= 3 && 3 <= ci.High {
			covered++
		}
	}
	if share := float64(covered) / samples; share < 0.915 || share > 0.98 {
		t.Errorf("%.3f of the intervals cover the difference, want 0.95", share)
	}
}

// TestCoverageOfSeries: where neighbours are alike, single draws are too sure of themselves and runs less so.
func TestCoverageOfSeries(t *testing.T) {
	covered := func(run int) float64 {
		rng := rand.New(rand.NewPCG(5, 6))
		series := func() []float64 {
			x, last := make([]float64, 40), 0.
			for i := range x {
				last = 0.5*last + rng.NormFloat64()
				x[i] = last
			}
			return x
		}
		n := 0.
		const samples = 400
		for range samples {
			if ci := BootstrapDifference(series(), series(), run, 0.95, 400, rng); ci.Low <= 0 && 0 <= ci.High {
				n++
			}
		}
		return n / samples
	}
	if one, three := covered(1), covered(runOfBlocks); one > 0.85 || three < one+0.05 {
		t.Errorf("%.3f of the intervals from single draws cover the difference and %.3f of those from runs", one, three)
	}
}

func TestBootstrapLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-10, 10), 1, 40).Draw(t, "x")
		shift, factor := rapid.Float64Range(-5, 5).Draw(t, "shift"), rapid.Float64Range(0.1, 5).Draw(t, "factor")
		seed := rapid.Uint64().Draw(t, "seed")
		of := func(x []float64, level float64) Interval {
			return Bootstrap(x, level, 200, rand.New(rand.NewPCG(seed, 0)))
		}
		ci, wide := of(x, 0.9), of(x, 0.99)
		lo, hi := math.Inf(1), math.Inf(-1)
		moved := make([]float64, len(x))
		for i, v := range x {
			lo, hi = min(lo, v), max(hi, v)
			moved[i] = shift + factor*v
		}
		const eps = 1e-9
		if ci.Low < lo-eps || ci.High > hi+eps || ci.Low > ci.High || ci.Mean < lo-eps || ci.Mean > hi+eps {
			t.Fatalf("%+v of numbers from %g to %g", ci, lo, hi)
		}
		if wide.Low > ci.Low || wide.High < ci.High {
			t.Fatalf("99 %% %+v is not around 90 %% %+v", wide, ci)
		}
		if m := of(moved, 0.9); math.Abs(m.Low-(shift+factor*ci.Low)) > 1e-9 ||
			math.Abs(m.High-(shift+factor*ci.High)) > 1e-9 {
			t.Fatalf("%+v after a shift and a scale of %+v", m, ci)
		}
		if of(x, 0.9) != ci {
			t.Fatal("another interval with the same seed")
		}
	})
}

// TestPercentilesLeaveTheLevelBetweenThem: of 101 means in a row 90 % lie between the fifth and the ninety-fifth.
func TestPercentilesLeaveTheLevelBetweenThem(t *testing.T) {
	means := make([]float64, 101)
	for i := range means {
		means[i] = float64(100 - i)
	}
	if got, want := percentiles(50, means, 0.9), (Interval{50, 5, 95}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
