package export

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"vnd/pkg/flight/policy"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// flown is a bundle with a policy and a model.
func flown(t testing.TB) *bundle.Bundle {
	t.Helper()
	return must(bundle.Read(filepath.Join("..", "control", "testdata", "a.vnd")))(t)
}

// byMotors is a bundle whose policy commands motors of speeds up to full.
func byMotors(t testing.TB, full float64) *bundle.Bundle {
	t.Helper()
	b := must(bundle.Read(filepath.Join("..", "control", "testdata", "motors.vnd")))(t)
	p := must(policy.RotorsFromBundle(b))(t)
	l := *p.Motors
	l.Least, l.Most, l.Hover, l.Full = full*l.Least, full*l.Most, full*l.Hover, full
	q := must(policy.NewRotors[float32](p.Observation, l, p.Latent, p.Net.Hidden))(t)
	copy(q.Net.Params, p.Net.Params)
	q.Norm = p.Norm // what else moves the reference stays on our side
	q.Net.Refresh()
	if err := policy.Put(b, q, b.Task); err != nil {
		t.Fatal(err)
	}
	return must(bundle.Decode("speeds", must(b.Encode())(t)))(t)
}

// drawn is a bundle with random networks of a configuration.
func drawn(t testing.TB, c nets.Config) *bundle.Bundle {
	t.Helper()
	q := quadrotor.Robot{Dt: 0.02, Prior: true,
		Actuator: quadrotor.Actuator{ThrustGain: 0.9, ThrustLag: 0.1, RateGain: 1.1, RateLag: 0.03}}
	m := must(vnd.New(q.System(), c))(t)
	rng := rand.New(rand.NewPCG(5, 6))
	m.Net.Init(rng)
	for i := range m.Net.Params {
		m.Net.Params[i] += 0.02 * float32(rng.NormFloat64()) // biases, too
	}
	for i := range m.Output {
		m.Output[i] = 0.05 * float32(i+1)
	}
	b := must(vnd.Bundle(m, q, nil, nil))(t)
	return must(bundle.Decode("drawn", must(b.Encode())(t)))(t)
}

// cases are bundles of every kind of network.
func cases(t testing.TB) map[string]*bundle.Bundle {
	t.Helper()
	gru := nets.Config{Context: 8, Latent: 3, Encoder: nets.EncoderGRU, EncoderDense: 7, EncoderHidden: 5, Hidden: 12,
		Blocks: 2, Film: true, DecoderHidden: 4, Members: 2}
	mlp, bare := gru, gru
	mlp.Encoder, mlp.Film, mlp.Members = nets.EncoderMLP, false, 1
	bare.Latent = 0
	return map[string]*bundle.Bundle{"flown": flown(t), "motors": byMotors(t, 1), "two members": drawn(t, gru),
		"no FiLM": drawn(t, mlp), "no latent": drawn(t, bare)}
}

// io is inputs and the outputs of our own code for them.
type io struct {
	rows   int
	inputs map[string][]float32
	shapes map[string][]int
	output string
	want   []float32
	unit   []float32 // range of each output
}

// noise is n rows about what a normaliser takes as usual.
func noise(rng *rand.Rand, rows int, n *norm) []float32 {
	x := make([]float32, 0, rows*len(n.mean))
	for range rows {
		for j, m := range n.mean {
			s := float32(1)
			if n.scale[j] != 0 {
				s = 1 / n.scale[j]
			}
			x = append(x, m+1.5*s*float32(rng.NormFloat64()))
		}
	}
	return x
}

