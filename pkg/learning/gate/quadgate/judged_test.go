package quadgate

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// blank is a bundle without a model, whose policy commands hover.
func blank(t testing.TB) *bundle.Bundle {
	t.Helper()
	p, err := policy.New[float32](policy.Observation{PreviewPoints: 1, PastActions: 1}, *limits(), 0, []int{4})
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
	fly  func(candidate bool, trial uint64) *gate.Flight
	err  error
}

func (j *reported) Fly(_ context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	return j.fly(b == j.whom, t.Number), j.err
}

// flown is a flight with one error and the commands of hovering.
func flown(e float64) *gate.Flight {
	return &gate.Flight{Dt: dt, Errors: slices.Repeat([]float64{e}, 100), Actions: slices.Repeat(hovering, 100)}
}

// hovering is the command of hovering as a flight has it.
var hovering = [][]float64{units(quad.Command{Thrust: quad.Gravity})}

// units is a command as a flight has it.
func units(c quad.Command) []float64 {
	u := limits().Units(c)
	return u[:]
}

// judged is the verdict on flights that are made up.
func judged(t testing.TB, change func(*gate.Gate),
	fly func(candidate bool, trial uint64) *gate.Flight) *gate.Verdict {
	t.Helper()
	candidate, current := blank(t), blank(t)
	g := &gate.Gate{Vehicle: vehicle(nil), Judge: &reported{candidate, fly, nil}}
	param.Default(&g.Config)
	if change != nil {
		change(g)
	}
	v, err := g.Evaluate(context.Background(), candidate, current, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Stages[1].Skipped == "" {
		t.Fatalf("shadow flights without a model: %+v", v)
	}
	return v
}

func TestCommandsAndCrashes(t *testing.T) {
	shake := func(by float64) *gate.Flight {
		f := flown(0.1)
		for i := range f.Actions {
			f.Actions[i] = units(quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: by * float64(i%2)}})
		}
		return f
	}
	stuck := func(rows int) *gate.Flight {
		f := flown(0.1)
		for i := range rows {
			f.Actions[i] = units(quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{Z: -limits().MaxYawRate}})
		}
		return f
	}
	crash := func() *gate.Flight { f := flown(0.1); f.Crash = "hit the ground"; return f }
	lost := func() *gate.Flight { f := flown(0.1); f.Errors[50] = nan(); return f }
	of := func(e float64) func() *gate.Flight { return func() *gate.Flight { return flown(e) } }
	for name, c := range map[string]struct {
		candidate, current func() *gate.Flight
		want               string // "" passes
	}{
		"calm": {of(0.1), of(0.1), ""},
		"shakes": {func() *gate.Flight { return shake(4) }, of(0.1),
			"the commands shake: they change by 33.3 half ranges per second"},
		"trembles":    {func() *gate.Flight { return shake(1) }, of(0.1), ""},
		"shakes less": {func() *gate.Flight { return shake(4) }, func() *gate.Flight { return shake(5) }, ""},
		"saturates": {func() *gate.Flight { return stuck(40) }, of(0.1),
			"stands at its limit for 0.80 s, at most 0.60 s"},
		"saturates for a bit": {func() *gate.Flight { return stuck(25) }, of(0.1), ""},
		"saturates less":      {func() *gate.Flight { return stuck(40) }, func() *gate.Flight { return stuck(50) }, ""},
		"crashes": {crash, of(5),
			"crash in flight 1, where the current bundle does not crash: hit the ground"},
		"both crash":         {crash, crash, "crashes in 68 of 68 flights, as the current bundle does in 68"},
		"crashes no longer":  {of(0.1), crash, ""},
		"numbers not finite": {lost, of(0.1), "its numbers were not finite"},
		"an empty flight": {func() *gate.Flight { return &gate.Flight{Dt: dt, Crash: "no start"} },
			of(0.1), "no start"},
		"better": {of(0.05), of(0.1), ""},
		"worse": {of(0.11), of(0.1),
			"errs more: 0.1100 m, the current bundle 0.1000 m"},
		"within the tolerance": {of(0.1008), of(0.1), ""},
	} {
		v := judged(t, nil, func(candidate bool, trial uint64) *gate.Flight {
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

// TestShareOfTheErrorIsAllowed: where relative_tolerance is larger, it counts.
func TestShareOfTheErrorIsAllowed(t *testing.T) {
	for share, passes := range map[float64]bool{0: false, 0.03: true} {
		v := judged(t, func(g *gate.Gate) { g.Config.Relative = share }, func(candidate bool, _ uint64) *gate.Flight {
			if candidate {
				return flown(1.02)
			}
			return flown(1)
		})
		if v.Pass != passes {
			t.Errorf("with a share of %g: %v, %q", share, v.Pass, v.Reasons())
		}
	}
}

// TestErrorsDecide: laws that hold for any errors.
func TestErrorsDecide(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := rapid.SliceOfN(rapid.Float64Range(0, 1), 20, 20).Draw(rt, "errors")
		by := rapid.SliceOfN(rapid.Float64Range(0, 0.2), 20, 20).Draw(rt, "differences")
		workers := rapid.IntRange(1, 7).Draw(rt, "workers")
		verdict := func(sign, offset float64, workers int) *gate.Verdict {
			return judged(t, func(g *gate.Gate) { g.Config.Workers, g.Config.Canary.Flights = workers, len(now) },
				func(candidate bool, trial uint64) *gate.Flight {
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
	v := judged(t, func(g *gate.Gate) { g.Config.Canary.Flights = 8 }, func(candidate bool, trial uint64) *gate.Flight {
		if candidate {
			return flown(0.1 + 0.1*float64(trial%2))
		}
		return flown(0.1 + 0.1*float64((trial+1)%2))
	})
	if reasons := v.Reasons(); v.Pass || !strings.Contains(reasons[0], "is not shown to err as little") {
		t.Errorf("%q", reasons)
	}
}

// TestMissesAreCounted: a candidate that does not end its task as the current bundle does is refused.
func TestMissesAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		candidate, current int  // flights that miss, of 34
		crashes            bool // instead of misses, of the current bundle
		want               string
	}{
		"misses more":             {3, 2, false, "its task in 3 of 68 flights, at most 2 are allowed: stands"},
		"misses as often":         {2, 2, false, ""},
		"misses no longer":        {0, 34, false, ""},
		"ends nothing by a crash": {3, 3, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var flights [2]int
			one := func(g *gate.Gate) { g.Config.Workers = 1 }
			v := judged(t, one, func(candidate bool, _ uint64) *gate.Flight {
				f, who, misses := flown(0.1), 1, c.current
				if candidate {
					who, misses = 0, c.candidate
				}
				if flights[who]++; flights[who] <= misses {
					f.Missed = "stands 0.2 m off"
				}
				if !candidate && c.crashes && f.Missed != "" {
					f.Crash, f.Missed = "it is on the ground", ""
				}
				return f
			})
			reasons := strings.Join(v.Reasons(), "; ")
			if v.Pass != (c.want == "") || !strings.Contains(reasons, c.want) {
				t.Errorf("pass %v: %q, want %q", v.Pass, reasons, c.want)
			}
		})
	}
}
