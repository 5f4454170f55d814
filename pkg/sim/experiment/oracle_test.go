package experiment

import (
	"math"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim"
	"vnd/pkg/sim/baseline"
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

// TestOracleGetsTheWind: the policy's last inputs are the simulator's wind, with its sign, in units of the spread.
func TestOracleGetsTheWind(t *testing.T) {
	o, err := baseline.NewOracle(informable(t), 2, 0.02, still)
	if err != nil {
		t.Fatal(err)
	}
	informedOracle{o}.Inform(sim.Truth{}, so3.Vec3{X: 3, Y: -1, Z: 0.5})
	o.Command(0, &quad.State{Q: so3.Identity()})
	if got, want := windInput(o.Inputs()), [3]float32{1.5, -0.5, 0.25}; got != want {
		t.Errorf("the oracle sees a wind of %v, want %v", got, want)
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