func standard(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// reference draws inputs for a part of a bundle, and has our own code answer.
func reference(t testing.TB, b *bundle.Bundle, part string, rows int) *io {
	t.Helper()
	n := must(Of(b))(t)
	rng := rand.New(rand.NewPCG(1, 2))
	switch part {
	case Policy:
		return referencePolicy(must(policyIn(b))(t), n.policy, rng, rows)
	case Encoder:
		m, _, err := vnd.FromBundle(b, quadrotor.Reader)
		return referenceEncoder(must(m, err)(t), n.encoder, rng, rows)
	}
	m, _, err := vnd.FromBundle(b, quadrotor.Reader)
	return referenceModel(must(m, err)(t), n.model, rng, rows)
}

func referencePolicy(p *policy.Policy[float32], n *policyNet, rng *rand.Rand, rows int) *io {
	O := len(n.channels)
	all := noise(rng, rows, &n.norm)
	x := &io{rows: rows, output: "command", unit: n.half, inputs: map[string][]float32{}, shapes: map[string][]int{}}
	x.shapes["observation"] = []int{rows, O}
	if n.latent > 0 {
		x.shapes["latent"] = []int{rows, n.latent}
	}
	for r := range rows {
		row := all[r*p.Net.Inputs:][:p.Net.Inputs]
		x.inputs["observation"] = append(x.inputs["observation"], row[:O]...)
		if n.latent > 0 {
			x.inputs["latent"] = append(x.inputs["latent"], row[O:]...)
		}
	}
	p.Norm.Apply(all)
	u := make([]float32, rows*len(n.half))
	p.Net.Forward(p.Net.NewTape(rows, 1), 0, rows, all, u)
	x.want = make([]float32, len(u))
	p.Actions(u, x.want)
	if p.Motors != nil {
		x.want = over(x.want, p.Motors.Full)
	}
	return x
}

func referenceEncoder(m *vnd.Model[float32], n *encoderNet, rng *rand.Rand, rows int) *io {
	ctx := noise(rng, rows*n.rows, &n.norm) // [B][T][C]
	x := &io{rows: rows, output: "latent", unit: ones(n.latent),
		inputs: map[string][]float32{"context": slices.Clone(ctx)},
		shapes: map[string][]int{"context": {rows, n.rows, n.features}}}
	m.Context.Apply(ctx)
	turned := make([]float32, len(ctx)) // [T][B][C]
	for b := range rows {
		for t := range n.rows {
			copy(turned[(t*rows+b)*n.features:][:n.features], ctx[(b*n.rows+t)*n.features:])
		}
	}
	x.want = make([]float32, rows*n.latent)
	m.Net.Encode(m.Net.NewEncoderTape(rows), rows, turned, x.want)
	return x
}

func referenceModel(m *vnd.Model[float32], n *modelNet, rng *rand.Rand, rows int) *io {
	in := noise(rng, rows, &n.norm)
	x := &io{rows: rows, output: "residual", inputs: map[string][]float32{"inputs": slices.Clone(in)},
		shapes: map[string][]int{"inputs": {rows, n.inputs}}, want: make([]float32, rows*n.outputs)}
	z := standard(rng, rows*n.latent)
	if n.latent > 0 {
		x.inputs["latent"], x.shapes["latent"] = z, []int{rows, n.latent}
	}
	for _, u := range n.output {
		x.unit = append(x.unit, max(u, 1e-3))
	}
	m.Inputs.Apply(in)
	y := make([]float32, len(x.want))
	for k := range n.members {
		tape := m.Net.NewPassTape(rows, 0)
		m.Net.Condition(tape, k, rows, z)
		m.Net.Residual(tape, k, rows, in, y)
		for i, v := range y {
			x.want[i] += v * m.Output[i%n.outputs] / float32(len(n.members))
		}
	}
	return x
}

func ones(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// worst is the greatest error of outputs, in their ranges.
func (x *io) worst(got []float32) float64 {
	if len(got) != len(x.want) {
		return math.Inf(1)
	}
	e := 0.0
	for i, w := range x.want {
		if d := math.Abs(float64(got[i]-w)) / float64(x.unit[i%len(x.unit)]); !(d <= e) {
			e = d
		}
	}
	return e
}
