package experiment

import (
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim"
	"vnd/pkg/sim/baseline"
)

// TestOracleGetsTheWind: the policy's last inputs are the simulator's wind, with its sign, in units of the spread.
func TestOracleGetsTheWind(t *testing.T) {
	var l quad.Limits
	param.Default(&l)
	p, err := policy.New[float32](policy.Observation{PreviewPoints: 1, PastActions: 1}, l, 3, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	o, err := baseline.NewOracle(p, 2, 0.02, func(float64) quad.Reference { return quad.Reference{} })
	if err != nil {
		t.Fatal(err)
	}
	informedOracle{o}.Inform(sim.Truth{}, so3.Vec3{X: 3, Y: -1, Z: 0.5})
	o.Command(0, &quad.State{Q: so3.Identity()})
	seen := o.Inputs()
	if got, want := [3]float32(seen[len(seen)-3:]), [3]float32{1.5, -0.5, 0.25}; got != want {
		t.Errorf("the oracle sees a wind of %v, want %v", got, want)
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
