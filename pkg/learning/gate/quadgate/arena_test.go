package quadgate_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// TestBadCandidatesInTheArena has canary flights in the full simulator alone find bad candidates: as many as
// VND_CANDIDATES says, none without. A thousand take some minutes.
func TestBadCandidatesInTheArena(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("VND_CANDIDATES"))
	if n == 0 {
		t.Skip("VND_CANDIDATES is not set")
	}
	good, g := flying(t)
	v, err := g.Evaluate(context.Background(), good, good, nil)
	if err != nil || !v.Pass {
		t.Fatalf("the good one: %+v, %v", v, err)
	}
	t.Logf("the good one: %+v", *v.Stages[2].Candidate)
	kinds := slices.Sorted(maps.Keys(quadgate.Bad))
	// the good one has no model
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == quadgate.Collapsed })
	refused := map[string]int{}
	for i := range n {
		kind := kinds[i%len(kinds)]
		bad := quadgate.Bad[kind](good, rand.New(rand.NewPCG(uint64(i), 5)))
		v, err := g.Evaluate(context.Background(), bad, good, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Pass {
			t.Errorf("candidate %d, %s: passes: %+v", i, kind, v.Stages[2])
		}
		refused[fmt.Sprintf("%s by %s", kind, v.Stages[len(v.Stages)-1].Name)]++
	}
	t.Log(refused)
}

// flying is a policy that flies, and a gate for its successors.
func flying(t *testing.T) (*bundle.Bundle, *gate.Gate) {
	t.Helper()
	var spread task.Spread
	param.Default(&spread)
	g, v := &gate.Gate{}, quadgate.Vehicle{Robot: quadrotor.Name}
	param.Default(&g.Config)
	param.Default(&v.Limits)
	judge := &closedloop.Judge{World: sim.Default(), Limits: v.Limits}
	param.Default(&judge.JudgeConfig)
	g.Judge = judge
	var tasks []*task.Task
	for _, spec := range []reference.Spec{new(reference.Hover), new(reference.FigureEight)} {
		param.Default(spec)
		name := task.Hover
		if len(tasks) > 0 {
			name = task.Track
		}
		cost, err := task.CostOf(task.StiffCost, name)
		if err != nil {
			t.Fatal(err)
		}
		k, err := task.New(name, cost, spread, nil)
		if err != nil {
			t.Fatal(err)
		}
		path, err := reference.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		tasks, judge.Paths = append(tasks, k), append(judge.Paths, path)
	}
	g.Vehicle = v.Flying(tasks)
	return trained(t, tasks, v.Limits), g
}

func trained(t *testing.T, tasks []*task.Task, l quad.Limits) *bundle.Bundle {
	t.Helper()
	var c quadtrain.Config
	param.Default(&c)
	c.Latent = 0
	var n quadtrain.Nominal
	param.Default(&n)
	w := quadtrain.NominalWorld[float32](n)
	trials := quadtrain.NewTrials(w, tasks, n.Dt, 1)
	trials.Flights = 8
	r, err := quadtrain.Run(context.Background(), c, w, n.Dt,
		quadtrain.Options{Seed: 1, Tasks: tasks, Limits: l, Fly: trials.Fly})
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: n.Dt}
	if err := policy.Put(b, r.Policy, "hover,track"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}
