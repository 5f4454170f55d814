package rounds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/dataset/datasettest"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

const (
	dt       = 0.02
	patience = 5 * time.Minute
)

// tiny is a configuration with which a round takes a moment, and nearly everything passes.
func tiny() *Config {
	var c Config
	param.Default(&c)
	c.NewRows, c.Least = 400, 8
	c.Fit.Train.Updates, c.Fit.Train.Batch, c.Fit.Loss.Steps = 30, 16, 5
	c.Fit.WarmStart.Updates, c.Fit.WarmStart.Batch = 10, 16
	c.Policy.Hidden, c.Policy.Epochs, c.Policy.Envs, c.Policy.Horizon, c.Policy.Flights = 16, 40, 16, 40, 1
	c.FineTune.Epochs = 20
	c.Gate.Shadow.Flights, c.Gate.Shadow.Seconds, c.Gate.Shadow.Settle = 2, 0.5, 0
	c.Gate.Tolerance, c.Gate.FirstError, c.Gate.Saturation, c.Gate.Rate, c.Gate.Resamples = 10, 100, 60, 1000, 100
	c.Evidence.Settle = 0
	return &c
}

func limits() (l quad.Limits) {
	param.Default(&l)
	return l
}

func tasks(t testing.TB) []*task.Task {
	t.Helper()
	cost, err := task.CostOf(task.StiffCost, task.Hover)
	if err != nil {
		t.Fatal(err)
	}
	var spread task.Spread
	param.Default(&spread)
	k, err := task.New(task.Hover, cost, spread, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []*task.Task{k}
}

var based struct {
	sync.Once
	data []byte
}

// base is a policy of the nominal simulator.
func base(t testing.TB) *bundle.Bundle {
	t.Helper()
	based.Do(func() {
		var n quadtrain.Nominal
		param.Default(&n)
		r, err := quadtrain.Run(context.Background(), tiny().Policy, quadtrain.NominalWorld[float32](n), dt,
			quadtrain.Options{Seed: 1, Tasks: tasks(t), Limits: limits()})
		if err != nil {
			t.Fatal(err)
		}
		b := &bundle.Bundle{Robot: quadrotor.Name, Dt: dt}
		if err := policy.Put(b, r.Policy, "hover"); err != nil {
			t.Fatal(err)
		}
		if based.data, err = b.Encode(); err != nil {
			t.Fatal(err)
		}
	})
	b, err := bundle.Decode("base", based.data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// flown is a flight near hover in some wind, with commands of chance.
func flown(wind, begin float64, seconds float64, seed uint64) (rows []dataset.WeightedRow) {
	sys := quadrotor.NewQuadrotor[float32](dt,
		quadrotor.Actuator{ThrustGain: 1, RateGain: 1, ThrustLag: 0.03, RateLag: 0.04})
	n := sys.Dims()
	s, next, d, a := make([]float32, n.State), make([]float32, n.State), make([]float32, n.Tangent),
		make([]float32, n.Action)
	start := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
	quadrotor.Measured(&start, s)
	rng := rand.New(rand.NewPCG(seed, 1))
	for k := range int(seconds / dt) {
		st := quadrotor.State[float32](s)
		st.Q = st.Q.Normalize()
		tilt := st.Q.Rotate(so3.Vec3{Z: 1})
		cmd := quad.Command{Thrust: 9.81 - 2*(st.P.Z-1) - st.V.Z + 0.3*rng.NormFloat64(), Rates: so3.Vec3{
			X: 3*tilt.Y + 0.3*st.V.Y + 0.3*rng.NormFloat64(), Y: -3*tilt.X - 0.3*st.V.X + 0.3*rng.NormFloat64()}}
		rows = append(rows, dataset.WeightedRow{Row: quad.Row{T: begin + float64(k)*dt, State: st, Command: cmd},
			Confidence: 1})
		quadrotor.Action(&cmd, a)
		clear(d)
		sys.ToBody(1, s, []float32{0, 0, 0, float32(wind * dt), 0, 0, 0, 0, 0}, d)
		sys.Step(1, s, a, d, next)
		copy(s, next)
	}
	return rows
}

// segment puts a flight into the buffer in dir.
func segment(t testing.TB, dir string, rows []dataset.WeightedRow) dataset.SegmentFile {
	t.Helper()
	return datasettest.Segment(t, dir, "f", rows)
}

// bench is a learner at work, and what it said.
type bench struct {
	*Quadrotor
	t     testing.TB
	ctx   context.Context
	mu    sync.Mutex
	sent  []string // bundles
	lines []string
	bad   []string // those of the lines that are errors
	seen  []continual.Status
	stop  func()
}

func options(t testing.TB, dir string) Options {
	return Options{Common: Common{Dir: dir, Seed: 1, Dt: dt,
		BasePolicy: func(context.Context, func(train.Progress)) (*bundle.Bundle, error) { return base(t), nil }},
		Tasks: tasks(t), Task: "hover", Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}}
}

func start(t testing.TB, cfg *Config, opt Options) *bench {
	t.Helper()
	return startBy(t, func() *Config { return cfg }, opt)
}

// startBy is start by parameters that may be set meanwhile.
func startBy(t testing.TB, cfg func() *Config, opt Options) *bench {
	t.Helper()
	b := &bench{t: t}
	keep := func(f func()) { b.mu.Lock(); defer b.mu.Unlock(); f() }
	opt.Publish = func(s *bundle.Bundle, _ []byte) { keep(func() { b.sent = append(b.sent, s.ID) }) }
	opt.Log = func(bad bool, line string) {
		keep(func() {
			if b.lines = append(b.lines, line); bad {
				b.bad = append(b.bad, line)
			}
		})
	}
	opt.Report = func(s continual.Status) { keep(func() { b.seen = append(b.seen, s) }) }
	var err error
	if b.Quadrotor, err = Open(cfg, opt); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.ctx = ctx
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	var once sync.Once
	b.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(b.stop)
	return b
}

// until waits for what must happen.
func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	for begin := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		b.mu.Lock()
		ok := holds()
		b.mu.Unlock()
		if ok {
			return
		}
		if time.Since(begin) > patience {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("%s: never; sent %v, said %q", what, b.sent, b.lines)
		}
	}
}

