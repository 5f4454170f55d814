package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"vnd/pkg/core/dist"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/latent"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

type benchCommand struct {
	Policy benchPolicy `cmd:"" help:"Transitions per second of policy training through frozen learned dynamics."`
	Fit    benchFit    `cmd:"" help:"Contexts per second of a fit's updates."`
	Scale  benchScale  `cmd:"" help:"Time of an epoch against environments, steps, threads and ranks (MPI)."`
	Tick   benchTick   `cmd:"" help:"Latency of a tick: encoder and policy, state to command."`
}

// benchSeed is that of all benches: what they time does not depend on it.
const benchSeed = 1

// published sizes: encoder 128, residual of two FiLM blocks of 256, latent of 12.
func published() (*vnd.Model[float32], quadrotor.Robot, error) {
	q := quadrotor.Robot{Dt: 0.02, Actuator: quadrotor.NominalActuator(), Prior: true}
	m, err := vnd.New[float32](q.System(), nets.Config{Context: 20, Latent: 12, Encoder: nets.EncoderGRU,
		EncoderDense:  128,
		EncoderHidden: 128, Hidden: 256, Blocks: 2, Film: true, Members: 1})
	if err != nil {
		return nil, q, err
	}
	m.Net.Init(rand.New(rand.NewPCG(benchSeed, 0)))
	for i := range m.Output {
		m.Output[i] = 0.01
	}
	return m, q, nil
}

// rate is how fast something went, over repeated epochs.
type rate struct {
	Bench   string  `json:"bench"`
	Unit    string  `json:"unit"` // of what is counted
	Each    int     `json:"per_epoch"`
	Median  float64 `json:"per_s"`      // in the median epoch
	Best    float64 `json:"best_per_s"` // in the best epoch
	Epoch   float64 `json:"epoch_s"`
	Epochs  int     `json:"epochs"`
	Threads int     `json:"threads"` // that had work, of all ranks
	Ranks   int     `json:"ranks"`   // processes
	Kernel  string  `json:"kernel"`
	Format  string  `json:"products"` // between hidden layers: float32 or bfloat16
}

// rateOf turns the times of epochs into a rate, without the first two, which
// touch memory for the first time.
func rateOf(bench, unit string, each, threads int, g dist.Group, plain bool, times []time.Duration) *rate {
	const warm = 2
	slices.Sort(times[min(warm, len(times)-1):])
	rest := times[min(warm, len(times)-1):]
	median, best := rest[len(rest)/2].Seconds(), rest[0].Seconds()
	format := "bfloat16"
	if plain || !kernel.HasBFloat16() {
		format = "float32"
	}
	return &rate{Bench: bench, Unit: unit, Each: each, Median: float64(each) / median, Best: float64(each) / best,
		Epoch:  median,
		Epochs: len(rest), Threads: threads, Ranks: g.Size(), Kernel: kernel.Name(), Format: format}
}

// WriteText implements result.
func (r *rate) WriteText(w io.Writer) error {
	who := fmt.Sprintf("%d threads", r.Threads)
	if r.Ranks > 1 {
		who = fmt.Sprintf("%d ranks, %s in all", r.Ranks, who)
	}
	_, err := fmt.Fprintf(w, "%s: %.0f %s/s (best %.0f), %.3f s per epoch of %d, median of %d, %s, %s, %s\n", r.Bench,
		r.Median, r.Unit,
		r.Best, r.Epoch, r.Each, r.Epochs, who, r.Kernel, r.Format)
	return err
}

type benchPolicy struct {
	Envs    int  `default:"512" help:"Environments."`
	Horizon int  `default:"125" help:"Steps of an episode."`
	Hidden  int  `default:"256" help:"Units of the policy's two hidden layers."`
	Threads int  `default:"0" help:"Threads; 0 takes all."`
	Epochs  int  `default:"9" help:"Epochs, of which the first two are not timed."`
	Stopped bool `help:"Stop the gradient at the learned residual."`
	Float32 bool `name:"float32" help:"Multiply in float32 also where the processor has bfloat16."`
}

