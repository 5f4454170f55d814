package preflight

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

// flown are poses of a robot that flies quickly and stands at the end, at 100 Hz with jitter, and what a source does
// to them.
func flown(noise float64, spoil func(t float64, p so3.Vec3) so3.Vec3) (s []Sample) {
	draw := rand.New(rand.NewPCG(3, 4))
	for t := 100.0; t < 120; t += 0.0095 + 0.001*draw.Float64() {
		w := 0.0
		if t < 115 {
			w = math.Pi * (1 - math.Cos(0.4*(t-115))) // and stops gently
		}
		p := so3.Vec3{X: math.Sin(w), Y: 0.5 * math.Sin(2*w), Z: 1}
		if spoil != nil {
			p = spoil(t, p)
		}
		p = p.Add(so3.Vec3{X: draw.NormFloat64(), Y: draw.NormFloat64(), Z: draw.NormFloat64()}.Scale(noise))
		turn := so3.Vec3{X: draw.NormFloat64(), Y: draw.NormFloat64(), Z: draw.NormFloat64()}.Scale(5 * noise)
		s = append(s, Sample{Stamp: t, Arrival: t + 0.005, P: p, Q: so3.FromEuler(0, 0, 0.2*w).Mul(so3.Exp(turn))})
	}
	return s
}

func TestSource(t *testing.T) {
	for name, c := range map[string]struct {
		noise  float64
		spoil  func(t float64, p so3.Vec3) so3.Vec3
		wrong  string // names of what is wrong
		learns string // how what is said of learning begins
	}{
		"motion capture":           {0.0003, nil, "", "yes"},
		"ten times the noise":      {0.003, nil, "", "yes, with smoothing: keep"},
		"a hundred times":          {0.03, nil, "noise, good to learn from", "no"},
		"swapped markers":          {0.0005, glitch(0.05, 0.015, false), "jumps", "yes, with smoothing; flights"},
		"another body":             {0.0005, glitch(0.3, 0.5, false), "jumps", "yes, with smoothing; flights"},
		"loops that close":         {0.001, glitch(0.1, 0, true), "jumps", "yes, with smoothing; flights"},
		"noise that hides a jump":  {0.003, glitch(0.02, 0, true), "", "yes, with smoothing: keep"},
		"moves that begin at once": {0.0001, begins, "", "yes"},
		"a source that walks away": {0.0005, walks, "drift", "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			var p estimator.Params
			param.Default(&p)
			s := flown(c.noise, c.spoil)
			var found []string
			learns := ""
			for _, f := range append(Source("mocap/pose", s, p), Drift("mocap/pose", s)...) {
				if f.Wrong {
					found = append(found, f.Name)
				}
				if f.Name == "good to learn from" {
					_, learns, _ = strings.Cut(f.Detail, ": ")
				}
			}
			if got := strings.Join(found, ", "); got != c.wrong || !strings.HasPrefix(learns, c.learns) {
				t.Errorf("wrong: %q, learns: %q; expected %q, %q", got, learns, c.wrong, c.learns)
			}
		})
	}
}

// glitch jumps aside every four seconds, for some seconds or for good.
func glitch(by, length float64, good bool) func(float64, so3.Vec3) so3.Vec3 {
	return func(t float64, p so3.Vec3) so3.Vec3 {
		n, since := math.Modf((t - 98) / 4)
		if good {
			return p.Add(so3.Vec3{X: n * by})
		}
		if n > 0 && 4*since < length {
			p.Y += by
		}
		return p
	}
}

// begins moves along z by 3 m/s at once, and ends that so.
func begins(t float64, p so3.Vec3) so3.Vec3 { return p.Add(so3.Vec3{Z: 3 * min(max(t-117, 0), 0.2)}) }

// walks away by 2 cm/s.
func walks(t float64, p so3.Vec3) so3.Vec3 { return p.Add(so3.Vec3{Y: 0.02 * (t - 100)}) }