func (b *bench) said(text string) {
	b.t.Helper()
	b.until(text, func() bool {
		for _, l := range b.lines {
			if strings.Contains(l, text) {
				return true
			}
		}
		return false
	})
}

func (b *bench) bundles(n int) {
	b.t.Helper()
	b.until(fmt.Sprintf("%d bundles", n), func() bool { return len(b.sent) >= n })
}

func (b *bench) learn(a dataset.SegmentFile) {
	b.t.Helper()
	if err := b.Segment(b.ctx, a); err != nil {
		b.t.Fatal(err)
	}
}

func TestConfig(t *testing.T) {
	if err := param.Check(new(Config)); err != nil {
		t.Error(err)
	}
	if err := param.Check(new(ResourceLimits)); err != nil {
		t.Error(err)
	}
}

// TestRounds: with the first bundle out and enough data in, a round makes the next bundle, which goes out; a restart
// begins with it, and does not learn again from what it knows; returns go back, and stay after a restart.
func TestRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	dir, buffer := t.TempDir(), t.TempDir()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	first, second := segment(t, buffer, flown(0, 0, 6, 1)), segment(t, buffer, flown(1, 100, 6, 2))
	b.learn(first)
	if line, err := b.TrainNow(b.ctx); err != nil || line != "learning begins" {
		t.Errorf("%q, %v", line, err)
	}
	b.until("too little", func() bool {
		return strings.Contains(b.seen[len(b.seen)-1].Message, "too little was flown: 6 s, a model takes 8")
	})
	b.learn(second)
	b.learn(second) // twice
	b.bundles(2)
	b.said("round 1 on 600 rows")
	b.until("phases", func() bool {
		var order []continual.Phase
		for _, s := range b.seen {
			if n := len(order); n == 0 || order[n-1] != s.Phase {
				order = append(order, s.Phase)
			}
		}
		want := fmt.Sprint([]continual.Phase{BasePolicy, continual.Gating, Waiting, continual.Fitting,
			continual.Encoding,
			continual.Improving, continual.Gating, Waiting})
		return fmt.Sprint(order) == want
	})
	if s := b.Status(); s.BundleID != b.sent[1] || s.Rows != 600 {
		t.Errorf("%+v", s)
	}
	b.stop()
	restarted(t, dir, b.sent, first, second)
}

