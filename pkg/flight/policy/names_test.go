package policy

import (
	"strings"
	"testing"
)

// Every channel has a name of its own, with and without a camera.
func TestNames(t *testing.T) {
	for _, o := range []Observation{
		{PreviewPoints: 5, PreviewTime: 0.4, PastActions: 5},
		{PreviewPoints: 1, PastActions: 1},
		{PreviewPoints: 1, PastActions: 1, Push: 1, Lag: 0.04},
		{PreviewPoints: 1, PastActions: 1, Lag: 0.04},
		{PreviewPoints: 2, PreviewTime: 0.1, PastActions: 3,
			Camera: Camera{Optics: Optics{Points: []float64{1, 0, 0, 0, 1, 0}}}},
	} {
		names, seen := o.Names(), map[string]bool{}
		for _, n := range names {
			seen[n] = true
		}
		if len(names) != o.Size() || len(seen) != len(names) {
			t.Errorf("%d channels, %d names, %d different: %q", o.Size(), len(names), len(seen), names)
		}
		for i := range names {
			own := strings.HasSuffix(names[i], "visible") || strings.HasPrefix(names[i], "push") || names[i] == "lag"
			if o.Flag(i) != own {
				t.Errorf("channel %d is %q", i, names[i])
			}
		}
	}
}
