package supervisor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

const (
	dt       = 0.02
	patience = 90 * time.Second
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
		w := &train.NominalWorld[float32]{}
		param.Default(&w.Nominal)
		r, err := train.Run(context.Background(), tiny().Policy, w, dt,
			train.Options{Seed: 1, Tasks: tasks(t), Limits: limits()})
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
func flown(wind, begin float64, seconds float64, seed uint64) (rows []dataset.Row) {
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
		rows = append(rows, dataset.Row{Step: quad.Step{T: begin + float64(k)*dt, State: st, Command: cmd},
			Confidence: 1})
		quadrotor.Action(&cmd, a)
		clear(d)
		sys.Carry(1, s, []float32{0, 0, 0, float32(wind * dt), 0, 0, 0, 0, 0}, d)
		sys.Step(1, s, a, d, next)
		copy(s, next)
	}
	return rows
}

// segment puts a flight into the buffer in dir.
func segment(t testing.TB, dir string, rows []dataset.Row) dataset.SegmentFile {
	t.Helper()
	b, err := dataset.Open(dir, dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Append(dataset.Segment{Flight: "f", Rows: rows}); err != nil {
		t.Fatal(err)
	}
	files := b.Files()
	f := files[len(files)-1]
	sum, err := dataset.FileSHA256(filepath.Join(dir, f.Name))
	if err != nil {
		t.Fatal(err)
	}
	return dataset.SegmentFile{Dir: dir, File: f.Name, Rows: uint64(f.Rows), SHA256: sum}
}

// bench is a learner at work, and what it said.
type bench struct {
	*Supervisor
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
	return Options{Dir: dir, Tasks: tasks(t), Task: "hover", Vehicle: gate.Vehicle{Robot: quadrotor.Name, Limits: limits()},
		Seed: 1, Dt: dt,
		BasePolicy: func(context.Context, func(train.Progress)) (*bundle.Bundle, error) { return base(t), nil }}
}

func start(t testing.TB, cfg *Config, opt Options) *bench {
	t.Helper()
	b := &bench{t: t}
	keep := func(f func()) { b.mu.Lock(); defer b.mu.Unlock(); f() }
	opt.Publish = func(s *bundle.Bundle) { keep(func() { b.sent = append(b.sent, s.ID) }) }
	opt.Log = func(bad bool, line string) {
		keep(func() {
			if b.lines = append(b.lines, line); bad {
				b.bad = append(b.bad, line)
			}
		})
	}
	opt.Report = func(s continual.Status) { keep(func() { b.seen = append(b.seen, s) }) }
	var err error
	if b.Supervisor, err = Open(func() *Config { return cfg }, opt); err != nil {
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

	opt := options(t, dir)
	opt.BasePolicy = nil
	again := start(t, tiny(), opt)
	again.bundles(1)
	if again.sent[0] != b.sent[1] {
		t.Errorf("after a restart %s flies, expected %s", again.sent[0], b.sent[1])
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
		!strings.Contains(line, b.sent[0]+" flies again: asked to") {
		t.Errorf("%q, %v", line, err)
	}
	if _, err := again.Rollback(again.ctx); err == nil || !strings.Contains(err.Error(), "no older one") {
		t.Errorf("behind the first: %v", err)
	}
	again.stop()
	last := start(t, tiny(), opt)
	last.bundles(1)
	if last.sent[0] != b.sent[0] {
		t.Errorf("after the return and a restart %s flies, expected %s", last.sent[0], b.sent[0])
	}
}

// walls is a judge in whose flights every improved bundle crashes.
type walls struct{}

func (walls) Fly(_ context.Context, b *bundle.Bundle, _ gate.Trial) (*gate.Flight, error) {
	f := &gate.Flight{Dt: dt, Errors: make([]float64, 200), Commands: make([]quad.Command, 200)}
	if b.Parent != "" {
		f.Crash = "into a wall"
	}
	return f, nil
}

// TestKeptBack: a candidate that the gate refuses is said to be, which is no error, and does not go out; its data
// count as learned.
func TestKeptBack(t *testing.T) {
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

// TestPause: a pause ends the round at work and lets none begin; its data wait.
func TestPause(t *testing.T) {
	dir, buffer := t.TempDir(), t.TempDir()
	cfg := tiny()
	cfg.Fit.Train.Updates = 1e6
	b := start(t, cfg, options(t, dir))
	b.bundles(1)
	b.learn(segment(t, buffer, flown(0, 0, 10, 1)))
	b.until("a fit", func() bool {
		return b.seen[len(b.seen)-1].Phase == continual.Fitting && b.seen[len(b.seen)-1].Share > 0
	})
	if line, err := b.TrainNow(b.ctx); err != nil || line != "learning is at work already" {
		t.Errorf("%q, %v", line, err)
	}
	if _, err := b.Pause(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	b.until("the pause", func() bool { return b.seen[len(b.seen)-1].Phase == Paused })
	if _, err := b.TrainNow(b.ctx); err == nil {
		t.Error("a round begins in a pause")
	}
	quick := *cfg
	quick.Fit.Train.Updates = 20
	if err := b.do(b.ctx, func() { b.cfg = func() *Config { return &quick } }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Pause(b.ctx, false); err != nil {
		t.Fatal(err)
	}
	b.bundles(2)
}

// TestRefused: what is not what was announced is refused in one line, and costs nothing else.
func TestRefused(t *testing.T) {
	b := start(t, tiny(), options(t, t.TempDir()))
	b.bundles(1)
	buffer := t.TempDir()
	good := segment(t, buffer, flown(0, 0, 2, 1))
	wild := flown(0, 50, 2, 1)
	wild[7].State.P.X = 1e7
	poisoned := segment(t, buffer, wild)
	path := filepath.Join(buffer, good.File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := good
	other.SHA256[0]++
	fewer := good
	fewer.Rows--
	cut := good
	cut.File = "00000099.seg"
	if err := os.WriteFile(filepath.Join(buffer, cut.File), data[:len(data)-50], 0o644); err != nil {
		t.Fatal(err)
	}
	if cut.SHA256, err = dataset.FileSHA256(filepath.Join(buffer, cut.File)); err != nil {
		t.Fatal(err)
	}
	big := cut
	big.File, big.Rows = "00000098.seg", 1
	if err := os.WriteFile(filepath.Join(buffer, big.File), make([]byte, 2<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, a := range map[string]dataset.SegmentFile{
		"expected a file's name":                        {Dir: buffer, File: "../../../x.seg"},
		"and an absolute folder":                        {Dir: "buffer", File: good.File},
		"no such file":                                  {Dir: buffer, File: "00000077.seg"},
		"not a file":                                    {Dir: filepath.Dir(buffer), File: filepath.Base(buffer)},
		"its SHA-256 is":                                other,
		"100 sound rows, announced were 99":             fewer,
		"0 sound rows, announced were 100: cut off":     cut,
		"too many for the 1 rows":                       big,
		"row 8: position of 1e+07 m, expected at most ": poisoned,
	} {
		b.learn(a)
		b.said(want)
	}
	b.learn(good)
	b.until("rows", func() bool { return b.seen[len(b.seen)-1].Rows == 100 })
	for _, l := range b.lines {
		if strings.Contains(l, "\n") {
			t.Errorf("more than a line: %q", l)
		}
	}
}

// TestBadFirst: a first bundle that may not fly is refused, and asked for again only on request.
func TestBadFirst(t *testing.T) {
	opt := options(t, t.TempDir())
	requested := make(chan bool, 10)
	bad := true
	opt.BasePolicy = func(context.Context, func(train.Progress)) (*bundle.Bundle, error) {
		requested <- true
		b := base(t)
		if bad {
			b.Robot = "boat"
		}
		return b, nil
	}
	b := start(t, tiny(), opt)
	b.said(`is refused: static: the bundle is of robot "boat", the vehicle is "quadrotor"`)
	if _, err := b.Rollback(b.ctx); err == nil || len(requested) != 1 {
		t.Errorf("%d times requested, %v", len(requested), err)
	}
	bad = false
	if _, err := b.TrainNow(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.bundles(1)
}

// TestMemory: the oldest segments give way, and learning goes on.
func TestMemory(t *testing.T) {
	cfg := tiny()
	cfg.MaxRows = 1000
	b := start(t, cfg, options(t, t.TempDir()))
	b.bundles(1)
	buffer := t.TempDir()
	for k := range 5 {
		b.learn(segment(t, buffer, flown(float64(k), 100*float64(k), 6, uint64(k))))
	}
	b.bundles(2)
	if err := b.do(b.ctx, func() {
		if b.rows > 1000+300 || b.rows < 600 {
			t.Errorf("%d rows in memory", b.rows)
		}
	}); err != nil {
		t.Error(err)
	}
	b.bundles(3)
}

// learnedBundle makes bundle 2 of a store in dir, which has a model, and returns both.
func learnedBundle(t *testing.T, dir string) (ids []string, z int) {
	t.Helper()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
	b.bundles(2)
	b.stop()
	s, err := bundle.Read(filepath.Join(dir, b.sent[1]+".safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return b.sent, s.Dimensions["latent"]
}

// TestEvidence: a bundle that flies worse than the one before it where both flew is taken back by itself; one that
// flies as well, or too short, is not. The one before had no model: the new one's encoder tells where it flew.
func TestEvidence(t *testing.T) {
	dir := t.TempDir()
	ids, z := learnedBundle(t, dir)
	for _, c := range []struct {
		name        string
		seconds     float64
		error       float64
		by          bool
		wantsReturn bool
	}{
		{"as well", 30, 0.1, true, false},
		{"worse, too short", 8, 0.5, true, false},
		{"worse, and told not to", 30, 0.5, false, false},
		{"worse", 30, 0.5, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			cfg := tiny()
			cfg.Rollback = c.by
			cfg.Evidence.Radius = 100 // one neighbourhood
			b := start(t, cfg, options(t, copied))
			b.bundles(1)
			rng := rand.New(rand.NewPCG(1, 1))
			stamp := int64(1e18)
			err := b.do(b.ctx, func() {
				for i, id := range ids {
					seconds, mean := 20., 0.1
					var rows []dataset.Row
					if i == 1 {
						seconds, mean = c.seconds, c.error
					}
					rows = flown(0, 0, seconds, 5)
					for k := range rows {
						tick := ControllerTick{Stamp: stamp, Bundle: id, Task: "hover",
							Error: mean * math.Abs(1+0.2*rng.NormFloat64()), Policy: true, Row: rows[k].Step}
						if i == 1 {
							tick.Latent = make([]float32, z)
						}
						stamp += 20e6
						b.tick(&tick)
					}
					if i == 0 { // the bundle with a model comes only now
						if err := b.watch.changed(); err != nil {
							t.Error(err)
						}
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			returned := len(b.sent) == 2 && b.sent[1] == ids[0]
			if returned != c.wantsReturn {
				t.Errorf("taken back: %v; %q", returned, b.lines)
			}
			flew := map[string]bool{}
			for _, e := range b.Supervisor.bundles.Entries() {
				flew[e.ID] = e.Flown
			}
			if !flew[ids[0]] || flew[ids[1]] != (c.seconds >= 10) {
				t.Errorf("flown safely: %v", flew)
			}
			if returned && !strings.Contains(strings.Join(b.lines, "|"),
				ids[1]+" is taken back, "+ids[0]+" flies again: ") {
				t.Errorf("%q", b.lines)
			}
		})
	}
}

// TestTrip: flight that ends in a trip of the guard is not safe, and says nothing of the policy.
func TestTrip(t *testing.T) {
	dir := t.TempDir()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	err := b.do(b.ctx, func() {
		for k := range 3000 {
			b.tick(&ControllerTick{Stamp: int64(k) * 20e6, Bundle: b.sent[0], Policy: k%400 < 350})
		}
	})
	if err != nil || b.Supervisor.bundles.Entries()[0].Flown {
		t.Errorf("%v, %+v", err, b.Supervisor.bundles.Entries())
	}
}

// TestFullDisk: a bundle for which the disk has no space does not fly.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	state := filepath.Join(dir, "state.json")
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(state, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
	b.said("cannot be kept")
	if len(b.sent) != 1 {
		t.Errorf("sent %v", b.sent)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestOtherRobot(t *testing.T) {
	dir := t.TempDir()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	b.stop()
	opt := options(t, dir)
	opt.Vehicle.Robot = "boat"
	if _, err := Open(tiny, opt); err == nil ||
		!strings.Contains(err.Error(), `is of robot "quadrotor" at Δt = 0.02 s, expected "boat"`) {
		t.Errorf("%v", err)
	}
}
