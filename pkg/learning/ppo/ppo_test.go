package ppo

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/vnd"
)

// objective is what gradient differentiates: the sum over the rows of a shard, as a part of the mean over all.
func (l *learner[F]) objective(c *Config, s *shard[F], rows, all int) (policy, critic float64) {
	A := len(l.logStd)
	l.actor.Net.Forward(s.policy, 0, rows, s.x, s.mean)
	l.critic.Forward(s.critic, 0, rows, s.v, s.worth)
	for i := range rows {
		ratio := math.Exp(float64(l.logProbability(s.u[i*A:][:A], s.mean[i*A:][:A]) - s.old[i]))
		gain := float64(s.gain[i])
		policy -= min(ratio*gain, min(max(ratio, 1-c.Clip), 1+c.Clip)*gain)
		for _, logStd := range l.logStd {
			policy -= c.Entropy * float64(logStd)
		}
		off := float64(s.worth[i] - s.target[i])
		critic += off * off / 2
	}
	return policy / float64(all), critic / float64(all)
}

// cart is a double integrator that is to come to rest at 0: its critic sees what its policy sees.
type cart struct {
	rng  *rand.Rand
	s    [][2]float64 // m, m/s
	time []int
}

const cartSteps, cartDt = 50, 0.1

func newCarts(n int, seed uint64) *cart {
	c := &cart{rng: rand.New(rand.NewPCG(seed, 2)), s: make([][2]float64, n), time: make([]int, n)}
	for i := range n {
		c.begin(i)
		c.time[i] = i * cartSteps / n // so that not all end at once
	}
	return c
}

func (c *cart) begin(i int) {
	c.s[i], c.time[i] = [2]float64{2*c.rng.Float64() - 1, 2*c.rng.Float64() - 1}, 0
}

func (c *cart) Size() int                                 { return len(c.s) }
func (c *cart) Sizes() (observation, critic, actions int) { return 2, 2, 1 }

func (c *cart) Observe(x, v []float32) {
	for i, s := range c.s {
		x[2*i], x[2*i+1] = float32(s[0]), float32(s[1])
	}
	copy(v, x)
}

func (c *cart) Step(u, reward []float32, end []End) error {
	for i := range c.s {
		s := &c.s[i]
		a := 2 * float64(u[i])
		reward[i] = float32(-cartDt * (s[0]*s[0] + 0.1*s[1]*s[1] + 0.01*a*a))
		s[0], s[1] = s[0]+cartDt*s[1], s[1]+cartDt*a
		end[i] = GoesOn
		if c.time[i]++; c.time[i] == cartSteps {
			end[i] = Cut
			c.begin(i)
		}
	}
	return nil
}

// score is the mean return of a policy over many episodes.
func score(t *testing.T, policy func(s [2]float64) float32) (mean float64) {
	t.Helper()
	const n = 200
	c := newCarts(n, 7)
	clear(c.time)
	u, reward, end := make([]float32, n), make([]float32, n), make([]End, n)
	for range cartSteps {
		for i, s := range c.s {
			u[i] = policy(s)
		}
		if err := c.Step(u, reward, end); err != nil {
			t.Fatal(err)
		}
		for _, r := range reward {
			mean += float64(r) / n
		}
	}
	return mean
}

func act(p *vnd.Actor[float32]) func(s [2]float64) float32 {
	tape, u := p.Net.NewTape(1, 1), make([]float32, 1)
	return func(s [2]float64) float32 {
		x := []float32{float32(s[0]), float32(s[1])}
		p.Norm.ApplyCut(x)
		p.Net.Forward(tape, 0, 1, x, u)
		return u[0]
	}
}

func cartConfig() Config {
	c := Defaults()
	c.Iterations, c.Steps, c.Discount, c.Policy, c.Critic, c.Rate = 60, 32, 0.95, []int{16, 16}, []int{16, 16}, 3e-3
	return c
}

