package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/dist"
	"vnd/pkg/core/param"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// small is a configuration whose gradient can be differenced number by number.
func small() Config {
	var c Config
	param.Default(&c)
	c.Model = Model{Context: 4, Latent: 3, Encoder: "gru", EncoderDense: 3, EncoderHidden: 4, Hidden: 5, Blocks: 1,
		Film:          true,
		DecoderHidden: 3, Members: 1}
	c.Loss.Steps, c.Loss.MMD, c.Loss.Reconstruction, c.Loss.Huber = 5, .3, .2, .8
	return c
}

// double copies a float32 model to float64.
func double(m *vnd.Model[float32], sys robot.System[float64]) *vnd.Model[float64] {
	d, err := vnd.New(sys, m.Net.Config)
	if err != nil {
		panic(err)
	}
	copyTo(d.Net.Params, m.Net.Params)
	copyTo(d.Context.Mean, m.Context.Mean)
	copyTo(d.Context.Scale, m.Context.Scale)
	copyTo(d.Inputs.Mean, m.Inputs.Mean)
	copyTo(d.Inputs.Scale, m.Inputs.Scale)
	copyTo(d.Output, m.Output)
	copyTo(d.BiasShare, m.BiasShare)
	d.Age = float64(m.Age)
	return d
}

func copyTo[F kernel.Float](dst []F, src []float32) {
	for i, x := range src {
		dst[i] = F(x)
	}
}

// The gradient of the whole objective, rollout, bias correction, reconstruction and MMD together, is that of finite
// differences.
func TestGradientAgainstFiniteDifferences(t *testing.T) {
	act := quadrotor.Actuator{ThrustGain: .9, ThrustDelay: .4, ThrustLag: .1, RateGain: 1.1, RateDelay: 1.3,
		RateLag: .03}
	for name, change := range map[string]func(*Config){
		"default":            func(*Config) {},
		"no latent":          func(c *Config) { c.Model.Latent = 0 },
		"no bias correction": func(c *Config) { c.BiasCorrection.Share = 0 },
		"concatenate":        func(c *Config) { c.Model.Film = false },
		"ageing":             func(c *Config) { c.Loss.Steps, c.Model.LatentDecay = 12, .1 },
		"one step":           func(c *Config) { c.Loss.Steps = 1 },
		"no prior":           func(c *Config) { c.Prior.Enabled = false },
		"unsure states":      func(*Config) {},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := small()
			change(&cfg)
			vehicle := quadrotor.Robot{Dt: .02, Actuator: act, Prior: cfg.Prior.Enabled,
				World: cfg.Prior.Frame == "world"}
			sys64 := quadrotor.NewQuadrotor[float64](.02, act)
			if !vehicle.Prior {
				sys64 = sys64.WithoutPrior()
			}
			data := vehicleWith(2, 60)
			if name == "unsure states" {
				unsure(data, rand.New(rand.NewPCG(7, 8)))
			}
			tr, err := newTrainer(&cfg, data, Options{Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			H, B, Z := cfg.Loss.Steps, 7, cfg.Model.Latent
			scale := make([]float64, H*9)
			copyTo(scale, tr.pool.workers[0].scale)
			grown := make([]float64, len(tr.pool.workers[0].grown))
			copyTo(grown, tr.pool.workers[0].grown)
			s := scales[float64]{unit: scale}
			if name == "unsure states" {
				s.grown = grown
			}
			m := double(tr.model, sys64)
			rng := rand.New(rand.NewPCG(5, 6))
			b := batch[float64]{starts: tr.train[:B], gains: make([]float64, B), samples: make([]float64, B*Z),
				z: make([]float64, B*Z), dz: make([]float64, B*Z), H: H, corrected: cfg.BiasCorrection.Share > 0,
				mmd: cfg.Loss.MMD}
			for i := range b.gains {
				b.gains[i] = math.Exp(.1 * rng.NormFloat64())
			}
			for i := range b.samples {
				b.samples[i] = rng.NormFloat64()
			}
			w, p := newWorker(&cfg, m, m, tr.data, s, B, B, H),
				newShard(m, 0, B, make([]float64, len(m.Net.Params)))
			run := func() float64 {
				m.Net.Refresh()
				w.encode(&b, p)
				l := w.gradient(&b, p)
				return (l.Dynamics + cfg.Loss.Reconstruction*l.Reconstruction + cfg.Loss.MMD*l.MMD) / float64(B)
			}
			run()
			grad := append([]float64(nil), p.grad...)
			const h = 1e-5
			for i := range m.Net.Params {
				old := m.Net.Params[i]
				m.Net.Params[i] = old + h
				hi := run()
				m.Net.Params[i] = old - h
				lo := run()
				m.Net.Params[i] = old
				want := (hi - lo) / (2 * h)
				if math.Abs(grad[i]-want) > 2e-6*(1+math.Abs(want)) {
					t.Fatalf("parameter %d of %d: gradient %g, finite differences %g", i, len(m.Net.Params), grad[i],
						want)
				}
			}
		})
	}
}

