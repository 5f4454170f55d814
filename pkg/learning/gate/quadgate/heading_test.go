package quadgate

import (
	"math"
	"testing"

	"vnd/pkg/core/so3"
)

func TestHeadingAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		q    so3.Quat
		yaw  float64
		want bool
	}{
		"as it should be":     {so3.FromEuler(0.2, -0.1, 1), 1, false},
		"a turn further":      {so3.FromEuler(0, 0, 3.1), 3.1 - 2*math.Pi, false},
		"across the back":     {so3.FromEuler(0, 0, 3.1), -3.1, false},
		"a little off":        {so3.FromEuler(0, 0, 0.4), 0, false},
		"far off":             {so3.FromEuler(0, 0, -0.6), 0, true},
		"the other way round": {so3.FromEuler(0, 0, math.Pi), 0, true},
		"no number":           {so3.Quat{W: math.NaN()}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			if why := OffHeading(c.q, c.yaw); (why != "") != c.want {
				t.Errorf("%q", why)
			}
		})
	}
}
