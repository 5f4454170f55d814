package policy

import (
	"math"
	"testing"
)

// shaking are latents of a robot that shakes: they go to and fro by so much, with a period of so many rows.
func shaking(f *Runner, rows int, by, period, around float64) (farthest float64) {
	z := make([]float32, len(f.z))
	for i := range rows {
		for j := range z {
			z[j] = float32(around + by*math.Sin(2*math.Pi*float64(i)/period))
		}
		f.SetLatent(z)
		if i >= rows/2 {
			for _, x := range f.z {
				farthest = max(farthest, math.Abs(float64(x)-around))
			}
		}
	}
	return farthest
}

// A robot that shakes several times a second has its latents go to and fro: of them the policy sees their mean. It sees
// a change of the condition soon nonetheless, and a slow swing as it comes. One that was thrown off swings at 2.5 Hz.
func TestLatentMeanOfAShake(t *testing.T) {
	const Z, by = 12, 0.6 // 2.1 in all, and as much again to the other side
	for name, c := range map[string]struct {
		period      float64 // rows of 20 ms
		least, most float64 // share of the swing that is seen
	}{"6 Hz": {8, 0, 0.15}, "4 Hz": {12, 0, 0.2}, "2.5 Hz": {20, 0, 0.4}, "0.7 Hz": {71, 0.6, 1.01}} {
		t.Run(name, func(t *testing.T) {
			f, _ := steadyRunner(t, Z)
			for range 100 {
				f.SetLatent(make([]float32, Z))
			}
			if far := shaking(f, 400, by, c.period, 0) / by; far < c.least || far > c.most {
				t.Errorf("%.2f of the swing is seen, expected %.2f to %.2f", far, c.least, c.most)
			}
		})
	}
	f, _ := steadyRunner(t, Z)
	shaking(f, 200, by, 8, 0)
	if off := shaking(f, 50, by, 8, 1); off > 0.3 {
		t.Errorf("half a second after a change amid the shake the policy sees it wrong by %.2f", off)
	}
	nan := make([]float32, Z)
	nan[3] = float32(math.NaN())
	f.SetLatent(nan)
	if off := shaking(f, 50, by, 8, 1); !(off < 0.3) {
		t.Errorf("after a latent that is no number the policy sees %.2f", off)
	}
}

// A condition that changes amid a shake and stays so is seen soon, not as the mean of a shake.
func TestChangeAmidAShake(t *testing.T) {
	const Z = 12
	f, _ := steadyRunner(t, Z)
	shaking(f, 200, 0.6, 8, 0)
	z := make([]float32, Z)
	for i := range shakeStays + 3*leastMean {
		for j := range z {
			z[j] = 1 + 0.01*float32(i%2)
		}
		f.SetLatent(z)
	}
	if f.z[0] < 0.9 {
		t.Errorf("the policy sees %.2f of a change of 1 after %d rows", f.z[0], shakeStays+3*leastMean)
	}
}

// What shook is over: the next latent that is far off begins the mean anew, as the first of a few.
func TestShakeIsOver(t *testing.T) {
	const Z = 12
	f, _ := steadyRunner(t, Z)
	shaking(f, 200, 0.6, 8, 0)
	z := make([]float32, Z)
	for i := range shakeMemory + 50 {
		z[0] = 0.1 * float32(i%2)
		f.SetLatent(z)
	}
	for j := range z {
		z[j] = 1
	}
	if f.SetLatent(z); f.z[0] < 0.9/leastMean {
		t.Errorf("the policy sees %.2f of a change of 1", f.z[0])
	}
}
