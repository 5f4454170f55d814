package pusher

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/robot"
)

var nominal = Robot{Dt: 0.02, Mass: 0.8, Friction: 0.5}

// draw draws a state with the tool near the box, and a command.
func draw(rng *rand.Rand) (s, a []float64) {
	s, a = make([]float64, nS), make([]float64, nA)
	for i := range s {
		s[i] = 0.2 * rng.NormFloat64()
	}
	s[4] *= 5
	angle, r := 2*math.Pi*rng.Float64(), 0.06+0.03*rng.Float64()
	s[0], s[1] = s[2]+r*math.Cos(angle), s[3]+r*math.Sin(angle)
	a[0], a[1] = 0.2*rng.NormFloat64(), 0.2*rng.NormFloat64()
	return s, a
}

func TestGradientsMatchCentralDifferences(t *testing.T) {
	wide := nominal
	wide.Edge = 0.01
	matchDifferences(t, New[float64](nominal), 0)
	matchDifferences(t, New[float64](wide), 0)
	matchDifferences(t, BoxFrame[float64]{New[float64](nominal)}, 2.5)
}

// matchDifferences compares with central differences. Commands are drawn with more, for a system that takes others.
func matchDifferences(t *testing.T, p robot.System[float64], more float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	normal := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return x
	}
	moved := 0
	for range 200 {
		s, a := draw(rng)
		a[0], a[1] = a[0]*(1+more), a[1]*(1+more)
		d, dnext, dx := normal(nS, 0.01), normal(nS, 1), normal(nX, 1)
		ds, da, dd := make([]float64, nS), make([]float64, nA), make([]float64, nS)
		next, x, e := make([]float64, nS), make([]float64, nX), make([]float64, nS)
		start := append([]float64(nil), s...)
		value := func() (sum float64) {
			p.Step(1, s, a, d, next)
			p.Inputs(1, s, a, x)
			p.Minus(1, next, nS, start, nS, e)
			for i := range e {
				sum += dnext[i]*e[i] + dx[i]*x[i]
			}
			return sum
		}
		value()
		if math.Hypot(next[2]-s[2]-d[2], next[3]-s[3]-d[3]) > 0.001 {
			moved++
		}
		back := make([]float64, nS)
		p.MinusVJP(1, next, nS, start, nS, dnext, back)
		p.StepVJP(1, s, a, d, back, ds, da, dd)
		p.InputsVJP(1, s, a, dx, ds, da)
		for _, pair := range [][2][]float64{{s, ds}, {a, da}, {d, dd}} {
			for i, keep := range pair[0] {
				const eps = 1e-7
				pair[0][i] = keep + eps
				up := value()
				pair[0][i] = keep - eps
				want := (up - value()) / (2 * eps)
				if pair[0][i] = keep; math.Abs(pair[1][i]-want) > 2e-5*(1+math.Abs(want)) {
					t.Fatalf("s %.3f a %.3f: gradient %d is %g, central difference %g", s, a, i, pair[1][i], want)
				}
			}
		}
	}
	if moved < 50 {
		t.Errorf("the box moved in %d of 200 steps: contacts are hardly tested", moved)
	}
}

// TestPriorPushesAndTurns: in the middle of a side the box goes straight, beside it turns away from the tool.
func TestPriorPushesAndTurns(t *testing.T) {
	p := New[float64](nominal)
	for _, c := range []struct {
		name    string
		beside  float64
		turning func(heading float64) bool
	}{
		{"middle", 0, func(h float64) bool { return math.Abs(h) < 1e-9 }},
		{"left of it", 0.03, func(h float64) bool { return h < -0.2 }},
		{"right of it", -0.03, func(h float64) bool { return h > 0.2 }},
	} {
		s, none := make([]float64, nS), make([]float64, nS)
		s[0], s[1] = -Side/2-ToolRadius-0.002, c.beside
		for range 25 {
			p.Step(1, s, []float64{0.2, 0}, none, s)
		}
		if !(s[2] > 0.03) || !c.turning(s[4]) {
			t.Errorf("%s: after half a second at 0.2 m/s the box is at %.3f m, heading %.3f", c.name, s[2], s[4])
		}
		if lag := 0.2 - s[5]; c.beside == 0 && math.Abs(lag-0.8*0.5*9.81/100) > 0.003 {
			t.Errorf("the tool lags by %.4f m/s, want what its servo needs to push, 0.039 m/s", lag)
		}
	}
}

func TestWindowHasWhatThePriorLeft(t *testing.T) {
	rng, p := rand.New(rand.NewPCG(2, 1)), New[float64](nominal)
	s, a := draw(rng)
	d := []float64{0.001, 0.002, -0.001, 0.003, 0.02, 0.1, -0.1, 0.05, 0.02, 0.3}
	measured := append(append([]float64(nil), s...), make([]float64, nS)...)
	p.Step(1, s, a, d, measured[nS:])
	end, ctx, r := make([]float64, nS), make([]float64, nC), make([]float64, nS)
	p.Window(1, measured, a, end, ctx, nil, r)
	for i := range d {
		if math.Abs(r[i]-d[i]) > 1e-12 || ctx[nX+i] != r[i] || end[i] != measured[nS+i] {
			t.Errorf("residual %d is %g, in the row %g, want %g", i, r[i], ctx[nX+i], d[i])
		}
	}
}

func TestStatesAreReadAsWritten(t *testing.T) {
	want := State{Box: [3]float64{1, 2, 3}, BoxVelocity: [3]float64{4, 5, 6}, Tool: [2]float64{7, 8},
		ToolVelocity: [2]float64{9, 10}}
	var got State
	s := make([]float32, nS)
	want.Write(s)
	if got.Read(s); got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

func TestReaderRefusesWhatNoBoxIs(t *testing.T) {
	if r, err := Reader.Read(0.02, json.RawMessage(`{"mass": 0.8, "friction": 0.5}`)); err != nil || r != nominal {
		t.Errorf("read %+v, error %v", r, err)
	}
	for config, want := range map[string]string{
		`{"mass": -1, "friction": 0.5}`: "mass -1", `{"mass": 1, "friction": 0}`: "friction 0", `{"mas": 1}`: `"mas"`,
	} {
		if _, err := Reader.Read(0.02, json.RawMessage(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", config, err, want)
		}
	}
}
