package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// TestImprovement: a policy that learned the winds takes the place of one that did not, whatever the gate's seed; not
// the other way round. One that is itself passes.
func TestImprovement(t *testing.T) {
	s := taught()
	g := s.gate()
	passed := 0
	const times = 20
	for g.Seed = range times {
		v := try(t, g, s.improved, s.base, s.bank)
		if v.Pass {
			passed++
		} else {
			t.Logf("seed %d: %q", g.Seed, v.Reasons())
		}
	}
	if passed < 19 {
		t.Errorf("a true improvement passed %d of %d times", passed, times)
	}
	v := try(t, g, s.base, s.improved, s.bank)
	if v.Pass || !strings.Contains(strings.Join(v.Reasons(), " "), "shadow: errs more") {
		t.Errorf("the worse one: %+v", v)
	}
	for _, b := range []*bundle.Bundle{s.base, s.improved} {
		v := try(t, g, b, b, s.bank)
		last := v.Stages[len(v.Stages)-1]
		if !v.Pass || len(v.Stages) != 3 || *last.Difference != (Interval{}) {
			t.Errorf("the same bundle again: %+v", v)
		}
	}
	if v := try(t, g, s.improved, nil, s.bank); !v.Pass || v.Stages[2].Current != nil {
		t.Errorf("as a first bundle: %+v", v)
	}
	g.Config.FirstError = 0.01
	if v := try(t, g, s.improved, nil, s.bank); v.Pass ||
		!strings.Contains(v.Reasons()[0], "a first bundle by at most 0.010 m") {
		t.Errorf("a first bundle that errs: %+v", v)
	}
}

// TestCanaryFindsTheFlatteredPolicy: in a model without wind, a policy that does not know it is as good as any.
func TestCanaryFindsTheFlatteredPolicy(t *testing.T) {
	s := taught()
	g := s.gate()
	g.Config.Tolerance = 0.02
	calm := each(s.base, "normaliser.output", func(int, float32) float32 { return 0 })
	v := try(t, g, calm, each(s.improved, "normaliser.output", func(int, float32) float32 { return 0 }), s.bank)
	if v.Pass || len(v.Stages) != 3 || !v.Stages[1].Pass || !strings.Contains(v.Reasons()[0], "canary: errs more") {
		t.Errorf("%+v: %q", v, v.Reasons())
	}
}

// TestCollapsedLatent: a candidate that sees no wind in what was flown is examined in those winds all the same.
func TestCollapsedLatent(t *testing.T) {
	s := taught()
	g := s.gate()
	g.Config.Tolerance = 0.02
	for seed := range uint64(5) {
		g.Seed = seed
		v := try(t, g, bad[collapsed](s.improved, rand.New(rand.NewPCG(seed, 7))), s.improved,
			make([]float32, len(s.bank)))
		if v.Pass || len(v.Stages) != 3 || !v.Stages[1].Pass || !strings.Contains(v.Reasons()[0], "canary: errs more") {
			t.Errorf("seed %d: %+v: %q", seed, v, v.Reasons())
		}
	}
	g.Flown = s.flown[:2] // those in calm: of winds that nobody met it is not asked
	if v := try(t, g, bad[collapsed](s.improved, rand.New(rand.NewPCG(1, 7))), s.improved,
		make([]float32, len(s.bank))); !v.Pass {
		t.Errorf("in a calm buffer: %q", v.Reasons())
	}
}

// TestMet: what was met is the strength of the winds, from the flights alone.
func TestMet(t *testing.T) {
	s := taught()
	if strength := met(s.flown, dt); !(strength > 1.8 && strength < 2.6) {
		t.Errorf("%.2f m/s² were met in winds of 2", strength)
	}
	if strength := met(s.flown[:2], dt); !(strength < 0.6) {
		t.Errorf("%.2f m/s² were met in calm", strength)
	}
	for name, flown := range map[string][][]quad.Step{"no flight": nil, "one too short": {s.flown[0][:50]}} {
		if strength := met(flown, dt); !math.IsInf(strength, 1) {
			t.Errorf("%s: %.2f m/s² were met", name, strength)
		}
	}
	if k := drag([]so3.Vec3{{X: -1}, {Y: 0.5}, {X: 3}}, []so3.Vec3{{X: 4}, {Y: -2}, {}}); math.Abs(k-0.25) > 1e-12 {
		t.Errorf("drag %g 1/s, want 0.25", k)
	}
	if k := drag([]so3.Vec3{{X: 1}}, []so3.Vec3{{X: 4}}); k != 0 {
		t.Errorf("what pushes ahead has a drag of %g 1/s", k)
	}
	lost := slices.Clone(s.flown[2][:51])
	lost[7].State.V.X = math.NaN()
	if strength := met([][]quad.Step{lost, s.flown[2]}, dt); !(strength > 1.8 && strength < 2.6) {
		t.Errorf("with a row that is not finite %.2f m/s² were met", strength)
	}
}