// Run implements `vnd bench policy`: the work of a peer benchmark, a discounted
// Huber tracking cost through a frozen residual of the published sizes.
func (b *benchPolicy) Run(c *console) error {
	if b.Envs < 1 || b.Horizon < 1 || b.Epochs < 3 || b.Hidden < 1 || b.Hidden > 1024 || b.Threads < 0 {
		return errors.New("expected at least one environment and step, 1 to 1024 hidden units, three epochs and " +
			"no negative number of threads")
	}
	m, q, err := published()
	if err != nil {
		return err
	}
	var cfg quadtrain.Config
	param.Default(&cfg)
	cfg.Hidden, cfg.Envs, cfg.Horizon = b.Hidden, b.Envs, b.Horizon
	cfg.Epochs, cfg.Flights, cfg.Workers, cfg.BankShare = b.Epochs, 0, b.Threads, 0
	cfg.BFloat16 = !b.Float32
	var spread task.Spread
	param.Default(&spread)
	cost := task.Cost{Position: 1, Velocity: 0.1, Rates: 0.01, Action: 0.01, Collision: 1, Delta: 1}
	k, err := task.New(task.Track, cost, spread, nil)
	if err != nil {
		return err
	}
	k.Radius = math.Inf(1) // every transition is worked through
	frame, err := airframe.Load("")
	if err != nil {
		return err
	}
	var times []time.Duration
	var last time.Time
	opt := quadtrain.Options{Seed: benchSeed, Tasks: []*task.Task{k}, Limits: frame.Limits,
		Progress: func(train.Progress) {
			now := time.Now()
			times, last = append(times, now.Sub(last)), now
		}}
	return c.together(func(g dist.Group) error {
		opt.Ranks, last = g, time.Now()
		w := quadtrain.Learned(m, q.Dt, !b.Stopped, cfg.Pushes(opt.From), cfg.Margins)
		r, err := quadtrain.Run(c.ctx, cfg, w, q.Dt, opt)
		if err != nil {
			return err
		}
		return c.show(rateOf("policy", "transitions", b.Envs*b.Horizon, r.Workers, g, b.Float32, times))
	})
}

type benchFit struct {
	Batch   int  `default:"2048" help:"Contexts of an update."`
	Steps   int  `default:"1" help:"Steps of the rollouts that are compared; 1 is the paper's loss."`
	Threads int  `default:"0" help:"Threads; 0 takes all."`
	Epochs  int  `default:"11" help:"Updates, of which the first two are not timed."`
	Float32 bool `name:"float32" help:"Multiply in float32 also where the processor has bfloat16."`
}

// Run implements `vnd bench fit`.
func (b *benchFit) Run(c *console) error {
	if b.Batch < 2 || b.Steps < 1 || b.Steps > 200 || b.Epochs < 3 || b.Threads < 0 {
		return errors.New("expected at least two contexts, one to 200 steps, three updates and no negative number " +
			"of threads")
	}
	var cfg fit.Config
	param.Default(&cfg)
	cfg.Loss.Steps, cfg.Train.Horizon, cfg.Train.Batch, cfg.BiasCorrection.Share, cfg.Model.DecoderHidden = b.Steps,
		[]float64{1}, b.Batch, 0, 256
	cfg.Train.Updates, cfg.Train.Passes, cfg.Train.Validation, cfg.Train.Workers = b.Epochs, 1e5, 0, b.Threads
	cfg.Train.Minutes, cfg.Prior.Identify, cfg.Loss.MMDStart, cfg.Train.BFloat16 = 1e5, false, 0, !b.Float32
	segments := dataset.FromFlights(madeUp(16, 20+b.Steps+200))
	var times []time.Duration
	var last time.Time
	opt := fit.Options{Seed: benchSeed, Progress: func(fit.Progress) {
		now := time.Now()
		times, last = append(times, now.Sub(last)), now
	}}
	return c.together(func(g dist.Group) error {
		opt.Ranks, last = g, time.Now()
		fitted, err := quadfit.Run(c.ctx, cfg, 0.02, segments, opt)
		if err != nil {
			return err
		}
		return c.show(rateOf("fit", "contexts", b.Batch, fitted.Metrics.Workers, g, b.Float32, times))
	})
}

