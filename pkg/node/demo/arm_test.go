package demo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	"vnd/pkg/node"
	"vnd/pkg/ros2/bag"
)

// quickArm are parameters with which an arm learns in seconds.
const quickArm = `
/**/background_learner:
  ros__parameters:
    robot: "arm"
    reference_json: '{"kind": "circle", "speed": 0.25}'
    nice: 0
    stretch: 8.0
    new_rows: 1000
    base: {hidden: 32, epochs: 200, envs: 32, horizon: 40, rate: 0.005}
    policy: {epochs: 80, envs: 32, horizon: 40, rate: 0.0015}
    fit: {model: {encoder_dense: 16, encoder_hidden: 16, hidden: 32}, train: {updates: 120}}
    gate: {tolerance: 0.01, shadow: {flights: 4, seconds: 3.0}, canary: {flights: 4}}
/**/arm_controller:
  ros__parameters:
    reference_json: '{"kind": "circle", "speed": 0.25}'
/**/arm_sim:
  ros__parameters:
    speed: 4.0
/**/transition_recorder:
  ros__parameters:
    bag: {least_free: 0}
`

// TestArmLearns: simulator, controller and learner of an arm, processes over the wire, until a second bundle moves the
// arm. The guard never has to. Bundles, a bag of all topics and a report stay.
func TestArmLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("three processes, for seconds")
	}
	o, dir := setup(t)
	build(t, o, armSimulator, armController, learner, recorder)
	params := filepath.Join(dir, "arm.yaml")
	if err := os.WriteFile(params, []byte(quickArm), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Params, o.World, o.Task, o.Seconds, o.atLeast = []string{params}, "", "", 30, 2
	f, err := RunArm(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(f.Bundles, "*.safetensors"))
	if err != nil || len(all) < 2 || f.Moved < 2 || len(f.Trips) > 0 {
		t.Errorf("%d bundles, %+v, %v", len(all), f, err)
	}
	info, err := bag.Info(f.Bag)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{node.JointStates, node.JointEfforts, node.ArmStep, "latent", "bundle"} {
		there := func(b bag.Topic) bool { return b.Name == armSpace+"/"+name && b.Count > 0 }
		if !slices.ContainsFunc(info.Topics, there) {
			t.Errorf("the bag has no topic %s: %+v", name, info.Topics)
		}
	}
	page, err := os.ReadFile(f.Report)
	pictures := strings.Count(string(page), `src="data:`)
	if err != nil || pictures != 2 || !strings.Contains(string(page), "<td>3 kg</td>") {
		t.Errorf("%d pictures, %v", pictures, err)
	}
}

// TestArmResultInWords: what was not learned is said, and a payload that did not come has no number.
func TestArmResultInWords(t *testing.T) {
	w := &armWatch{watch: watch{bundles: []string{"a", "b"}}, trips: []string{"2.0 s: the clock was set"},
		errors: map[string]map[float64][]float64{"a": {0: {1, 3}, 1: {4}}}}
	for _, want := range []string{"nothing was learned in time", "4.00 mm              -", "2 kg             -",
		"held it 1 times: 2.0 s: the clock was set"} {
		var text strings.Builder
		if err := w.result().WriteText(&text); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: %q is not in %s", err, want, text.String())
		}
	}
	w.errors["b"] = map[float64][]float64{0: {0.5}}
	var text strings.Builder
	if err := w.result().WriteText(&text); err != nil ||
		!strings.Contains(text.String(), "2.00 mm off before learning, 0.50 mm after: 4.0 times less") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// TestArmsThatAreHeld: by a guard, or as nothing is followed any more.
func TestArmsThatAreHeld(t *testing.T) {
	for _, c := range []struct {
		message, follows string
		want             bool
	}{
		{"the policy of bundle a commands", circling, false},
		{"the law holds the arm: the clock was set", circling, true},
		{"computed torque commands", "nothing: the arm is held", true},
		{"computed torque commands", circling, false},
	} {
		s := diagnosticmsgs.DiagnosticStatus{Message: c.message,
			Values: []diagnosticmsgs.KeyValue{{Key: "follows", Value: c.follows}}}
		if got := held(&s); got != c.want {
			t.Errorf("%q, follows %s: %t", c.message, c.follows, got)
		}
	}
}