// blank is a bundle without a model, whose policy commands hover.
func blank(t testing.TB) *bundle.Bundle {
	t.Helper()
	p, err := policy.New[float32](policy.Observation{Looks: 1, Past: 1}, *limits(), 0, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: dt}
	if err := policy.Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}

// reported is a Judge that is told what flights to report. The candidate is the bundle of whom.
type reported struct {
	whom *bundle.Bundle
	fly  func(candidate bool, trial uint64) *Flight
	err  error
}

func (j *reported) Fly(_ context.Context, b *bundle.Bundle, t Trial) (*Flight, error) {
	return j.fly(b == j.whom, t.Number), j.err
}

// flown is a flight with one error and the commands of hovering.
func flown(e float64) *Flight {
	f := &Flight{Dt: dt}
	for range 100 {
		f.Errors, f.Commands = append(f.Errors, e), append(f.Commands, quad.Command{Thrust: quad.Gravity})
	}
	return f
}

// judged is the verdict on flights that are made up.
func judged(t testing.TB, change func(*Gate), fly func(candidate bool, trial uint64) *Flight) *Verdict {
	t.Helper()
	candidate, current := blank(t), blank(t)
	g := &Gate{Vehicle: Vehicle{quadrotor.Name, *limits()}, Tasks: taskOnly(), Judge: &reported{candidate, fly, nil}}
	param.Default(&g.Config)
	if change != nil {
		change(g)
	}
	v, err := g.Try(context.Background(), candidate, current, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Stages[1].Skipped == "" {
		t.Fatalf("shadow flights without a model: %+v", v)
	}
	return v
}

func TestCommandsAndCrashes(t *testing.T) {
	shake := func(by float64) *Flight {
		f := flown(0.1)
		for i := range f.Commands {
			f.Commands[i].Rates.X = by * float64(i%2)
		}
		return f
	}
	stuck := func(rows int) *Flight {
		f := flown(0.1)
		for i := range rows {
			f.Commands[i].Rates.Z = -limits().MaxYawRate
		}
		return f
	}
	crash := func() *Flight { f := flown(0.1); f.Crash = "hit the ground"; return f }
	lost := func() *Flight { f := flown(0.1); f.Errors[50] = nan(); return f }
	for name, c := range map[string]struct {
		candidate, current func() *Flight
		want               string // "" passes
	}{
		"calm": {func() *Flight { return flown(0.1) }, func() *Flight { return flown(0.1) }, ""},
		"shakes": {func() *Flight { return shake(4) }, func() *Flight { return flown(0.1) },
			"the commands shake: they change by 33.3 half ranges per second"},
		"trembles":    {func() *Flight { return shake(1) }, func() *Flight { return flown(0.1) }, ""},
		"shakes less": {func() *Flight { return shake(4) }, func() *Flight { return shake(5) }, ""},
		"saturates": {func() *Flight { return stuck(40) }, func() *Flight { return flown(0.1) },
			"stands at its limit for 0.80 s, at most 0.60 s"},
		"saturates for a bit": {func() *Flight { return stuck(25) }, func() *Flight { return flown(0.1) }, ""},
		"saturates less":      {func() *Flight { return stuck(40) }, func() *Flight { return stuck(50) }, ""},
		"crashes": {crash, func() *Flight { return flown(5) },
			"crash in flight 1, where the current bundle does not crash: hit the ground"},
		"both crash":         {crash, crash, ""},
		"crashes no longer":  {func() *Flight { return flown(0.1) }, crash, ""},
		"numbers not finite": {lost, func() *Flight { return flown(0.1) }, "its numbers were not finite"},
		"an empty flight": {func() *Flight { return &Flight{Dt: dt, Crash: "no start"} },
			func() *Flight { return flown(0.1) }, "no start"},
		"better": {func() *Flight { return flown(0.05) }, func() *Flight { return flown(0.1) }, ""},
		"worse": {func() *Flight { return flown(0.11) }, func() *Flight { return flown(0.1) },
			"errs more: 0.1100 m, the current bundle 0.1000 m"},
		"within the tolerance": {func() *Flight { return flown(0.1025) }, func() *Flight { return flown(0.1) }, ""},
		"within a share":       {func() *Flight { return flown(1.02) }, func() *Flight { return flown(1) }, ""},
	} {
		v := judged(t, nil, func(candidate bool, trial uint64) *Flight {
			if candidate {
				return c.candidate()
			}
			return c.current()
		})
		reasons := strings.Join(v.Reasons(), "; ")
		if v.Pass != (c.want == "") || !strings.Contains(reasons, c.want) {
			t.Errorf("%s: pass %v, %q, want %q", name, v.Pass, reasons, c.want)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestErrorsDecide: laws that hold for any errors.
func TestErrorsDecide(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := rapid.SliceOfN(rapid.Float64Range(0, 1), 20, 20).Draw(rt, "errors")
		by := rapid.SliceOfN(rapid.Float64Range(0, 0.2), 20, 20).Draw(rt, "differences")
		workers := rapid.IntRange(1, 7).Draw(rt, "workers")
		verdict := func(sign, offset float64, workers int) *Verdict {
			return judged(t, func(g *Gate) { g.Config.Workers, g.Config.Canary.Flights = workers, len(now) },
				func(candidate bool, trial uint64) *Flight {
					if candidate {
						return flown(max(0, now[trial]+offset+sign*by[trial]))
					}
					return flown(now[trial])
				})
		}
		if v := verdict(-1, 0, workers); !v.Pass {
			rt.Fatalf("nowhere worse: %q", v.Reasons())
		}
		if v := verdict(1, 0.05, workers); v.Pass { // 3 % of at most 1 m are allowed
			rt.Fatal("everywhere worse by 5 cm at least, and passes")
		}
		if a, b := verdict(1, 0, workers), verdict(1, 0, 1); !reflect.DeepEqual(a, b) {
			rt.Fatalf("another verdict with %d threads", workers)
		}
	})
}

// TestUncertain: where flights are too few to tell, a candidate is refused.
func TestUncertain(t *testing.T) {
	v := judged(t, func(g *Gate) { g.Config.Canary.Flights = 8 }, func(candidate bool, trial uint64) *Flight {
		if candidate {
			return flown(0.1 + 0.1*float64(trial%2))
		}
		return flown(0.1 + 0.1*float64((trial+1)%2))
	})
	if reasons := v.Reasons(); v.Pass || !strings.Contains(reasons[0], "is not shown to err as little") {
		t.Errorf("%q", reasons)
	}
}

func TestStatic(t *testing.T) {
	s := taught()
	g := s.gate()
	with := func(change func(b *bundle.Bundle)) *bundle.Bundle {
		c := *s.improved
		c.ID = ""
		change(&c)
		return &c
	}
	noPolicy := must(vnd.Bundle(model(t, s.improved)))
	noModel := with(func(b *bundle.Bundle) {
		b.Config, b.Dimensions = nil, nil
		b.Tensors, b.Normalisers = nil, nil
		if err := policy.Put(b, must(policy.FromBundle(s.improved)), "hover"); err != nil {
			t.Fatal(err)
		}
	})
	var camera policy.Camera
	param.Default(&camera)
	camera.Points = task.Points()
	eyes := &bundle.Bundle{Robot: quadrotor.Name, Dt: dt}
	seeing := must(policy.New[float32](policy.Observation{Looks: 1, Past: 1, Camera: camera}, *limits(), 0, []int{4}))
	if err := policy.Put(eyes, seeing, task.Features); err != nil {
		t.Fatal(err)
	}
	without := blank(t)
	without.Dimensions = map[string]int{"latent": 5}
	for name, c := range map[string]struct {
		b    *bundle.Bundle
		bank []float32
		want string
	}{
		"no policy": {noPolicy, nil, "has no policy"},
		"no model":  {noModel, nil, "the policy sees a latent of 2, and there is no model to make it"},
		"features":  {eyes, nil, "sees features, and no flight of the gate shows it"},
		"robot": {with(func(b *bundle.Bundle) { b.Robot = "arm" }), nil,
			`the bundle is of robot "arm", the vehicle is "quadrotor"`},
		"Δt": {with(func(b *bundle.Bundle) { b.Dt = 0.01 }), nil,
			"Δt is 0.01 s, the current bundle's 0.02 s"},
		"name": {with(func(b *bundle.Bundle) { b.ID = "abc" }), nil,
			"the bundle calls itself abc and is"},
		"dimension": {with(func(b *bundle.Bundle) {
			b.Dimensions = map[string]int{"latent": 2,
				"context": 9}
		}), nil, `dimension "context" is 9, the model's is 6`},
		"bank":                    {s.improved, make([]float32, 3), "3 numbers, not of latents of 2"},
		"dimension without model": {without, nil, `dimension "latent" is 5, and there is no model`},
		"negative normaliser": {each(s.improved, "normaliser.context.scale",
			func(int, float32) float32 { return -1 }), nil, "normaliser of the context: scale 0 is -1"},
		"not finite": {each(s.improved, "policy.head.b",
			func(int, float32) float32 { return float32(nan()) }), nil, `tensor "policy.head.b": number 0 is NaN`},
		"too large": {with(func(b *bundle.Bundle) {
			b.Tensors = append(slices.Clone(b.Tensors),
				bundle.Tensor{Name: "ballast", Shape: []int{bundle.MaxSize / 4},
					Data: make([]float32, bundle.MaxSize/4)})
		}), nil, "the limit is 16777216"},
	} {
		v := try(t, g, c.b, s.improved, c.bank)
		if v.Pass || len(v.Stages) != 1 || !strings.Contains(strings.Join(v.Reasons(), "; "), c.want) {
			t.Errorf("%s: %q, want %q", name, v.Reasons(), c.want)
		}
	}
}

// model unpacks the model of a bundle, with space for what vnd.Bundle notes.
func model(t *testing.T, b *bundle.Bundle) (*vnd.Model[float32], quadrotor.Robot, any, any) {
	t.Helper()
	m, q, err := vnd.FromBundle(b, quadrotor.Kind)
	if err != nil {
		t.Fatal(err)
	}
	return m, q, nil, nil
}

// TestNotTheCandidatesFault: these are errors, no verdicts.
func TestNotTheCandidatesFault(t *testing.T) {
	b := blank(t)
	g := &Gate{Vehicle: Vehicle{quadrotor.Name, *limits()}, Tasks: taskOnly()}
	param.Default(&g.Config)
	g.Judge = &reported{b, func(bool, uint64) *Flight { return nil }, errors.New("no wind today")}
	if _, err := g.Try(context.Background(), b, b, nil); err == nil ||
		!strings.Contains(err.Error(), "canary flight 1 of bundle") {
		t.Errorf("a judge that fails: %v", err)
	}
	if _, err := g.Try(context.Background(), b, &bundle.Bundle{}, nil); err == nil ||
		!strings.Contains(err.Error(), "current bundle") {
		t.Errorf("a current bundle without a policy: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Try(ctx, b, b, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	g.Tasks = nil
	if _, err := g.Try(context.Background(), b, b, nil); err == nil {
		t.Error("without tasks")
	}
	g.Tasks, g.Judge = taskOnly(), nil
	v, err := g.Try(context.Background(), b, b, nil)
	if err != nil || !v.Pass || v.Stages[2].Skipped == "" {
		t.Errorf("without a judge: %+v, %v", v, err)
	}
}

// TestVerdictReadsBack: as JSON, and the same again with the same seed.
func TestVerdictReadsBack(t *testing.T) {
	s := taught()
	v, again := try(t, s.gate(), s.improved, s.base, s.bank), try(t, s.gate(), s.improved, s.base, s.bank)
	data := must(json.Marshal(v))
	if !bytes.Equal(data, must(json.Marshal(again))) {
		t.Error("another verdict on the same candidate")
	}
	var back Verdict
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(&back, v) {
		t.Errorf("%v: %s", err, data)
	}
	if v.Stages[1].Candidate.Error <= 0 || v.Stages[1].Flights != 8 || v.Stages[2].Difference.Mean >= 0 {
		t.Errorf("figures %s", data)
	}
}

// TestRunnerForgets: after a reset a runner flies as a new one does.
func TestRunnerForgets(t *testing.T) {
	s := taught()
	place := func(float64) quad.Reference { return quad.Reference{P: so3.Vec3{Z: 1}} }
	f := must(policy.NewClosedLoopRunner(s.improved, place))
	start := quad.State{Q: so3.Identity(), P: so3.Vec3{Z: 1.2}}
	fly := func() []quad.Step {
		rows, _ := newWorld(winds[1], 3).fly(f, start, so3.Vec3{Z: 1}, 60)
		return rows
	}
	first := fly()
	if !slices.Equal(first, fly()) {
		t.Error("another flight after a reset")
	}
	f.SetLatent(nil)
	if z := f.Encoder.Mean(); !f.Encoder.Known() || z[0]*z[0]+z[1]*z[1] == 0 {
		t.Errorf("latent %v after 60 steps", z)
	}
}

// TestParameters: the defaults are what the tags say and in their ranges.
func TestParameters(t *testing.T) {
	for _, c := range []any{new(Config), new(EvidenceConfig)} {
		if err := param.Check(c); err != nil {
			t.Error(err)
		}
	}
}
