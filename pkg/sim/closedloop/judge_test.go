package closedloop

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// TestJudgeDrawsWhatWasMet: winds are of all strengths up to the judge's, or up to somewhat more than what the
// learner met.
func TestJudgeDrawsWhatWasMet(t *testing.T) {
	spec := new(reference.Hover)
	param.Default(spec)
	path, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{World: sim.Default(), Paths: []reference.Reference{path},
		JudgeConfig: gate.JudgeConfig{Seconds: 8, Wind: 3, LatentAge: 0.1}}
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
	j := &Judge{World: sim.Default(), Paths: []reference.Reference{path},
		JudgeConfig: gate.JudgeConfig{Seconds: 8, LatentAge: 0.1}}
	param.Default(&j.Limits)
	for name, share := range map[string]float32{"as it was": 1, "yaw reversed": -0.5} {
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
