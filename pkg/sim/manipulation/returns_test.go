package manipulation

import (
	"math"
	"slices"
	"testing"
)

func TestBack(t *testing.T) {
	steady := slices.Repeat([]float64{0.001}, flightSteps)
	off := func(from int) []float64 {
		swapped := slices.Clone(steady)
		for k := swapAt; k < from; k++ {
			swapped[k] = 0.0025
		}
		return swapped
	}
	for name, c := range map[string]struct {
		swapped []float64
		want    float64
	}{
		"never off":         {off(0), 0},
		"back after 0.4 s":  {off(swapAt + 20), 0.38}, // a tenth of the mean may be that much off
		"never back":        {off(flightSteps), math.Inf(1)},
		"lost on the way":   {off(flightSteps)[:swapAt+50], math.Inf(1)},
		"lost at its start": {nil, math.Inf(1)},
	} {
		if got := back(steady, c.swapped); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g s, expected %g", name, got, c.want)
		}
	}
}
