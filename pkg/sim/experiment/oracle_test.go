package experiment

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim/baseline"
	"vnd/pkg/vnd/bundle"
)

// informable is an untrained policy that is told a wind.
func informable(t *testing.T) *policy.Policy[float32] {
	t.Helper()
	var l quad.Limits
	param.Default(&l)
	p, err := policy.New[float32](policy.Observation{PreviewPoints: 1, PastActions: 1}, l, 3, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func still(float64) quad.Reference { return quad.Reference{} }

// windInput is what the policy of a runner was told in its last command.
func windInput(inputs []float32) [3]float32 { return [3]float32(inputs[len(inputs)-3:]) }

// TestInformedPolicyGetsTheWind: its last inputs are the wind that it is told, with its sign, in units of the spread.
func TestInformedPolicyGetsTheWind(t *testing.T) {
	o, err := baseline.NewInformed(informable(t), 2, 0.02, still)
	if err != nil {
		t.Fatal(err)
	}
	o.SetWind(so3.Vec3{X: 3, Y: -1, Z: 0.5})
	o.Command(0, &quad.State{Q: so3.Identity()})
	if got, want := windInput(o.Inputs()), [3]float32{1.5, -0.5, 0.25}; got != want {
		t.Errorf("the policy sees a wind of %v, want %v", got, want)
	}
}

// TestDATTGetsTheEstimate: a push that velocities show is told in units of the spread, and forgotten with a reset.
func TestDATTGetsTheEstimate(t *testing.T) {
	const dt = 0.02
	d, err := baseline.NewDATT(informable(t), 2, 10, identified, dt, still)
	if err != nil {
		t.Fatal(err)
	}
	d.Reset()
	push, s := so3.Vec3{X: 3, Y: -1}, quad.State{Q: so3.Identity()}
	for k := range 100 {
		d.Command(float64(k)*dt, &s)
		d.Observe(quad.Row{T: float64(k) * dt, State: s, Command: quad.Command{Thrust: quad.Gravity /
			identified.Actuator.ThrustGain}})
		s.V = s.V.Add(push.Sub(s.V.Scale(identified.Drag)).Scale(dt))
	}
	got := windInput(d.Inputs())
	for j, want := range []float64{1.5, -0.5, 0} {
		if math.Abs(float64(got[j])-want) > 0.02 {
			t.Errorf("DATT is told %v, want about %g at %d", got, want, j)
		}
	}
	d.Reset()
	d.Command(0, &s)
	if got := windInput(d.Inputs()); got != [3]float32{} {
		t.Errorf("after a reset DATT is told %v", got)
	}
}

// TestRMAIsMadeOfFlights: policy and module are learned from flights in calm and in winds, and in flight the policy is
// told a wind that nobody named.
func TestRMAIsMadeOfFlights(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	c := hovering(t, 1)
	c.Train.Hidden, c.Train.Epochs, c.Train.Flights, c.Policy.Epochs = 32, 150, 0, 100
	c.Fit.Train.Updates, c.Policy.Flights = 60, 0
	base, err := c.BasePolicy(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	from, err := policy.FromBundle(base)
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := Scenarios(world(t, `conditions: {name: ["calm", "west"], wind_x: [0.0, -2.0]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := &study{Campaign: c, ctx: t.Context(), plan: &Plan{Scenarios: scenarios, Seconds: 20, Rounds: 1}}
	if err := s.identifyingFlights(); err != nil {
		t.Fatal(err)
	}
	p, err := s.asInformed(from)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.adapter(p, identified, 30, 400)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Tasks[0]
	by, err := s.rma(p, a, identified, rmaCutoff).Make(d)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := c.fly(c.setup(scenarios[1], d, 7, 6), by)
	if err != nil {
		t.Fatal(err)
	}
	got := windInput(by.(*baseline.RMA).Inputs())
	t.Logf("%+v, sees %v of %g m/s²", trace.Measure(3), got, p.spread)
	if x := float64(got[0]) * p.spread; trace.Crash != "" || math.Abs(x+2) > 0.6 {
		t.Errorf("sees %.2f m/s² along x, want -2 %s", x, trace.Crash)
	}
}

// TestUnseenFlightsAreOfAfterLearning: what was learned from is not among the flights that latents are judged by.
func TestUnseenFlightsAreOfAfterLearning(t *testing.T) {
	s := &study{flown: [][]Recorded{{{Task: "a"}, {Task: "b"}}, {{Task: "c"}}, {{Task: "d"}}}}
	learned, unseen := s.split()
	names := func(flights []Recorded) (names string) {
		for _, f := range flights {
			names += f.Task
		}
		return names
	}
	if names(learned) != "abc" || names(unseen) != "d" {
		t.Errorf("learned from %q, judged by %q, want abc and d", names(learned), names(unseen))
	}
}

// seesPushes is a bundle with a model, whose policy sees pushes.
func seesPushes(t *testing.T) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Read(filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.FromBundle(b)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.WithMeasured(1, 0); err != nil {
		t.Fatal(err)
	}
	p.Push = policy.Push{Rate: 1e4}
	if err := policy.Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOracleMeasuresByTheTruth: the pushes that its policy sees are not those of the states that it flies on.
func TestOracleMeasuresByTheTruth(t *testing.T) {
	c, b := hovering(t, 1), seesPushes(t)
	m, err := fliesByTruth(b)
	if err != nil {
		t.Fatal(err)
	}
	seen := func(m Method) [3]float32 {
		by, err := m.Make(c.Tasks[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.fly(c.setup(winds(t)[1], c.Tasks[0], 7, 1.5), by); err != nil {
			t.Fatal(err)
		}
		x := by.(interface{ Inputs() []float32 }).Inputs()
		return [3]float32(x[by.(interface {
			Policy() *policy.Policy[float32]
		}).Policy().Observation.Size()-3:])
	}
	if truth, estimate := seen(m), seen(Flies("", b)); truth == estimate {
		t.Errorf("it sees a push of %v in either case", truth)
	}
	if _, err := fliesByTruth(idle(t, c)); !errors.Is(err, errLeftOut) {
		t.Errorf("a policy that sees no push: %v", err)
	}
}

// TestOracleFliesByTheBetterPolicy: whichever is named first.
func TestOracleFliesByTheBetterPolicy(t *testing.T) {
	c := hovering(t, 1)
	path, err := References("hover")
	if err != nil {
		t.Fatal(err)
	}
	s, table := &study{Campaign: c, ctx: t.Context(), plan: &Plan{}}, &Table{References: path, Seconds: 3, Settle: 1}
	air, good, bad := Air{"winds", winds(t)[:2]}, c.Law(), Flies("idle", idle(t, c))
	for _, order := range [][2]Method{{good, bad}, {bad, good}} {
		if m, err := s.better(table, air, order[0], order[1]); err != nil || m.Name != good.Name {
			t.Errorf("of %s and %s it takes %s: %v", order[0].Name, order[1].Name, m.Name, err)
		}
	}
}