// TestBFloat16 holds the gradient in bfloat16 against that in float32, of a model that began to learn, over the same
// batch: it is off by far less than the gradients of other batches are. What is validated does not change.
func TestBFloat16(t *testing.T) {
	if !kernel.HasBFloat16() {
		t.Skip("SKIPPED: no products in bfloat16 here: the kernels are " + kernel.Name())
	}
	begun, err := Run(t.Context(), wide(false), flown(recorded(9, 120)), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	gradient := func(reduced bool, batches int) (*trainer, []float32) {
		cfg := wide(reduced)
		tr, err := newTrainer(&cfg, vehicleWith(9, 120), Options{Seed: 3, Ranks: dist.Solo{}})
		if err != nil {
			t.Fatal(err)
		}
		copy(tr.model.Net.Params, begun.Model.Net.Params)
		tr.model.Net.Refresh()
		tr.rolled.Net.Refresh()
		for range batches {
			tr.draw(.5)
		}
		if _, err := tr.pool.gradients(&tr.batch, tr.grad); err != nil {
			t.Fatal(err)
		}
		return tr, tr.grad
	}
	off := func(a, b []float32) float64 {
		d := slices.Clone(a)
		kernel.Axpy(-1, b, d)
		return math.Sqrt(kernel.SquaredNorm(d) / kernel.SquaredNorm(b))
	}
	first, plain := gradient(false, 1)
	_, other := gradient(false, 2)
	second, reduced := gradient(true, 1)
	t.Logf("in bfloat16 the gradient is off by %.2g of its length, that of another batch by %.2g", off(reduced, plain),
		off(other, plain))
	if off(reduced, plain) > .03 || off(reduced, plain) > .1*off(other, plain) {
		t.Error("expected less than 0.03, and than a tenth of that of the other")
	}
	if kernel.HasBFloat16() == slices.Equal(plain, reduced) {
		t.Errorf("the kernels have bfloat16: %v, and the gradients are the same: %v", kernel.HasBFloat16(),
			slices.Equal(plain, reduced))
	}
	for _, tr := range []*trainer{first, second} {
		if err := tr.validate(); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := first.state.Newest, second.state.Newest; a != b || !(a > 0) {
		t.Errorf("the validation loss is %v, in bfloat16 %v", a, b)
	}
}

// wide is a short fit of nets of the default sizes.
func wide(reduced bool) Config {
	var whole Config
	param.Default(&whole)
	cfg := quick()
	cfg.Model, cfg.Train.Updates, cfg.Train.BFloat16 = whole.Model, 20, reduced
	return cfg
}

// TestResidualScale: the unit of residual means is that of all windows, whoever worked them through.
func TestResidualScale(t *testing.T) {
	cfg := quick()
	tr, err := newTrainer(&cfg, vehicleWith(9, 120), Options{Seed: 3, Ranks: dist.Solo{}})
	if err != nil {
		t.Fatal(err)
	}
	w, U, n := tr.pool.workers[0], tr.model.System.Dims().Tangent, 0
	sum := make([]float64, U)
	for k := range tr.train { // one by one
		w.eachTile(tr.train[k:k+1], func(part []start, z []float32) {
			w.mean.Begin(0, 1, 1, z)
			for j, x := range w.mean.ResidualMean(w.own.windows, 0)[:U] {
				sum[j] += float64(x) * float64(x)
			}
			n++
		})
	}
	if n < 3*tile || n%tile == 0 {
		t.Fatalf("%d windows are not cut", n)
	}
	tr.scaleResiduals(tr.train)
	unit := tr.model.ResidualScale
	// the same for all, so that a share of windows is known
	scale := float64(unit[3]) / math.Sqrt(sum[3]*float64(U)/float64(n))
	for j, u := range unit {
		if want := scale * math.Sqrt(sum[j]*float64(U)/float64(n)); math.Abs(float64(u)-want) > 1e-4*want {
			t.Errorf("unit %d is %v, of the windows one by one %v", j, u, want)
		}
	}
	if !(scale > .2 && scale < 20) {
		t.Errorf("the units are %v times the root mean squares", scale)
	}
}