// The scatter that is found is that of the poses, whatever the robot does meanwhile; a slip is not counted twice.
func TestScatterAndJumpsAreFound(t *testing.T) {
	for _, noise := range []float64{0.0005, 0.002, 0.01} {
		off := misfits(flown(noise, nil))
		if got := scatter(off); math.Abs(got/noise-1) > 0.1 {
			t.Errorf("noise of %g m is found as %g m", noise, got)
		}
	}
	s := flown(0.0005, glitch(0.3, 0.015, false))
	off := misfits(s)
	if n, far := jumps(s, off, scatter(off)); n != 5 || math.Abs(far-0.3) > 0.02 {
		t.Errorf("%d jumps of %.2f m", n, far)
	}
}

// TestPosesForTheGate: the gate is said how often poses come, how late, and what they err by.
func TestPosesForTheGate(t *testing.T) {
	var p estimator.Params
	param.Default(&p)
	s := flown(0.002, nil)
	for i := range s {
		if s[i].Arrival += 0.02; i%20 == 0 {
			s[i].Arrival += 0.3 // a few that the network holds up
		}
	}
	var rate, latency, position, attitude float64
	for _, f := range Source("mocap/pose", s, p) {
		if f.Name == "judge.poses" {
			_, err := fmt.Sscanf(f.Detail, "topic mocap/pose: for background_learner rate: %f, latency: %f, "+
				"position: %f, attitude: %f", &rate, &latency, &position, &attitude)
			if err != nil {
				t.Fatalf("%q: %v", f.Detail, err)
			}
		}
	}
	near := func(x, want float64) bool { return math.Abs(x/want-1) < 0.1 }
	if !near(rate, 100) || !near(latency, 0.025) || !near(position, 0.002) || !near(attitude, 0.01) {
		t.Errorf("%g Hz, %g s, %g m, %g rad; expected 100, 0.025, 0.002, 0.01", rate, latency, position, attitude)
	}
	for name, spoil := range map[string]func(x *Sample){
		"velocities are measured": func(x *Sample) { x.Moves = true },
		"clocks are apart":        func(x *Sample) { x.Arrival += 40 },
		"stamps are ahead":        func(x *Sample) { x.Arrival -= 0.1 },
		"all come at once":        func(x *Sample) { x.Arrival = 121 },
		"no attitudes":            func(x *Sample) { x.Q = so3.Quat{} },
	} {
		bad, said := slices.Clone(s), 0
		for i := range bad {
			spoil(&bad[i])
		}
		for _, f := range Source("mocap/pose", bad, p) {
			if said++; f.Name == "judge.poses" {
				t.Errorf("%s: %q", name, f.Detail)
			}
		}
		if said != 3 {
			t.Errorf("%s: %d findings, expected noise, jumps and whether it is good to learn from", name, said)
		}
	}
}

// What is no pose tells nothing, and nothing fails on it.
func TestSourceOfNonsense(t *testing.T) {
	var p estimator.Params
	param.Default(&p)
	for _, spoil := range []func(float64, so3.Vec3) so3.Vec3{
		func(float64, so3.Vec3) so3.Vec3 { return so3.Vec3{X: math.NaN()} },
		func(float64, so3.Vec3) so3.Vec3 { return so3.Vec3{X: math.Inf(1)} },
		func(float64, so3.Vec3) so3.Vec3 { return so3.Vec3{X: 1e300} },
		func(float64, so3.Vec3) so3.Vec3 { return so3.Vec3{} },
	} {
		s := flown(0, spoil)
		Source("mocap/pose", s, p)
		Drift("mocap/pose", s)
		for i := range s {
			s[i].Stamp = 0
		}
		if f := append(Source("mocap/pose", s, p), Drift("mocap/pose", s)...); len(f) != 0 {
			t.Errorf("%+v", f)
		}
	}
}
