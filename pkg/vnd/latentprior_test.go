package vnd

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// cluster of a known mixture of latents of three numbers.
type cluster struct{ share, x, y, sigma float64 }

var clusters = []cluster{{.5, 0, 0, .3}, {.3, 5, 0, .2}, {.2, 0, -4, .4}}

func (c *cluster) holds(z []float32) bool {
	return math.Hypot(float64(z[0])-c.x, float64(z[1])-c.y) < 4*c.sigma
}

// mixed draws n latents of the clusters.
func mixed(n int, rng *rand.Rand) (z []float32) {
	for range n {
		c, u := 0, rng.Float64()
		for ; u >= clusters[c].share; c++ {
			u -= clusters[c].share
		}
		k := &clusters[c]
		z = append(z, float32(k.x+k.sigma*rng.NormFloat64()), float32(k.y+k.sigma*rng.NormFloat64()),
			float32(.5*rng.NormFloat64()))
	}
	return z
}

// samples of a prior, [n][3].
func samples(p *LatentPrior, n int, seed uint64) []float32 {
	m, rng, out := &Model[float32]{LatentPrior: p}, rand.New(rand.NewPCG(seed, 1)), make([]float32, 3*n)
	for z := range slices.Chunk(out, 3) {
		m.Sample(rng, z)
	}
	return out
}

// TestLatentPriorRecoversAMixture: but for the share of the wide Gaussian, samples are of the clusters that the latents
// are of, in their shares and with their means and spreads.
func TestLatentPriorRecoversAMixture(t *testing.T) {
	const n = 20000
	all := samples(NewLatentPrior(mixed(5000, rand.New(rand.NewPCG(1, 2))), 3), n, 3)
	in := 0.
	for i := range clusters {
		c := &clusters[i]
		var count, sumX, sumXX, sumY float64
		for z := range slices.Chunk(all, 3) {
			if x, y := float64(z[0])-c.x, float64(z[1])-c.y; c.holds(z) {
				count, sumX, sumY, sumXX = count+1, sumX+x, sumY+y, sumXX+x*x
			}
		}
		in += count
		share, sigma := count/n, math.Sqrt(sumXX/count-sumX*sumX/count/count)
		t.Logf("share %.3f, mean off by %.3f, %.3f, spread %.3f", share, sumX/count, sumY/count, sigma)
		if least := (1 - wideShare) * c.share; share < least-.05 || share > least+.08 {
			t.Errorf("cluster %d has a share of %.3f of the samples, want about %.3f", i, share, least)
		}
		if math.Hypot(sumX, sumY)/count > .1 || sigma < .9*c.sigma || sigma > 1.5*c.sigma {
			t.Errorf("cluster %d: mean off by (%.3f, %.3f), spread %.3f for %.3f", i, sumX/count, sumY/count, sigma,
				c.sigma)
		}
	}
	if wide := 1 - in/n; wide < wideShare/2 || wide > wideShare {
		t.Errorf("a share of %.3f is of no cluster, want most of %.1f", wide, wideShare)
	}
}

// TestSamplesAreBounded: no sample is further out than the box around centres or 1.5 times the usual length of the wide
// Gaussian.
func TestSamplesAreBounded(t *testing.T) {
	p := NewLatentPrior(mixed(300, rand.New(rand.NewPCG(1, 2))), 3)
	least, most := p.Bounds()
	beyond := 0
	for z := range slices.Chunk(samples(p, 100000, 4), 3) {
		for i, x := range z {
			if x < least[i] || x > most[i] {
				beyond++
			}
			row := p.Wide[triangle(i):][:i+1]
			reach := 0.
			for _, l := range row {
				reach += float64(l) * float64(l)
			}
			reach = 1.5 * 2 * math.Sqrt(reach)
			if d := math.Abs(float64(x - p.Mean[i])); (x < least[i] || x > most[i]) && d > reach+1e-4 {
				t.Fatalf("number %d of a sample is %g, beyond %g to %g and %g from the mean", i, x, least[i], most[i],
					d)
			}
		}
	}
	if beyond > 100000*wideShare/2 {
		t.Errorf("%d numbers of samples are beyond the box", beyond)
	}
}

