package vnd

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

var vehicle = quadrotor.Robot{Dt: .02, Prior: true,
	Actuator: quadrotor.Actuator{ThrustGain: .9, ThrustLag: .1, RateGain: 1.1, RateDelay: 1.3, RateLag: .03}}

func netConfig(members int) nets.Config {
	return nets.Config{Context: 20, Latent: 3, Encoder: nets.EncoderGRU, EncoderDense: 8, EncoderHidden: 8, Hidden: 16,
		Blocks: 2, Film: true, DecoderHidden: 4, Members: members}
}

// random is a model with random weights and statistics.
func random(t *testing.T, q quadrotor.Robot, c nets.Config) *Model[float32] {
	t.Helper()
	m, err := New(q.System(), c)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	m.Net.Init(rng)
	for i := range m.Output {
		m.Output[i], m.BiasShare[i], m.ResidualScale[i] = .05, 1, .01
	}
	m.Known, m.Age = .5, 40
	return m
}

// flight is a smooth recording of a robot under a constant wind, m/s².
func flight(sys quadrotor.Robot, rows int, wind float64) []quad.Row {
	s64 := quadrotor.NewQuadrotor[float64](sys.Dt, sys.Actuator).InWorld()
	d := s64.Dims()
	s, next, add := make([]float64, d.State), make([]float64, d.State), make([]float64, d.Tangent)
	s[3], s[10] = 1, 9.81
	add[3] = wind * sys.Dt
	var out []quad.Row
	for k := range rows {
		t := sys.Dt * float64(k)
		row := quad.Row{T: t, State: quadrotor.State(s)}
		row.Command.Thrust = 9.81/sys.Actuator.ThrustGain + math.Sin(5*t)
		row.Command.Rates.X, row.Command.Rates.Y = .6*math.Sin(4*t), .6*math.Cos(3*t)
		out = append(out, row)
		a := make([]float64, d.Action)
		quadrotor.Action(&row.Command, a)
		s64.Step(1, s, a, add, next)
		s, next = next, s
	}
	return out
}

// predict rolls steps out from the rows after the first 20.
func predict(t *testing.T, m *Model[float32], rows []quad.Row, steps int) []quad.State {
	t.Helper()
	out := [][]quad.State{make([]quad.State, steps)}
	future := make([]quad.Command, steps)
	for h := range future {
		future[h] = rows[20+h].Command
	}
	if err := NewPredictor(m, vehicle).Predict([][]quad.Row{rows[:21]}, [][]quad.Command{future}, out); err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func TestBundleKeepsTheModel(t *testing.T) {
	for _, q := range []quadrotor.Robot{vehicle, {Dt: .02, Actuator: quadrotor.NominalActuator(), World: true}} {
		m := random(t, q, netConfig(2))
		b, err := Bundle(m, q, map[string]int{"updates": 3}, map[string]float64{"loss": .5})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "b.vnd")
		if err := bundle.Write(path, b); err != nil {
			t.Fatal(err)
		}
		back, err := bundle.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		got, gq, err := FromBundle(back, quadrotor.Reader)
		if err != nil {
			t.Fatal(err)
		}
		rows := flight(vehicle, 80, 1)
		if gq != q || !slices.Equal(predict(t, got, rows, 50), predict(t, m, rows, 50)) {
			t.Errorf("%+v: the model from the bundle predicts otherwise (%+v)", q, gq)
		}
	}
}

// TestLatents: windows that are encoded together, by several workers, have the latents of windows alone, bit for bit,
// in their order.
func TestLatents(t *testing.T) {
	const stride = 3
	m := random(t, vehicle, netConfig(1))
	segments := [][]quad.Row{flight(vehicle, 300, 1), flight(vehicle, 20, 0), flight(vehicle, 171, -1)}
	got, Z := Latents(m, vehicle, segments, stride), m.Net.Latent
	var want []float32
	for _, s := range segments {
		for k := m.Net.Context; k < len(s); k += stride {
			want = append(want, Latents(m, vehicle, [][]quad.Row{s[k-m.Net.Context : k+1]}, 1)...)
		}
	}
	if len(want) < 130*Z || len(want)%64 == 0 {
		t.Fatalf("%d latents: too few to be cut", len(want)/Z)
	}
	if !slices.Equal(got, want) {
		t.Error("windows together have other latents than alone")
	}
}

func TestFromBundleRefuses(t *testing.T) {
	whole, err := Bundle(random(t, vehicle, netConfig(1)), vehicle, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*bundle.Bundle){
		`robot "arm"`:   func(b *bundle.Bundle) { b.Robot = "arm" },
		"configuration": func(b *bundle.Bundle) { b.Config = []byte(`{"model":{"nets":{},"wings":2}}`) },
		"want 1 to 8192": func(b *bundle.Bundle) {
			b.Config = []byte(strings.Replace(string(b.Config), `"Hidden":16`, `"Hidden":0`, 1))
		},
		"has shape": func(b *bundle.Bundle) {
			b.Config = []byte(strings.Replace(string(b.Config), `"Hidden":16`, `"Hidden":17`, 1))
		},
		"no tensor": func(b *bundle.Bundle) { b.Tensors = b.Tensors[1:] },
		"context inputs": func(b *bundle.Bundle) {
			b.Config = []byte(strings.Replace(string(b.Config), `"Inputs":30`, `"Inputs":31`, 1))
		},
	} {
		b := *whole
		change(&b)
		if _, _, err := FromBundle(&b, quadrotor.Reader); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
	}
}

