package plot

import (
	"io"
	"math"
	"slices"
	"testing"
)

func someRanges() (names []string, all []Range) {
	for i, name := range []string{"a law", "a policy"} {
		x := []float64{0.001, 0.01, math.MaxFloat64}
		r := Range{Name: name, Median: slices.Clone(x), Least: slices.Clone(x), Most: slices.Clone(x)}
		for j := range x {
			r.Least[j] /= 2 + float64(i)
			r.Most[j] = min(2*r.Most[j], math.MaxFloat64)
		}
		all = append(all, r)
	}
	return []string{"calm", "wind", "storm"}, all
}

// Every series is drawn, a crash at the top.
func TestRanges(t *testing.T) {
	names, all := someRanges()
	img := picture(t, func(w io.Writer) error { return Ranges(w, "Errors", "m", names, 1, all) })
	for i := range all {
		if n := pixels(img, lineStyle(i).Color, 0.2, 1); n < 300 {
			t.Errorf("%d pixels of series %d", n, i)
		}
	}
}

func TestRangesRefused(t *testing.T) {
	for name, change := range map[string]func(names []string, all []Range) ([]string, []Range){
		"nothing":     func([]string, []Range) ([]string, []Range) { return nil, nil },
		"a name less": func(names []string, all []Range) ([]string, []Range) { return names[1:], all },
		"an error 0":  func(n []string, all []Range) ([]string, []Range) { all[1].Least[1] = 0; return n, all },
		"no number": func(n []string, all []Range) ([]string, []Range) {
			all[0].Least[0] = math.NaN()
			return n, all
		},
		"a least less": func(n []string, all []Range) ([]string, []Range) {
			all[0].Least = all[0].Least[1:]
			return n, all
		},
	} {
		t.Run(name, func(t *testing.T) {
			names, all := change(someRanges())
			if err := Ranges(io.Discard, "Errors", "m", names, 1, all); err == nil {
				t.Error("drawn")
			}
		})
	}
}
