package pusher

import (
	"math"
	"strings"
	"testing"
)

// TestIdentifyFindsTheForce: of two seconds of pushing, whatever the direction.
func TestIdentifyFindsTheForce(t *testing.T) {
	for _, force := range []float64{1, 4, 15} {
		truth := Robot{Dt: 0.02, Mass: 0.8, Friction: force / (0.8 * gravity)}
		rows := pushes(truth, 100)
		got, err := Identify(rows, truth.Dt, truth.Mass)
		if err != nil {
			t.Fatal(err)
		}
		if found := got.Mass * got.Friction * gravity; math.Abs(found-force) > 0.1 {
			t.Errorf("%g N: found %g N", force, found)
		}
	}
	if _, err := Identify(nil, 0.02, 0.8); err == nil || !strings.Contains(err.Error(), "moves in 0 rows") {
		t.Errorf("of nothing: %v", err)
	}
}

// pushes is a tool that pushes a box along x, now faster, now slower.
func pushes(truth Robot, steps int) (rows []Row) {
	sys := truth.System()
	s, a, none := make([]float32, nS), make([]float32, nA), make([]float32, nS)
	s[0], s[1] = -0.1, 0.01
	for k := range steps {
		row := Row{T: float64(k) * truth.Dt, State: truth.State(s),
			Command: Command{0.3 + 0.1*math.Sin(float64(k)/10), 0.01}}
		truth.Action(&row.Command, a)
		rows = append(rows, row)
		sys.Step(1, s, a, none, s)
	}
	return rows
}

// TestRowsAreFlattened: states and commands come back as they went in.
func TestRowsAreFlattened(t *testing.T) {
	rows := pushes(nominal, 30)
	measured, actions := nominal.Flatten(rows)
	for i, row := range rows {
		if got := nominal.State(measured[i*nS:]); got != row.State {
			t.Fatalf("row %d: %+v, want %+v", i, got, row.State)
		}
		if a := actions[i*nA:]; a[0] != float32(row.Command[0]) || a[1] != float32(row.Command[1]) {
			t.Fatalf("row %d: actions %v, want %v", i, a[:2], row.Command)
		}
	}
	one, other := rows[0].State, rows[0].State
	other.Box = [3]float64{one.Box[0] + 0.3, one.Box[1] + 0.4, one.Box[2] + 2*math.Pi - 0.1}
	other.BoxVelocity[0] = 2
	if p, v, turn := nominal.Distances(&one, &other); math.Abs(p-0.5)+math.Abs(v-2)+math.Abs(turn-0.1) > 1e-9 {
		t.Errorf("distances %g, %g and %g", p, v, turn)
	}
	other.ToolVelocity[1] = math.NaN()
	if !nominal.Finite(&one) || nominal.Finite(&other) {
		t.Error("a state with a number that is none passes for finite, or another one does not")
	}
}