// restarted: after a restart the second of two bundles flies, and the first one again after a return.
func restarted(t *testing.T, dir string, sent []string, first, second dataset.SegmentFile) {
	t.Helper()
	opt := options(t, dir)
	opt.BasePolicy = nil
	again := start(t, tiny(), opt)
	again.bundles(1)
	if again.sent[0] != sent[1] {
		t.Errorf("after a restart %s flies, expected %s", again.sent[0], sent[1])
	}
	again.learn(first)
	again.learn(second)
	if err := again.do(again.ctx, func() {
		if again.job != nil || again.fresh != 0 {
			t.Errorf("it learns again from the same: %d rows are new", again.fresh)
		}
	}); err != nil {
		t.Error(err)
	}
	if line, err := again.Rollback(again.ctx); err != nil ||
		!strings.Contains(line, sent[0]+" flies again: asked to") {
		t.Errorf("%q, %v", line, err)
	}
	if _, err := again.Rollback(again.ctx); err == nil || !strings.Contains(err.Error(), "no older one") {
		t.Errorf("behind the first: %v", err)
	}
	again.stop()
	last := start(t, tiny(), opt)
	last.bundles(1)
	if last.sent[0] != sent[0] {
		t.Errorf("after the return and a restart %s flies, expected %s", last.sent[0], sent[0])
	}
}

// walls is a judge in whose flights every improved bundle crashes.
type walls struct{}

func (walls) Fly(_ context.Context, b *bundle.Bundle, _ gate.Trial) (*gate.Flight, error) {
	l := limits()
	still := l.Units(quad.Command{})
	f := &gate.Flight{Dt: dt, Errors: make([]float64, 200), Actions: slices.Repeat([][]float64{still[:]}, 200)}
	if b.Parent != "" {
		f.Crash = "into a wall"
	}
	return f, nil
}

// long skips a test that learns for long, which takes minutes without C.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("learns for long")
	}
}

// TestKeptBack: a candidate that the gate refuses is said to be, which is no error, and does not go out; its data
// count as learned.
func TestKeptBack(t *testing.T) {
	long(t)
	opt := options(t, t.TempDir())
	opt.Judge = walls{}
	b := start(t, tiny(), opt)
	b.bundles(1)
	b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
	b.said("is refused: canary: crash in flight 1, where the current bundle does not crash: into a wall")
	b.until("waits", func() bool { return b.seen[len(b.seen)-1].Phase == Waiting })
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.bad) > 0 || len(b.sent) > 1 {
		t.Errorf("errors %q, bundles %q", b.bad, b.sent)
	}
}

// misfit is walls that find another robot in all that is flown.
type misfit struct{ walls }

func (m misfit) Of(...quadgate.Identified) gate.Judge { return m }

// Sooner is by a millisecond for each stretch.
func (m misfit) Sooner(_ context.Context, _ *bundle.Bundle, flown []quadgate.Stretch) (gate.Judge, float64, error) {
	return m, 0.001 * float64(len(flown)), nil
}

func (misfit) Misfit(*quadgate.Identified) string { return "thrust answers later" }

// TestMisfitIsSaidOnce: a robot that answers otherwise than its controller believes is named, as all rounds find it.
func TestMisfitIsSaidOnce(t *testing.T) {
	long(t)
	opt := options(t, t.TempDir())
	opt.Judge = misfit{}
	b := start(t, tiny(), opt)
	b.bundles(1)
	buffer := t.TempDir()
	b.learn(segment(t, buffer, flown(0, 0, 10, 1)))
	b.said("round 1 on")
	b.learn(segment(t, buffer, flown(0, 100, 10, 2)))
	b.said("round 2 on")
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.bad, []string{"thrust answers later"}) {
		t.Errorf("errors %q, expected one", b.bad)
	}
}
