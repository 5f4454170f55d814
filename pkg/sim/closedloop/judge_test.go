package closedloop

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// judging are the judge's defaults.
func judging() (c gate.JudgeConfig) {
	param.Default(&c)
	return c
}

// TestJudgeDrawsWhatWasMet: winds are of all strengths up to the judge's, or up to somewhat more than what the
// learner met.
func TestJudgeDrawsWhatWasMet(t *testing.T) {
	spec := new(reference.Hover)
	param.Default(spec)
	path, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{World: sim.Default(), Paths: []reference.Reference{path}, JudgeConfig: judging()}
	param.Default(&j.Limits)
	for _, c := range []struct{ met, want float64 }{{math.Inf(1), 3}, {5, 3}, {1, 1.1}, {0, 0.2}} {
		strongest := 0.
		for k := range 200 {
			s, _, err := j.setup(&bundle.Bundle{Dt: 0.02}, gate.Trial{Number: uint64(k), DisturbanceStrength: c.met})
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range s.World.Conditions.WindX {
				strongest = max(strongest, math.Hypot(x, s.World.Conditions.WindY[i]))
			}
		}
		if strongest > c.want || strongest < 0.97*c.want {
			t.Errorf("met %g m/s²: the strongest wind is %.3f m/s², want close below %g", c.met, strongest, c.want)
		}
	}
}

// A policy whose yaw diverges holds its place for a while. The judge notices where its heading ends.
func TestJudgeSeesTheHeading(t *testing.T) {
	spec := new(reference.Hover)
	param.Default(spec)
	path, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{World: sim.Default(), Paths: []reference.Reference{path}, JudgeConfig: judging()}
	param.Default(&j.Limits)
	for name, share := range map[string]float32{"as it was": 1, "yaw reversed": -0.9} {
		b, err := bundle.Read(filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.FromBundle(b)
		if err != nil {
			t.Fatal(err)
		}
		tensors := p.Net.Tensors()
		for _, x := range tensors[len(tensors)-2:] { // of the head: weights, then biases
			for i := range x.Size() {
				if i%4 == 3 {
					p.Net.Params[x.Offset+i] *= share
				}
			}
		}
		if err := policy.Put(b, p, b.Task); err != nil {
			t.Fatal(err)
		}
		f, err := j.Fly(t.Context(), b, gate.Trial{})
		if err != nil {
			t.Fatal(err)
		}
		if off := strings.Contains(f.Missed, "heading"); f.Crash != "" || off != (share < 0) {
			t.Errorf("%s: %q, crash %q", name, f.Missed, f.Crash)
		}
	}
}

// TestJudgeFliesAsTheLabDoes: the judge's robot is seen by poses as poor as the lab's, through the filter, and its
// controller believes what the lab's does. Without the filter the records show late poses as a late robot.
func TestJudgeFliesAsTheLabDoes(t *testing.T) {
	path, err := reference.OfTask("hover")
	if err != nil {
		t.Fatal(err)
	}
	var lab guard.Config
	param.Default(&lab)
	lab.Response.RateDelay += 0.05
	c := judging()
	c.Poses = gate.Poses{Rate: 50, Latency: 0.06, Position: 0.003, Attitude: 0.02}
	for _, filtered := range []bool{true, false} {
		c.Filter = filtered
		j := NewJudge(c, []reference.Reference{path}, quad.Limits{}, nil, &lab).(*Judge)
		robot := quadgate.Identified{Dt: 0.02, Actuator: quadrotor.NominalActuator(), Position: 0.004}
		like := j.Of(robot).(*Judge)
		s, _, err := like.setup(&bundle.Bundle{Dt: 0.02}, gate.Trial{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Filtered != filtered || s.Guard != &lab {
			t.Errorf("filtered %v: it flies with %v, and by the lab's guard: %v", filtered, s.Filtered, s.Guard == &lab)
		}
		want := sim.Default().Mocap
		if filtered {
			want.Rate, want.Latency, want.Attitude = 50, 0.06, 0.02
		}
		want.Position = 0.004
		if s.World.Mocap != want {
			t.Errorf("filtered %v: poses are of %+v, expected %+v", filtered, s.World.Mocap, want)
		}
	}
}

// TestJudgeFliesByTheLabsResponse: what the lab's guard believes makes states, and so commands.
func TestJudgeFliesByTheLabsResponse(t *testing.T) {
	b, err := bundle.Read(filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	if err != nil {
		t.Fatal(err)
	}
	path, err := reference.OfTask("track")
	if err != nil {
		t.Fatal(err)
	}
	var lab guard.Config
	param.Default(&lab)
	commands := func(g *guard.Config) [][]float64 {
		j := NewJudge(judging(), []reference.Reference{path}, quad.Limits{}, nil, g).(*Judge)
		param.Default(&j.Limits)
		f, err := j.Fly(t.Context(), b, gate.Trial{DisturbanceStrength: 2})
		if err != nil {
			t.Fatal(err)
		}
		return f.Actions
	}
	plain := commands(nil)
	if !slices.EqualFunc(plain, commands(&lab), slices.Equal) {
		t.Error("the default guard is not the default")
	}
	lab.Response.RateDelay += 0.03
	if slices.EqualFunc(plain, commands(&lab), slices.Equal) {
		t.Error("another response makes no other commands")
	}
	c := judging()
	c.Poses.Latency = 0.2
	j := NewJudge(c, []reference.Reference{path}, quad.Limits{}, nil, nil).(*Judge)
	param.Default(&j.Limits)
	if f, err := j.Fly(t.Context(), b, gate.Trial{}); err == nil {
		t.Errorf("by poses that are too old for a policy it flies %d rows", len(f.Errors))
	}
}
