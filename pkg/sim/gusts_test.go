package sim

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// filters returns the three components of a world's gusts as functions of nothing.
func filters(g *Gusts, h float64, seed uint64) map[string]func() float64 {
	w := Default()
	w.Gusts, w.Step = *g, h
	s := new(gusts)
	s.start(&w, seed)
	return map[string]func() float64{"u": s.u.step, "v": s.v.step, "w": s.w.step}
}

// series draws n samples.
func series(next func() float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = next()
	}
	return x
}

// covariance returns the mean of x(t)·x(t+lag).
func covariance(x []float64, lag int) float64 {
	sum := 0.
	for i := range x[lag:] {
		sum += x[i] * x[i+lag]
	}
	return sum / float64(len(x)-lag)
}

var light = Gusts{Wind: 7.7, Mean: 3, Height: 3.048}

// TestGustScales compares with MIL-F-8785C at 10 ft: σ_w = 0.1·W₂₀, σ_u/σ_w = 1/0.18523^0.4, L_w = 10 ft, L_u =
// 10/0.18523^1.2 ft.
func TestGustScales(t *testing.T) {
	sh, sv, lh, lv := light.deviations()
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"σ_w", sv, .77}, {"σ_u", sh, 1.5115}, {"L_w", lv, 3.048}, {"L_u", lh, 23.055}} {
		if math.Abs(c.got-c.want) > 2e-4*c.want {
			t.Errorf("%s = %v, expected %v", c.name, c.got, c.want)
		}
	}
}

// TestGustCovariance compares with the autocovariances that belong to Dryden's spectra, σ²·e^(−t/τ) along the wind and
// σ²·(1 − t/2τ)·e^(−t/τ) across, for a fine and a coarse step: the discretisation is exact.
func TestGustCovariance(t *testing.T) {
	sh, sv, lh, lv := light.deviations()
	for _, h := range []float64{.02, .5} {
		for name, next := range filters(&light, h, 3) {
			sigma, tau := sh, lh/light.Mean
			if name == "w" {
				sigma, tau = sv, lv/light.Mean
			}
			seconds := 40000 * tau // so many independent pieces: an error of about 1 %
			x := series(next, int(math.Min(seconds/h, 2e6)))
			for _, lag := range []int{0, int(math.Ceil(.5 * tau / h)), int(math.Ceil(2 * tau / h))} {
				s := float64(lag) * h / tau
				want := math.Exp(-s)
				if name != "u" {
					want *= 1 - s/2
				}
				if got := covariance(x, lag) / (sigma * sigma); math.Abs(got-want) > .05 {
					t.Errorf("%s at steps of %v s: covariance %.3f σ² after %.2f τ, expected %.3f", name, h, got, s,
						want)
				}
			}
		}
	}
}

// TestGustSpectrum compares periodograms with the spectra as the specification prints them.
func TestGustSpectrum(t *testing.T) {
	const h, n, pieces = .05, 4096, 400
	sh, sv, lh, lv := light.deviations()
	along := func(o, s, l float64) float64 { return 2 * s * s * l / math.Pi / (1 + l*l*o*o) }
	across := func(o, s, l float64) float64 {
		return s * s * l / math.Pi * (1 + 3*l*l*o*o) / math.Pow(1+l*l*o*o, 2)
	}
	for name, next := range filters(&light, h, 5) {
		density := make([]float64, n/2+1)
		fft := fourier.NewFFT(n)
		x, c := make([]float64, n), make([]complex128, n/2+1)
		for range pieces {
			for i := range x {
				x[i] = next() * math.Sqrt(8./3) * math.Pow(math.Sin(math.Pi*float64(i)/n), 2) // Hann's window
			}
			for i, v := range fft.Coefficients(c, x) {
				density[i] += (real(v)*real(v) + imag(v)*imag(v)) * h / (math.Pi * n) / pieces // one-sided, per rad/s
			}
		}
		for _, band := range [][2]int{{4, 8}, {20, 30}, {60, 90}, {200, 300}} {
			got, want := 0., 0.
			for i := band[0]; i < band[1]; i++ {
				w := 2 * math.Pi * float64(i) / (n * h)
				o := w / light.Mean // Ω, rad/m; densities per rad/m become those per rad/s by 1/V
				got += density[i]
				switch name {
				case "u":
					want += along(o, sh, lh) / light.Mean
				case "v":
					want += across(o, sh, lh) / light.Mean
				default:
					want += across(o, sv, lv) / light.Mean
				}
			}
			if ratio := got / want; ratio < .9 || ratio > 1.1 {
				t.Errorf("%s: spectrum around %.2f rad/s is %.2f of Dryden's", name, 2*math.Pi*float64(band[0])/(n*h),
					ratio)
			}
		}
	}
}