// madeUp returns flights of n rows under wandering commands.
func madeUp(flights, n int) []quad.Flight {
	const dt = 0.02
	rng := rand.New(rand.NewPCG(benchSeed, 1))
	out := make([]quad.Flight, flights)
	for i := range out {
		s := quad.State{Q: so3.Identity(), P: so3.Vec3{Z: 1}}
		var rows []quad.Row
		for k := range n {
			c := quad.Command{Thrust: quad.Gravity + rng.NormFloat64(),
				Rates: so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}}
			rows = append(rows, quad.Row{T: dt * float64(k), State: s, Command: c})
			a := s.Q.ZAxis().Scale(c.Thrust).Sub(so3.Vec3{Z: quad.Gravity})
			s.P, s.V = s.P.Add(s.V.Scale(dt)), s.V.Add(a.Scale(dt)).Scale(0.99)
			s.Q = s.Q.Mul(so3.Exp(c.Rates.Scale(dt))).Normalize()
		}
		out[i] = quad.Flight{Name: fmt.Sprint(i), Segments: [][]quad.Row{rows}}
	}
	return out
}

type benchTick struct {
	Ticks  int `default:"20000" help:"Ticks to time."`
	Hidden int `default:"256" help:"Units of the policy's two hidden layers."`
}

// tickResult are the latencies of ticks, µs.
type tickResult struct {
	Ticks  int     `json:"ticks"`
	P50    float64 `json:"p50_us"`
	P99    float64 `json:"p99_us"`
	Max    float64 `json:"max_us"`
	Kernel string  `json:"kernel"`
}

// Run implements `vnd bench tick`: a state comes, the encoder reads it, the
// policy answers; all on one thread.
func (b *benchTick) Run(c *console) error {
	const warm = 1000
	if b.Ticks < 100 || b.Hidden < 1 {
		return errors.New("expected at least 100 ticks and one hidden unit")
	}
	m, q, err := published()
	if err != nil {
		return err
	}
	frame, err := airframe.Load("")
	if err != nil {
		return err
	}
	var o policy.Observation
	param.Default(&o)
	p, err := policy.New[float32](o, frame.Limits, m.Net.Latent, []int{b.Hidden, b.Hidden})
	if err != nil {
		return err
	}
	hover := p.Hover()
	p.Net.Init(rand.New(rand.NewPCG(benchSeed, 2)), hover[:])
	rows := madeUp(1, warm+b.Ticks)[0].Segments[0]
	tick, err := newTick(m, q, p)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	times := make([]float64, 0, b.Ticks)
	for k := range rows {
		if k%1024 == 0 && c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		began := time.Now()
		tick(&rows[k])
		if took := time.Since(began); k >= warm {
			times = append(times, float64(took.Nanoseconds())/1e3)
		}
	}
	slices.Sort(times)
	n := len(times)
	return c.show(&tickResult{Ticks: n, P50: times[n/2], P99: times[n*99/100], Max: times[n-1], Kernel: kernel.Name()})
}

// WriteText implements result.
func (t *tickResult) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "tick: p50 %.1f µs, p99 %.1f µs, max %.0f µs over %d ticks, %s\n", t.P50, t.P99, t.Max,
		t.Ticks, t.Kernel)
	return err
}

// newTick joins encoder and policy as a tick has them.
func newTick(m *vnd.Model[float32], q quadrotor.Robot, p *policy.Policy[float32]) (func(*quad.Row), error) {
	const oldest = 0.1 // s
	reader, err := latent.LoadModel(m, q, 1)
	if err != nil {
		return nil, err
	}
	encoder, err := latent.New(oldest)
	if err != nil {
		return nil, err
	}
	encoder.Swap(reader)
	path, err := reference.OfTask(task.Track)
	if err != nil {
		return nil, err
	}
	runner := policy.NewRunner(p, q.Dt, path.At)
	return func(s *quad.Row) {
		encoder.Push(s)
		runner.SetLatent(encoder.Mean())
		runner.Command(s.T, &s.State)
	}, nil
}
