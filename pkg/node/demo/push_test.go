package demo

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/node"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/sim/pushing"
)

// quickPusher are parameters with which two bundles take seconds, however well they push.
const quickPusher = `
/**/background_learner:
  ros__parameters:
    robot: "pusher"
    nice: 0
    judge: {use: false}
    new_rows: 1000
    base: {worlds: 32, iterations: 40, hidden: 16, layers: 2}
    policy: {worlds: 32, iterations: 3, warmup: 0}
    fit: {model: {encoder_dense: 16, encoder_hidden: 16, hidden: 32}, train: {updates: 150}}
    gate: {tolerance: 10.0, first_error: 100.0, shadow: {flights: 4, seconds: 2.0}}
/**/push_controller:
  ros__parameters:
    guard: {patience: 3.0}
/**/push_sim:
  ros__parameters:
    speed: 20.0
/**/transition_recorder:
  ros__parameters:
    bag: {least_free: 0}
`

// TestPushLearns: simulator, controller and learner of a pushed box, processes over the wire, until a second bundle
// pushes. Bundles, a bag with each tick and a report stay.
func TestPushLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("three processes, for seconds")
	}
	if _, err := pushing.NewJudging(); err != nil {
		t.Skip(err)
	}
	o, dir := setup(t)
	build(t, o, pushSimulator, pushController, learner, recorder)
	params := filepath.Join(dir, "push.yaml")
	if err := os.WriteFile(params, []byte(quickPusher), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Params, o.World, o.Task, o.Seconds, o.atLeast = []string{params}, "", "", 1, 2
	f, err := RunPush(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(f.Bundles, "*.safetensors"))
	if _, _, before, after := f.shares(); err != nil || len(all) < 2 || f.Moved < 2 || before == 0 || after == 0 {
		t.Errorf("%d bundles, %+v, %v", len(all), f, err)
	}
	info, err := bag.Info(f.Bag)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(info.Topics, func(b bag.Topic) bool {
		return b.Name == pushSpace+"/"+node.PushStep && b.Count >= 1000
	}) {
		t.Errorf("the bag lacks ticks: %+v", info.Topics)
	}
	page, err := os.ReadFile(f.Report)
	if n := strings.Count(string(page), `src="data:`); err != nil || n != 1 {
		t.Errorf("%d pictures, %v", n, err)
	}
}

// TestGoalsAreWithinReach: wherever the box was pushed.
func TestGoalsAreWithinReach(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, at := range [][3]float64{{}, {0.2, -0.2, 3}, {0.7, 0.1, -1}, {-3, 2, 0}} {
		for range 100 {
			g := goalFrom(at, rng)
			if far := math.Hypot(g[0]-at[0], g[1]-at[1]); far < 0.1 || far > 0.3+1e-9 || math.Abs(g[2]-at[2]) > 0.3 {
				t.Fatalf("%v from %v", g, at)
			}
		}
	}
}

// TestPushResultInWords: pushes are counted by box and bundle, and what was not learned is said.
func TestPushResultInWords(t *testing.T) {
	w := &pushWatch{ended: 3, all: []pushed{{"a", 0, true, 3}, {"a", 0, true, 5}, {"a", 1, false, 20}}}
	for _, want := range []string{"nothing was learned in time", "2 of 2, 4.0 s              -", "0 of 1",
		"3 pushes, 1 bundles pushed"} {
		var text strings.Builder
		if err := w.result().WriteText(&text); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: %q is not in %s", err, want, text.String())
		}
	}
	w.all = append(w.all, pushed{"b", 1, true, 4})
	var text strings.Builder
	if err := w.result().WriteText(&text); err != nil ||
		!strings.Contains(text.String(), "67 % of 3 pushes ended at their goals before learning, 100 % of 1 after") {
		t.Errorf("%v: %s", err, text.String())
	}
}
