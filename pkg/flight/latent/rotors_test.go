package latent

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
)

// driven is the default airframe as rotors drive it.
func driven(t *testing.T) rotors.Robot {
	t.Helper()
	var a rotors.Airframe
	param.Default(&a)
	m, err := a.Model(.02, .03)
	if err != nil {
		t.Fatal(err)
	}
	return rotors.Robot{Model: m}
}

// motored is a model of it with random weights.
func motored(t *testing.T, r rotors.Robot) *vnd.Model[float32] {
	t.Helper()
	m, err := vnd.New(r.System(), small())
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rand.New(rand.NewPCG(1, 2)))
	return m
}

// motorRows are rows of a robot that wanders.
func motorRows(r rotors.Robot, n int) []rotors.Row {
	rng := rand.New(rand.NewPCG(4, 4))
	v := func(scale float64) so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(scale)
	}
	rows := make([]rotors.Row, n)
	for i := range rows {
		row := &rows[i]
		row.T = float64(i) * r.Period()
		row.State = rotors.State{State: quad.State{P: v(.1), Q: so3.Exp(v(.1)), V: v(.2)}, W: v(.3)}
		for j := range row.Motors {
			row.Motors[j] = .4 + .1*rng.Float64()
		}
	}
	return rows
}

// TestRotorEncoderReadsTheWindow: row by row it makes the latents that a fit makes of the whole recording, to the bit.
// With two ticks to a row it takes the mean of their motors.
func TestRotorEncoderReadsTheWindow(t *testing.T) {
	r := driven(t)
	m := motored(t, r)
	rows, T, Z := motorRows(r, 30), m.Net.Context, m.Net.Latent
	want := vnd.Latents(m, r, [][]rotors.Row{rows}, 1)
	e, twice := NewRotorEncoder(m, r), NewRotorEncoder(m, r)
	for i := range rows {
		row := rows[i]
		e.Push(&row)
		first, second := row, row
		second.T += r.Period() / 2.5
		for j := range row.Motors {
			first.Motors[j] += .0625
			second.Motors[j] -= .0625
		}
		twice.Push(&first)
		twice.Push(&second)
		z := make([]float32, Z)
		if i >= T {
			z = want[(i-T)*Z:][:Z]
		}
		if got := e.At(row.T, .1); !slices.Equal(got, z) {
			t.Fatalf("row %d: %v, expected %v", i, got, z)
		}
		for k, x := range twice.At(row.T, .1) {
			if d := x - z[k]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("row %d by two ticks: %v, expected %v", i, twice.At(row.T, .1), z)
			}
		}
	}
}

func TestRotorEncoderForgetsAcrossGaps(t *testing.T) {
	r := driven(t)
	m := motored(t, r)
	rows := motorRows(r, 12)
	known := func(e *RotorEncoder) bool {
		return slices.ContainsFunc(e.At(e.newest.T, .1), func(z float32) bool { return z != 0 })
	}
	for name, last := range map[string]rotors.Row{
		"a gap":              {T: rows[11].T + 3*r.Period(), State: rows[0].State},
		"a clock set back":   {T: rows[5].T, State: rows[0].State},
		"a state of nothing": {T: rows[11].T + r.Period(), State: rotors.State{W: so3.Vec3{X: math.NaN()}}},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewRotorEncoder(m, r)
			for i := range rows {
				e.Push(&rows[i])
			}
			if !known(e) || !slices.Equal(e.At(e.newest.T+.2, .1), e.zero) {
				t.Fatal("no latent of a whole window, or an old one")
			}
			if e.Push(&last); known(e) {
				t.Error("a latent across it")
			}
		})
	}
}
