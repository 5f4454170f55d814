package quadgate

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

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/gate"
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
		if !v.Pass || len(v.Stages) != 3 || *last.Difference != (gate.Interval{}) {
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

// unaided is a bundle whose policy answers no push: nothing makes up for what its model lacks.
func unaided(t testing.TB, b *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	p, err := policy.FromBundle(b)
	if err != nil {
		t.Fatal(err)
	}
	p.Push = policy.Push{}
	alone := *b
	if err := policy.Put(&alone, p, b.Task); err != nil {
		t.Fatal(err)
	}
	return &alone
}

// TestCanaryFindsTheFlatteredPolicy: in a model without wind, a policy that does not know it is as good as any.
func TestCanaryFindsTheFlatteredPolicy(t *testing.T) {
	s := taught()
	g := s.gate()
	g.Config.Tolerance = 0.02
	calm := func(b *bundle.Bundle) *bundle.Bundle {
		return each(unaided(t, b), "normaliser.output", func(int, float32) float32 { return 0 })
	}
	v := try(t, g, calm(s.base), calm(s.improved), s.bank)
	if v.Pass || len(v.Stages) != 3 || !v.Stages[1].Pass || !strings.Contains(v.Reasons()[0], "canary: errs more") {
		t.Errorf("%+v: %q", v, v.Reasons())
	}
}

// TestCollapsedLatent: a candidate that sees no wind in what was flown is examined in those winds all the same.
func TestCollapsedLatent(t *testing.T) {
	s := taught()
	g := s.gate()
	g.Config.Tolerance = 0.02
	improved := unaided(t, s.improved)
	for seed := range uint64(5) {
		g.Seed = seed
		v := try(t, g, bad[collapsed](improved, rand.New(rand.NewPCG(seed, 7))), improved,
			make([]float32, len(s.bank)))
		if v.Pass || len(v.Stages) != 3 || !v.Stages[1].Pass || !strings.Contains(v.Reasons()[0], "canary: errs more") {
			t.Errorf("seed %d: %+v: %q", seed, v, v.Reasons())
		}
	}
	g.DisturbanceStrength = met(s.flown[:2]) // those in calm: of winds that nobody met it is not asked
	if v := try(t, g, bad[collapsed](improved, rand.New(rand.NewPCG(1, 7))), improved,
		make([]float32, len(s.bank))); !v.Pass {
		t.Errorf("in a calm buffer: %q", v.Reasons())
	}
}

// TestMet: what was met is the strength of the winds, from the flights alone.
func TestMet(t *testing.T) {
	s := taught()
	if strength := DisturbanceStrength(s.flown, dt); !(strength > 1.8 && strength < 2.6) {
		t.Errorf("%.2f m/s² were met in winds of 2", strength)
	}
	if strength := DisturbanceStrength(s.flown[:2], dt); !(strength < 0.6) {
		t.Errorf("%.2f m/s² were met in calm", strength)
	}
	for name, flown := range map[string][][]quad.Row{"no flight": nil, "one too short": {s.flown[0][:50]}} {
		if strength := DisturbanceStrength(flown, dt); !math.IsInf(strength, 1) {
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
	if strength := DisturbanceStrength([][]quad.Row{lost, s.flown[2]}, dt); !(strength > 1.8 && strength < 2.6) {
		t.Errorf("with a row that is not finite %.2f m/s² were met", strength)
	}
}

// TestNotTheCandidatesFault: these are errors, no verdicts.
func TestNotTheCandidatesFault(t *testing.T) {
	b := blank(t)
	g := &gate.Gate{Vehicle: vehicle(nil)}
	param.Default(&g.Config)
	g.Judge = &reported{b, func(bool, uint64) *gate.Flight { return nil }, errors.New("no wind today")}
	if _, err := g.Evaluate(context.Background(), b, b, nil); err == nil ||
		!strings.Contains(err.Error(), "canary flight 1 of bundle") {
		t.Errorf("a judge that fails: %v", err)
	}
	if _, err := g.Evaluate(context.Background(), b, &bundle.Bundle{}, nil); err == nil ||
		!strings.Contains(err.Error(), "current bundle") {
		t.Errorf("a current bundle without a policy: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Evaluate(ctx, b, b, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s := taught()
	g.Judge = nil
	if _, err := g.Evaluate(context.Background(), s.improved, s.base, nil); err == nil ||
		!strings.Contains(err.Error(), "no task") {
		t.Errorf("without tasks: %v", err)
	}
	v, err := g.Evaluate(context.Background(), b, b, nil)
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
	var back gate.Verdict
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
	fly := func() []quad.Row {
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
	for _, c := range []any{new(gate.Config), new(gate.EvidenceConfig)} {
		if err := param.Check(c); err != nil {
			t.Error(err)
		}
	}
}

// TestDisturbance: latents of the world's winds lie where the winds do.
func TestDisturbance(t *testing.T) {
	s := taught()
	m, q, err := vnd.FromBundle(s.improved, quadrotor.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d := gate.NewDisturbance(m, q.Dt)
	each := len(s.bank) / 2 / len(winds)
	for i, w := range winds {
		var mean gate.Place
		for k := i * each; k < (i+1)*each; k++ {
			for j, x := range d.Place(s.bank[2*k : 2*k+2]) {
				mean[j] += x / float64(each)
			}
		}
		if math.Hypot(mean[0]-w.X, mean[1]-w.Y) > 1 || math.Hypot(mean[3], mean[4]) > 0.3 {
			t.Errorf("wind %v: place %.2f", w, mean)
		}
	}
}
