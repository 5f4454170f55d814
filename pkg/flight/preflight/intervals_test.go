package preflight

import (
	"fmt"
	"math"
	"testing"
)

// The bounds hold at the ends of what an interval is: all blocks agree, or one differs.
func TestJackknife(t *testing.T) {
	for _, c := range []struct {
		left []float64
		want float64
	}{
		{[]float64{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 0},
		// Without one sample of ten, the mean of 0 … 9 is (45−i)/9: its deviation is that of the mean.
		{[]float64{45. / 9, 44. / 9, 43. / 9, 42. / 9, 41. / 9, 40. / 9, 39. / 9, 38. / 9, 37. / 9, 36. / 9},
			2.262157 * 3.02765 / math.Sqrt(10)},
	} {
		if got := jackknife(c.left); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%v: %v, expected %v", c.left, got, c.want)
		}
	}
}

// A hover of half a minute shows the motors' gain of 0.97, their lag of 25 ms and the link's delay of 10 ms.
func TestIntervalsHoldTheTruth(t *testing.T) {
	f := Measure(hovered(t, 30, 0.3))[0]
	holds := func(f Figure, truth float64) bool { return math.Abs(f.Value-truth) <= f.Margin }
	sum := Figure{f.Delay.Value + f.Lag.Value, f.Delay.Margin + f.Lag.Margin}
	if !holds(f.Gain, 0.97) || !holds(sum, 0.035) {
		t.Errorf("%+v, expected a gain of 0.97, and 35 ms of delay and lag", f)
	}
}

// Commands that came later, or were larger, lie outside of an interval by what they were.
func TestIntervalsShowWhatChanged(t *testing.T) {
	h := hovered(t, 30, 0.3)
	as := Measure(h)
	for i, f := range as {
		t.Run(fmt.Sprint("axis ", i), func(t *testing.T) {
			if f.Gain.Value < 0.85 || f.Gain.Value > 1.1 || f.Gain.Margin > 0.1 || f.Delay.Margin > 0.02 ||
				f.Delay.Margin < step/2 || f.Lag.Margin < step/2 {
				t.Errorf("%+v", f)
			}
		})
	}
	turned := Measure(changed(h, same, func(c *Commanded) { c.Rates.Y *= 1.3; c.Thrust *= 1.2 }))
	for i, ratio := range []float64{1.2, 1, 1.3, 1} {
		if got := as[i].Gain.Value / turned[i].Gain.Value; math.Abs(got-ratio) > 1e-6 {
			t.Errorf("axis %d: commands grew by %v, the gain shrank by %v", i, ratio, got)
		}
	}
	late := Measure(changed(h, same, func(c *Commanded) { c.Arrival -= 0.03 }))
	for i := 1; i < 4; i++ {
		if d := late[i].Delay; d.Value-d.Margin < as[i].Delay.Value {
			t.Errorf("axis %d: 30 ms later, %+v after %+v", i, d, as[i].Delay)
		}
	}
}