// Without a net, the corrected model is the recent-mean baseline: a constant wind that it has never seen is predicted.
func TestBiasCorrectionPredictsAnUnseenWind(t *testing.T) {
	q := quadrotor.Robot{Dt: .02, Actuator: quadrotor.NominalActuator(), Prior: true, World: true}
	m := random(t, q, netConfig(1))
	clear(m.Output)
	rows := flight(q, 80, 5)
	for known, tol := range map[float32]float64{1: 1e-3, .5: 1e-3} { // .5: the wind is new, so the weight rises to 1
		m.Known = known
		got := predict(t, m, rows, 50)[49]
		if d := got.P.Sub(rows[70].State.P).Norm(); d > tol {
			t.Errorf("known weight %g: position off by %g m after 1 s, want less than %g", known, d, tol)
		}
	}
	clear(m.BiasShare)
	if d := predict(t, m, rows, 50)[49].P.Sub(rows[70].State.P).Norm(); d < 1 {
		t.Errorf("without a bias correction the prior is off by %g m only: this test shows nothing", d)
	}
}

func TestNovelty(t *testing.T) {
	m := random(t, vehicle, netConfig(1))
	for _, c := range []struct{ x, want float32 }{{0, 0}, {.01, 0}, {.0125, .5}, {.015, 1}, {9, 1}} {
		left := make([]float32, 9)
		for j := 3; j < 6; j++ {
			left[j] = c.x
		}
		if got := m.Novelty(left); math.Abs(float64(got-c.want)) > 1e-5 {
			t.Errorf("residual mean of %g times the known: novelty %g, want %g", c.x/.01, got, c.want)
		}
	}
}

// A mean rollout takes the mean of the members' residuals.
func TestEnsembleTakesTheMean(t *testing.T) {
	m := random(t, vehicle, netConfig(3))
	d := m.System.Dims()
	z, s, a := []float32{.3, -1, .5}, make([]float32, d.State), []float32{9, .1, .2, 0}
	s[3], s[10] = 1, 9.81
	mean, one, sum := make([]float32, d.State), make([]float32, d.State), make([]float32, d.State)
	r := m.NewMeanRollout(1, 1)
	r.Begin(0, 1, 1, z)
	r.Step(0, s, a, mean)
	single := m.NewRollout(1, 1)
	for k := range 3 {
		single.Begin(k, 1, 1, z)
		single.Step(0, s, a, one)
		for j := range sum {
			sum[j] += one[j] / 3
		}
	}
	for j := range 3 { // position and velocity are linear in the residual
		if math.Abs(float64(mean[j]-sum[j])) > 1e-6 || math.Abs(float64(mean[7+j]-sum[7+j])) > 1e-6 {
			t.Errorf("axis %d: mean rollout %g %g, mean of members %g %g", j, mean[j], mean[7+j], sum[j], sum[7+j])
		}
	}
}

// Members that are alike do not disagree; different ones do.
func TestSpread(t *testing.T) {
	rows := flight(vehicle, 80, 1)
	for alike, positive := range map[bool]bool{true: false, false: true} {
		m := random(t, vehicle, netConfig(2))
		if alike {
			tensors := map[string]nets.Tensor{}
			for _, x := range m.Net.Tensors() {
				tensors[x.Name] = x
			}
			for name, x := range tensors {
				if rest, ok := strings.CutPrefix(name, "residual.1."); ok {
					copy(m.Net.Params[x.Offset:][:x.Size()], m.Net.Params[tensors["residual.0."+rest].Offset:])
				}
			}
		}
		future, out := make([]quad.Command, 10), make([]quad.State, 10)
		p := NewPredictor(m, vehicle)
		if err := p.Predict([][]quad.Row{rows[:21]}, [][]quad.Command{future}, [][]quad.State{out}); err != nil {
			t.Fatal(err)
		}
		if s := p.Spread()[0]; (s > 1e-3) != positive {
			t.Errorf("members alike %v: spread %g", alike, s)
		}
	}
}

func TestPredictRefusesAShortWindow(t *testing.T) {
	m := random(t, vehicle, netConfig(1))
	rows := flight(vehicle, 30, 0)
	err := NewPredictor(m, vehicle).Predict([][]quad.Row{rows[:20]}, [][]quad.Command{{rows[20].Command}},
		[][]quad.State{make([]quad.State, 1)})
	if err == nil || !strings.Contains(err.Error(), "20 rows") {
		t.Errorf("error %v, want one that says how many rows the window has", err)
	}
}

// A predictor's buffers are as large as what it is asked about, which does not change its answers.
func TestBuffersOfAPredictor(t *testing.T) {
	m := random(t, vehicle, netConfig(1))
	rows := flight(vehicle, 30, 0)
	ask := func(p *Predictor[quad.Row, quad.Command, quad.State], n int) (out [][]quad.State, took uint64) {
		windows, future := make([][]quad.Row, n), make([][]quad.Command, n)
		for i := range n {
			windows[i], future[i] = rows[:21], make([]quad.Command, 5)
			out = append(out, make([]quad.State, 5))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := p.Predict(windows, future, out); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return out, after.TotalAlloc - before.TotalAlloc
	}
	p := NewPredictor(m, vehicle)
	alone, few := ask(p, 1)
	grown, many := ask(p, predictBatch+2)
	if again, _ := ask(p, 1); !slices.Equal(alone[0], grown[predictBatch+1]) || !slices.Equal(alone[0], again[0]) {
		t.Errorf("%v alone, %v beside others, %v after them", alone[0], grown[predictBatch+1], again[0])
	}
	if few > many/8 {
		t.Errorf("one window took %d bytes, %d of them %d", few, predictBatch+2, many)
	}
}
