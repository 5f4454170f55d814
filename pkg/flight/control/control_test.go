package control

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/latent"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// epoch is what the tests' clock shows at the start, ns.
const epoch = 1_700_000_000_123_456_789

func readBundle(t testing.TB, name string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Read(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loadedPolicy(t testing.TB, name string, rate float64) *LoadedPolicy {
	t.Helper()
	c, err := LoadPolicy(readBundle(t, name), quadrotor.Name, rate)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func taskReference(t testing.TB, task string) *TaskReference {
	t.Helper()
	c, err := NewTaskReference(task, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func defaults() (c Config) {
	param.Default(&c)
	return c
}

func newLoop(t testing.TB, c Config) *Loop {
	t.Helper()
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// closed is a loop closed over the simulator, its motion capture and a live encoder.
type closed struct {
	t       testing.TB
	loop    *Loop
	pace    Scheduler
	sim     *sim.Simulator
	encoder *latent.Encoder
	tick    TickRecord
	command quad.Command
	ticks   []TickRecord
}

func newClosed(t testing.TB, c Config, name string) *closed {
	t.Helper()
	return newClosedIn(t, c, name, sim.Default(), 1)
}

func newClosedIn(t testing.TB, c Config, name string, w sim.World, seed uint64) *closed {
	t.Helper()
	s, err := sim.New(w, seed)
	if err != nil {
		t.Fatal(err)
	}
	f := &closed{t: t, loop: newLoop(t, c), pace: NewScheduler(c.Period()), sim: s, tick: NewTickRecord(),
		command: quad.Command{Thrust: quad.Gravity}}
	f.encode(name, c.Rate)
	f.loop.SetPolicy(loadedPolicy(t, name, c.Rate))
	f.loop.SetReference(taskReference(t, "hover"))
	return f
}

// encode has the encoder of a bundle read from now on.
func (f *closed) encode(name string, rate float64) {
	f.t.Helper()
	m, q, err := vnd.FromBundle(readBundle(f.t, name), quadrotor.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := latent.LoadModel(m, q, int(rate*q.Dt+.5))
	if err != nil {
		f.t.Fatal(err)
	}
	if f.encoder == nil {
		if f.encoder, err = latent.New(0.1); err != nil {
			f.t.Fatal(err)
		}
	}
	f.encoder.Swap(r)
}

// advance flies for some time, s, with the samples that pass.
func (f *closed) advance(seconds float64, pass func(*Sample) bool) {
	const step = 0.0025
	for end := f.sim.Time() + seconds; f.sim.Time() < end-step/2; {
		f.sim.Step(f.command, step)
		now := epoch + int64(f.sim.Time()*1e9)
		due := false
		for _, s := range f.sim.Mocap() {
			m := Sample{Stamp: epoch + int64(s.Stamp*1e9), State: quad.State{P: s.P, Q: s.Q}}
			if f.loop.config.Source == FromOdometry {
				m.State.V, m.HasVelocity = f.sim.State().V, true
			}
			if pass == nil || pass(&m) {
				f.loop.AddSample(&m)
				due = f.pace.DueAtSample(m.Stamp, now) || due
			}
		}
		if due || f.pace.DueByClock(now) {
			f.fly(now)
		}
	}
}

func (f *closed) fly(now int64) {
	c, ok := f.loop.Tick(now)
	if !ok {
		return
	}
	f.command = c
	f.loop.FinishTick(&f.tick)
	t := f.tick
	t.Reference, t.Latent = slices.Clone(t.Reference), slices.Clone(t.Latent)
	f.ticks = append(f.ticks, t)
	f.encoder.Push(&quad.Row{T: seconds(t.Stamp, epoch), State: t.State, Command: t.Sent})
	if f.encoder.Known() {
		f.loop.SetLatent(&Latent{Stamp: t.Stamp, Bundle: t.Bundle, Mean: f.encoder.Mean(), Novelty: f.encoder.Novelty()})
	}
}

func (f *closed) off() float64 { return f.sim.State().P.Sub(so3.Vec3{Z: 1}).Norm() }

// Hover at every rate and from both sources, through a swap at a boundary between two ticks.
func TestHoverThroughASwap(t *testing.T) {
	if testing.Short() {
		t.Skip("flies for long")
	}
	for _, c := range []struct {
		rate   float64
		source string
	}{{50, FromPose}, {50, FromOdometry}, {100, FromPose}, {200, FromPose}} {
		config := defaults()
		config.Rate, config.Source = c.rate, c.source
		f := newClosed(t, config, "a.vnd")
		f.advance(4, nil)
		f.encode("b.vnd", c.rate)
		f.loop.SetPolicy(loadedPolicy(t, "b.vnd", c.rate))
		at := len(f.ticks)
		f.advance(4, nil)
		if n := float64(len(f.ticks)); math.Abs(n-8*c.rate) > 0.02*8*c.rate || f.sim.Crashed() || f.off() > 0.1 ||
			f.pace.Missed() != 0 {
			t.Errorf("%g Hz by %s: %g ticks, %d missed, ended %.3f m off, %s", c.rate, c.source, n, f.pace.Missed(),
				f.off(), f.sim.Crash())
		}
		for i, k := range f.ticks {
			want := readBundle(t, "a.vnd").ID
			if i >= at {
				want = readBundle(t, "b.vnd").ID
			}
			if k.Seq != uint64(i) || k.Bundle != want || k.Task != "hover" || k.Stage != guard.Policy ||
				len(k.Reference) != 5 {
				t.Fatalf("%g Hz: tick %d: %+v", c.rate, i, k)
			}
			known := k.LatentStamp != 0
			if known != (k.Confidence > 0) && known || (k.Latent[0] != 0) != known || len(k.Latent) != 4 {
				t.Fatalf("%g Hz: tick %d: latent %v of %d with confidence %g", c.rate, i, k.Latent, k.LatentStamp,
					k.Confidence)
			}
		}
		// The window outlives the swap: only the first tick of the new bundle is without its own latent.
		window := int(21 * .02 * c.rate)
		for i := window + 1; i < len(f.ticks); i++ {
			if (f.ticks[i].LatentStamp == 0) != (i == at) {
				t.Fatalf("%g Hz: tick %d of %d, swapped at %d: latent of %d", c.rate, i, len(f.ticks), at,
					f.ticks[i].LatentStamp)
			}
		}
	}
}

// The same samples give the same ticks, to the last bit.
func TestRepeats(t *testing.T) {
	f, g := newClosed(t, defaults(), "a.vnd"), newClosed(t, defaults(), "a.vnd")
	f.advance(2, nil)
	g.advance(2, nil)
	if !reflect.DeepEqual(f.ticks, g.ticks) || len(f.ticks) < 90 {
		t.Errorf("%d and %d ticks, and they differ", len(f.ticks), len(g.ticks))
	}
}

// Without samples the ticks go on by the clock, and the guard has its word: no policy flies a state older than 100 ms.
func TestNoSamples(t *testing.T) {
	f := newClosed(t, defaults(), "a.vnd")
	f.advance(3, nil)
	f.advance(0.4, func(*Sample) bool { return false })
	last := f.ticks[len(f.ticks)-1]
	if last.Stage != guard.Blind || last.Cause != guard.Stale {
		t.Errorf("after 0.4 s: %v because %v", last.Stage, last.Cause)
	}
	for _, k := range f.ticks {
		if k.Stage == guard.Policy && k.Sent != k.Command {
			t.Errorf("the policy flew, and %v was sent instead of %v", k.Sent, k.Command)
		}
	}
	f.advance(1, nil)
	if err := f.loop.Reset(); err != nil {
		t.Fatal(err)
	}
	f.advance(4, nil)
	if last = f.ticks[len(f.ticks)-1]; last.Stage != guard.Policy || f.off() > 0.1 {
		t.Errorf("after a reset: %v, %.2f m off", last.Stage, f.off())
	}
	f.loop.Guard().Land()
	f.advance(6, nil)
	if last = f.ticks[len(f.ticks)-1]; last.Stage != guard.Off || last.Cause != guard.Requested ||
		f.sim.State().P.Z > 0.1 || f.sim.Crashed() {
		t.Errorf("after landing: %v at %.2f m, %s", last.Stage, f.sim.State().P.Z, f.sim.Crash())
	}
}

// What no encoder of a known condition makes is cut: at the edge of a bundle's latent prior, or at 2.5 without one.
func TestFarLatentsAreCut(t *testing.T) {
	met := []float32{-1, 0, 3, 0, 2, -5, 7, 0, 0, 0, 0, -4.5}
	least, most := vnd.NewLatentPrior(met, 4).Bounds()
	for _, c := range []struct {
		policy *LoadedPolicy
		want   []float32
	}{
		{loadedPolicy(t, "a.vnd", 50), []float32{1, -2.4, 2.5, -2.5}},
		{withPrior(t, "a.vnd", met), []float32{1, -2.4, most[2], least[3]}},
	} {
		f := newClosed(t, defaults(), "a.vnd")
		f.loop.SetPolicy(c.policy)
		f.loop.SetLatent(&Latent{Stamp: epoch, Bundle: c.policy.ID, Mean: []float32{1, -2.4, 19, -19}})
		for i := range int64(20) {
			f.loop.AddSample(&Sample{Stamp: epoch + i*5e6, State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}})
		}
		if _, ok := f.loop.Tick(epoch); !ok || !slices.Equal(f.loop.latentUsed, c.want) {
			t.Errorf("used %v, want %v", f.loop.latentUsed, c.want)
		}
	}
}

// withPrior is a test's bundle whose latent prior is of some latents.
func withPrior(t *testing.T, name string, met []float32) *LoadedPolicy {
	t.Helper()
	b := readBundle(t, name)
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.FromBundle(b)
	if err != nil {
		t.Fatal(err)
	}
	m.LatentPrior = vnd.NewLatentPrior(met, m.Net.Latent)
	if b, err = vnd.Bundle(m, q, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := policy.Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	c, err := LoadPolicy(b, quadrotor.Name, 50)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Nothing goes out before there is a state, a policy and a task reference.
func TestNothingToFly(t *testing.T) {
	f := newClosed(t, defaults(), "a.vnd")
	f.loop.policy, f.loop.runner = nil, nil
	f.advance(0.5, nil)
	if len(f.ticks) != 0 {
		t.Error("ticks without a policy")
	}
	f.loop.SetPolicy(loadedPolicy(t, "a.vnd", 50))
	f.loop.task = nil
	f.advance(0.5, nil)
	if len(f.ticks) != 0 {
		t.Error("ticks without a task reference")
	}
	l := newLoop(t, defaults())
	l.SetPolicy(loadedPolicy(t, "a.vnd", 50))
	l.SetReference(taskReference(t, "hover"))
	if _, ok := l.Tick(epoch); ok {
		t.Error("a tick without a state")
	}
	config := defaults()
	config.Source = FromOdometry
	l = newLoop(t, config)
	if l.AddSample(&Sample{Stamp: epoch, State: quad.State{Q: so3.Identity()}}) {
		t.Error("an odometry without velocity is a state")
	}
	here := Sample{Stamp: epoch, State: quad.State{Q: so3.Identity()}, HasVelocity: true}
	before, reset := here, here
	before.Stamp -= 1e6
	reset.Stamp -= 2e9
	if !l.AddSample(&here) || l.AddSample(&here) || l.AddSample(&before) || !l.AddSample(&reset) {
		t.Error("odometries out of order")
	}
}

// Which latents a tick uses.
func TestLatents(t *testing.T) {
	good := Latent{Stamp: epoch, Bundle: readBundle(t, "a.vnd").ID, Mean: []float32{.5, 1, 1.5, 2}, Novelty: .25}
	with := func(f func(*Latent)) *Latent {
		z := good
		f(&z)
		return &z
	}
	for name, c := range map[string]struct {
		z    *Latent
		now  int64
		used bool
	}{
		"good":      {&good, epoch + 9e7, true},
		"stale":     {&good, epoch + 11e7, false},
		"future":    {&good, epoch - 11e7, false},
		"no time":   {with(func(z *Latent) { z.Stamp = 0 }), 0, false},
		"of b":      {with(func(z *Latent) { z.Bundle = readBundle(t, "b.vnd").ID }), epoch, false},
		"short":     {with(func(z *Latent) { z.Mean = []float32{1, 2, 3} }), epoch, false},
		"endless":   {with(func(z *Latent) { z.Mean = make([]float32, 1000) }), epoch, false},
		"NaN":       {with(func(z *Latent) { z.Mean = []float32{1, 2, 3, float32(math.NaN())} }), epoch, false},
		"infinite":  {with(func(z *Latent) { z.Mean = []float32{1, 2, 3, float32(math.Inf(1))} }), epoch, false},
		"unheard":   {nil, epoch, false},
		"absurd":    {with(func(z *Latent) { z.Mean = []float32{1, 2, 3, 1e30} }), epoch, false},
		"too novel": {with(func(z *Latent) { z.Novelty = 7 }), epoch, true},
	} {
		f := newClosed(t, defaults(), "a.vnd")
		if c.z != nil {
			f.loop.SetLatent(c.z)
		}
		for i := range int64(20) {
			f.loop.AddSample(&Sample{Stamp: c.now + i*5e6, State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}})
		}
		if _, ok := f.loop.Tick(c.now); !ok {
			t.Fatal(name)
		}
		k := NewTickRecord()
		f.loop.FinishTick(&k)
		want := TickRecord{Latent: []float32{0, 0, 0, 0}}
		if c.used {
			want.Latent, want.LatentStamp, want.Confidence = c.z.Mean, c.z.Stamp, max(1-c.z.Novelty, 0)
		}
		if !slices.Equal(k.Latent, want.Latent) || k.LatentStamp != want.LatentStamp ||
			k.Confidence != want.Confidence {
			t.Errorf("%s: %v of %d, confidence %g", name, k.Latent, k.LatentStamp, k.Confidence)
		}
	}
}

func TestPrepare(t *testing.T) {
	change := func(f func(*bundle.Bundle)) *bundle.Bundle {
		b := readBundle(t, "a.vnd")
		f(b)
		return b
	}
	for want, b := range map[string]*bundle.Bundle{
		`is of robot "arm", expected "quadrotor"`: change(func(b *bundle.Bundle) { b.Robot = "arm" }),
		"has no policy": change(func(b *bundle.Bundle) { b.Config = nil }),
		"rate is 50 Hz, expected a multiple of the 33.3": change(func(b *bundle.Bundle) { b.Dt = 0.03 }),
		"no tensor": change(func(b *bundle.Bundle) { b.Tensors = b.Tensors[1:] }),
	} {
		if _, err := LoadPolicy(b, quadrotor.Name, 50); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	c := loadedPolicy(t, "a.vnd", 200)
	if !c.TrainedFor("hover") || !c.TrainedFor("track") || c.TrainedFor("land") ||
		c.PreviewPoints() != 5 || c.Latent() != 4 {
		t.Errorf("%+v", c)
	}
}

func TestTaskReferences(t *testing.T) {
	for _, task := range []string{"hover", "track", "land", "features"} {
		lo, hi := new(Config).fenceOf()
		if err := reference.Check(taskReference(t, task).Path, lo, hi); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewTaskReference("juggle", nil); err == nil ||
		!strings.Contains(err.Error(), `task "juggle" has no reference of its own`) {
		t.Error(err)
	}
	if _, err := NewTaskReference("features", taskReference(t, "track").Path); err == nil ||
		!strings.Contains(err.Error(), "expected a reference of kind hover") {
		t.Error(err)
	}
}

func (*Config) fenceOf() (lo, hi so3.Vec3) {
	c := defaults()
	return c.Fence()
}

func TestConfig(t *testing.T) {
	c := defaults()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	for _, spoil := range []func(*Config){
		func(c *Config) { c.Estimate.Order = 9 }, func(c *Config) { c.Guard.FenceMin = nil },
		func(c *Config) { c.Limits.MaxThrust = 1 },
	} {
		c := defaults()
		spoil(&c)
		if err := c.Check(); err == nil {
			t.Errorf("%+v passes", c)
		}
	}
}

// sense lets 20 ms pass and takes its samples in; it returns the time.
func (f *closed) sense() int64 {
	f.sim.Step(f.command, 0.02)
	for _, s := range f.sim.Mocap() {
		f.loop.AddSample(&Sample{Stamp: epoch + int64(s.Stamp*1e9), State: quad.State{P: s.P, Q: s.Q}})
	}
	return epoch + int64(f.sim.Time()*1e9)
}

// A tick allocates nothing: sample, latent, command, record.
func TestAllocatesNothing(t *testing.T) {
	c := defaults()
	for _, c.Filter = range []bool{false, true} {
		f := newClosed(t, c, "a.vnd")
		f.advance(1, nil)
		f.allocatesNothing(t)
	}
}

func (f *closed) allocatesNothing(t *testing.T) {
	ring := NewRing(64, NewTickRecord)
	z := Latent{Bundle: f.loop.Policy().ID, Mean: []float32{1, 2, 3, 4}}
	if n := testing.AllocsPerRun(1000, func() {
		now := f.sense()
		f.pace.DueAtSample(now, now)
		z.Stamp = now
		f.loop.SetLatent(&z)
		c, ok := f.loop.Tick(now)
		if !ok {
			t.Fatal("no tick")
		}
		f.command = c
		f.loop.FinishTick(ring.Slot())
		ring.Push()
		ring.Pop()
	}); n != 0 {
		t.Errorf("%v allocations per tick", n)
	}
	if f.loop.latentUsed == nil || f.loop.Guard().Stage() != guard.Policy {
		t.Errorf("that was no flight: %v because %v", f.loop.Guard().Stage(), f.loop.Guard().Tripped())
	}
}

// A tick with a swap to another bundle allocates nothing either, and the latent of the new one is used from its next.
func TestSwapAllocatesNothing(t *testing.T) {
	f := newClosed(t, defaults(), "a.vnd")
	f.advance(1, nil)
	policies := []*LoadedPolicy{loadedPolicy(t, "a.vnd", 50), loadedPolicy(t, "b.vnd", 50)}
	k := 0
	if n := testing.AllocsPerRun(200, func() {
		k++
		f.loop.SetPolicy(policies[k%2])
		c, ok := f.loop.Tick(f.sense())
		if !ok || f.loop.Policy() != policies[k%2] {
			t.Fatal("no tick")
		}
		f.command = c
		f.loop.FinishTick(&f.tick)
	}); n != 0 {
		t.Errorf("%v allocations per swap", n)
	}
	if f.tick.Bundle != policies[k%2].ID || f.loop.Guard().Stage() != guard.Policy {
		t.Errorf("%s flies, %v", f.tick.Bundle, f.loop.Guard().Stage())
	}
}

// BenchmarkTick is four samples of a flight at 200 Hz, its latent, the command and its record.
func BenchmarkTick(b *testing.B) {
	type arrival struct {
		Sample
		at int64
	}
	flown := newClosed(b, defaults(), "a.vnd")
	var samples []arrival
	flown.advance(10, func(m *Sample) bool {
		samples = append(samples, arrival{*m, epoch + int64(flown.sim.Time()*1e9)})
		return true
	})
	var f *closed
	k := len(samples)
	b.ReportAllocs()
	for b.Loop() {
		if k+4 > len(samples) {
			b.StopTimer()
			f, k = newClosed(b, defaults(), "a.vnd"), 0
			b.StartTimer()
		}
		for _, s := range samples[k : k+4] {
			f.loop.AddSample(&s.Sample)
		}
		f.loop.Tick(samples[k+3].at)
		f.loop.FinishTick(&f.tick)
		if t := &flown.ticks[min(k/4+1, len(flown.ticks)-1)]; len(t.Latent) > 0 {
			f.loop.SetLatent(&Latent{Stamp: f.tick.Stamp, Bundle: t.Bundle, Mean: t.Latent})
		}
		k += 4
	}
	if s := f.loop.Guard().Stage(); s != guard.Policy {
		b.Errorf("%v flies, because %v", s, f.tick.Cause)
	}
}

// From any moment of a figure-eight on, another task is flown without the guard: the reference goes over to it without
// a jump, within the box of both, and then is its own.
func TestTasksInFlight(t *testing.T) {
	point := func(x, y, z float64) *TaskReference {
		path, err := reference.New(&reference.Hover{Point: []float64{x, y, z}, Yaw: .5})
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewTaskReference("hover", path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const eight = 4.93 // s, its period
	f := newClosed(t, defaults(), "b.vnd")
	f.advance(3, nil)
	for k := range 12 {
		f.loop.SetReference(taskReference(t, "track"))
		f.advance(6+eight*float64(k)/12, nil)
		from, far := len(f.ticks), point(-.5+float64(k%2), .3, 1.2)
		f.loop.SetReference(far)
		f.advance(8, nil)
		for i, tick := range f.ticks[from:] {
			was := f.ticks[from+i-1]
			p, q := was.Reference[0].P, tick.Reference[0].P
			v, w := was.Reference[0].V, tick.Reference[0].V
			if !tick.Stage.PolicyFlies() || q.Sub(p).Norm() > .02*4 || w.Sub(v).Norm() > .02*9 ||
				math.Abs(q.X) > 1.51 || q.Z > 1.21 || q.Z < .99 {
				t.Fatalf("phase %d, %.2f s: %v because %v; the reference goes from %v, %v to %v, %v", k, .02*float64(i),
					tick.Stage, tick.Cause, p, v, q, w)
			}
		}
		last := f.ticks[len(f.ticks)-1].Reference[0]
		if far.blend.from != nil || last.P != far.Path.At(0).P || last.Yaw != .5 || last.V != (so3.Vec3{}) ||
			f.sim.State().P.Sub(last.P).Norm() > .3 {
			t.Fatalf("phase %d: the reference ends at %+v, expected %+v; the robot is %.2f m off", k, last,
				far.Path.At(0), f.sim.State().P.Sub(last.P).Norm())
		}
	}
}