// TestCartComesToRest: nearly as well as the best linear law of a sweep does.
func TestCartComesToRest(t *testing.T) {
	if testing.Short() {
		t.Skip("it learns")
	}
	best := math.Inf(-1)
	for k := 0.4; k < 4; k += 0.2 {
		for d := 0.4; d < 4; d += 0.2 {
			best = max(best, score(t, func(s [2]float64) float32 {
				return float32(min(max(-k*s[0]-d*s[1], -1), 1))
			}))
		}
	}
	p, err := Train(t.Context(), cartConfig(), newCarts(32, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	idle, got := score(t, func([2]float64) float32 { return 0 }), score(t, act(p))
	t.Logf("return %.3f, best linear law %.3f, idle %.3f", got, best, idle)
	if !(got > 1.5*best) {
		t.Errorf("return %.3f, want more than %.3f; idle %.3f", got, 1.5*best, idle)
	}
}

func TestSameSeedSamePolicy(t *testing.T) {
	train := func(seed uint64) []float32 {
		c := cartConfig()
		c.Iterations, c.Seed = 3, seed
		p, err := Train(t.Context(), c, newCarts(16, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.Net.Params
	}
	one := train(1)
	if !slices.Equal(one, train(1)) {
		t.Error("the same seed gave other parameters")
	}
	if slices.Equal(one, train(2)) {
		t.Error("another seed gave the same parameters")
	}
}

// TestGoesOnFromAPolicy: its first steps are those of the policy that it begins with, which stays as it is.
func TestGoesOnFromAPolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("it learns")
	}
	p, err := Train(t.Context(), cartConfig(), newCarts(32, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(p.Net.Params)
	c := cartConfig()
	c.Iterations, c.Deviation, c.Warmup = 3, 0.05, 1
	var rewards []float64
	c.Progress = func(g Progress) {
		rewards = append(rewards, g.Reward)
		if same := slices.Equal(before, g.Policy.Net.Params); same != (g.Iteration < c.Warmup) {
			t.Errorf("iteration %d: the policy stayed as it was: %v", g.Iteration, same)
		}
	}
	next, err := Train(t.Context(), c, newCarts(32, 1), p)
	if err != nil {
		t.Fatal(err)
	}
	if !(rewards[0] > -0.05) {
		t.Errorf("mean reward %.4f in the first iteration, want more than -0.05; an idle cart has -0.29", rewards[0])
	}
	if !slices.Equal(before, p.Net.Params) || slices.Equal(before, next.Net.Params) {
		t.Error("the policy to begin with changed, or the next one did not")
	}
}

// TestGradientMatchesCentralDifferences: of policy, deviation and critic, with ratios on both sides of the clip.
func TestGradientMatchesCentralDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	c := cartConfig()
	c.Entropy, c.Steps, c.Minibatches = 0.05, 16, 2
	w := newCarts(16, 1)
	l, err := newLearner[float64](&c, w, rng)
	if err != nil {
		t.Fatal(err)
	}
	const rows, all = 32, 128
	s := l.parts[0]
	for _, x := range [][]float64{s.x, s.v, s.u, s.gain, s.target} {
		for i := range x {
			x[i] = rng.NormFloat64()
		}
	}
	l.actor.Net.Forward(s.policy, 0, rows, s.x, s.mean)
	clippedRows := 0
	for i := range rows {
		off := 0.6 * (rng.Float64() - 0.5)
		s.old[i] = l.logProbability(s.u[i:i+1], s.mean[i:i+1]) - off
		if ratio := math.Exp(off); ratio > 1+c.Clip && s.gain[i] > 0 || ratio < 1-c.Clip && s.gain[i] < 0 {
			clippedRows++
		}
	}
	if clippedRows < 2 || clippedRows > rows/2 {
		t.Fatalf("%d of %d rows are clipped", clippedRows, rows)
	}
	l.gradient(&c, s, rows, all)
	grad, std, fit := slices.Clone(s.grad), slices.Clone(s.std), slices.Clone(s.fit)
	for _, part := range []struct {
		name        string
		params, got []float64
		refresh     func()
		part        int
	}{{"policy", l.actor.Net.Params, grad, l.actor.Net.Refresh, 0}, {"deviation", l.logStd, std, func() {}, 0},
		{"critic", l.critic.Params, fit, l.critic.Refresh, 1}} {
		value := func() float64 {
			part.refresh()
			policy, critic := l.objective(&c, s, rows, all)
			return [2]float64{policy, critic}[part.part]
		}
		for i, keep := range part.params {
			const eps = 1e-6
			part.params[i] = keep + eps
			up := value()
			part.params[i] = keep - eps
			want := (up - value()) / (2 * eps)
			if part.params[i] = keep; math.Abs(part.got[i]-want) > 1e-7 {
				t.Fatalf("%s: gradient %d is %g, central difference %g", part.name, i, part.got[i], want)
			}
		}
		part.refresh()
	}
}

// TestAdvantages: over an episode that ends, one that is cut and one that goes on.
func TestAdvantages(t *testing.T) {
	b := newBatch(newCarts(1, 1), 3)
	c := Config{Discount: 0.5, Lambda: 0.5}
	copy(b.reward, []float32{1, 2, 3})
	copy(b.value, []float32{10, 20, 30, 40})
	copy(b.end, []End{Over, Cut, GoesOn})
	b.estimate(&c)
	for i, want := range []float32{1, 2 + 0.5*20, 3 + 0.5*40} {
		if b.target[i] != want {
			t.Errorf("return %d is %g, want %g", i, b.target[i], want)
		}
	}
	copy(b.end, []End{GoesOn, GoesOn, GoesOn})
	b.estimate(&c)
	third := 3 + 0.5*40 - 30.
	second := 2 + 0.5*30 - 20 + 0.25*third
	for i, want := range []float64{1 + 0.5*20 + 0.25*second, 20 + second, 30 + third} {
		if math.Abs(float64(b.target[i])-want) > 1e-5 {
			t.Errorf("return %d of an episode that goes on is %g, want %g", i, b.target[i], want)
		}
	}
}

func TestWhatCannotTrainIsRefused(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"whole 4 rows": func(c *Config) { c.Minibatches = 3 },
		"0 iterations": func(c *Config) { c.Iterations = 0 },
		"discount 1":   func(c *Config) { c.Discount = 1 },
		"be kept":      func(c *Config) { c.Checkpoint = "c" },
	} {
		c := cartConfig()
		change(&c)
		if _, err := Train(t.Context(), c, newCarts(16, 1), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	c := cartConfig()
	other, err := vnd.NewActor(3, 0, make([]float32, 1), []float32{1}, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Train(t.Context(), c, newCarts(16, 1), other); err == nil {
		t.Error("a policy of another size was taken to begin with")
	}
}