// TestOddLatents: one latent, the same one often, and less than one.
func TestOddLatents(t *testing.T) {
	for _, z := range [][]float32{{1, 2, 3}, slices.Repeat([]float32{1, 2, 3}, 700)} {
		for s := range slices.Chunk(samples(NewLatentPrior(z, 3), 50, 5), 3) {
			for i, x := range s {
				if math.Abs(float64(x)-float64(i+1)) > .02 {
					t.Fatalf("a sample is %v where all latents are 1, 2, 3", s)
				}
			}
		}
	}
	if NewLatentPrior(nil, 3) != nil || NewLatentPrior([]float32{1}, 0) != nil ||
		NewLatentPrior([]float32{float32(math.NaN()), 1, 2, 3}, 2) != nil {
		t.Error("a prior of no latents, of latents without numbers, or of what is not finite")
	}
}

// prepared is a model with a latent prior.
func prepared(t *testing.T) *Model[float32] {
	t.Helper()
	m := random(t, vehicle, netConfig(1))
	m.LatentPrior = NewLatentPrior(mixed(40, rand.New(rand.NewPCG(1, 2))), 3)
	return m
}

func TestBundleKeepsTheLatentPrior(t *testing.T) {
	for _, m := range []*Model[float32]{prepared(t), random(t, vehicle, netConfig(1))} {
		b, err := Bundle(m, vehicle, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if b, err = bundle.Decode("b", data); err != nil {
			t.Fatal(err)
		}
		got, _, err := FromBundle(b, quadrotor.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if (got.LatentPrior == nil) != (m.LatentPrior == nil) {
			t.Fatalf("the prior is %v after the bundle and was %v", got.LatentPrior, m.LatentPrior)
		}
		z, want := make([]float32, 3), make([]float32, 3)
		a, c := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
		for range 40 {
			got.Sample(a, z)
			m.Sample(c, want)
			if !slices.Equal(z, want) {
				t.Fatalf("the bundle's prior draws %v, the model's %v", z, want)
			}
		}
	}
}

// TestWithoutALatentPrior: the model of a bundle of before is trained under N(0, I), to the bit as it was.
func TestWithoutALatentPrior(t *testing.T) {
	z, rng, same := make([]float32, 3), rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
	random(t, vehicle, netConfig(1)).Sample(rng, z)
	for i, x := range z {
		if want := float32(same.NormFloat64()); x != want {
			t.Errorf("number %d is %g, want %g", i, x, want)
		}
	}
}

func TestRefusesLatentPriors(t *testing.T) {
	whole, err := Bundle(prepared(t), vehicle, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tensor := func(b *bundle.Bundle, name string) *bundle.Tensor {
		i := slices.IndexFunc(b.Tensors, func(t bundle.Tensor) bool { return t.Name == name })
		b.Tensors[i].Data = slices.Clone(b.Tensors[i].Data)
		return &b.Tensors[i]
	}
	for want, change := range map[string]func(*bundle.Bundle){
		`"latent_centres" is 513`:                 func(b *bundle.Bundle) { b.Dimensions[centres] = 513 },
		`"latent_centres" is -1`:                  func(b *bundle.Bundle) { b.Dimensions[centres] = -1 },
		`"latent_prior.centres" has shape [40 3]`: func(b *bundle.Bundle) { b.Dimensions[centres] = 41 },
		`no tensor "latent_prior.mean"`:           func(b *bundle.Bundle) { tensor(b, "latent_prior.mean").Name = "x" },
		`"latent_prior.wide": number 2 is 1e+09`: func(b *bundle.Bundle) {
			tensor(b, "latent_prior.wide").Data[2] = 1e9
		},
		`"latent_prior.near": number 0 is NaN`: func(b *bundle.Bundle) {
			tensor(b, "latent_prior.near").Data[0] = float32(math.NaN())
		},
	} {
		b := *whole
		b.Tensors, b.Dimensions = slices.Clone(whole.Tensors), map[string]int{}
		for name, n := range whole.Dimensions {
			b.Dimensions[name] = n
		}
		change(&b)
		if _, _, err := FromBundle(&b, quadrotor.Reader); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
	}
}
