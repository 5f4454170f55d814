package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/robot/quadrotor"
)

// unsure gives recordings true states beside what was measured, and variances that differ from row to row.
func unsure(r *Recorded, rng *rand.Rand) {
	for i := range r.Recordings {
		x := &r.Recordings[i]
		x.True = slices.Clone(x.Measured)
		for k := range x.Measured {
			if k%10 < 3 || k%10 > 6 { // a quaternion stays one
				x.Measured[k] += float32(.01 * rng.NormFloat64())
			}
		}
		for range x.rows() * 9 {
			x.Variance = append(x.Variance, float32(1e-3*rng.Float64()))
		}
	}
}

// TestErrorsOfStartsGrow: along a rollout an error of velocity moves the position by its time, one of attitude stays
// and turns the thrust.
func TestErrorsOfStartsGrow(t *testing.T) {
	const H, U, dt = 25, 9, .02
	sys := quadrotor.NewQuadrotor[float32](dt, quadrotor.NominalActuator()).InWorld()
	d := newTrainingSet(recorded(1, 100))
	grown := growth(sys, d, []start{{0, 20}, {0, 40}}, 20, H)
	for h := range H {
		at := func(j, i int) float64 { return math.Sqrt(float64(grown[(h*U+j)*U+i])) }
		after := dt * float64(h) // a tangent comes in at the first step's end
		for name, c := range map[string][2]float64{"position by velocity": {at(0, 3), after}, "velocity": {at(4, 4), 1},
			"attitude": {math.Hypot(math.Hypot(at(6, 8), at(7, 8)), at(8, 8)), 1}, "position": {at(2, 2), 1}} {
			if math.Abs(c[0]-c[1]) > .02 {
				t.Errorf("step %d: %s grows %.3f, expected %.3f", h+1, name, c[0], c[1])
			}
		}
		tilted := math.Hypot(at(3, 7), at(4, 7)) // by a turn about y
		if want := 9.8 * after; math.Abs(tilted-want) > .3*want+.02 {
			t.Errorf("step %d: velocity by attitude grows %.3f m/s/rad, expected about %.3f", h+1, tilted, want)
		}
	}
}

// TestUnsureRowsCountLess: a rollout from a start that errs by far more than the unit hardly counts; one from a sure
// start counts as ever.
func TestUnsureRowsCountLess(t *testing.T) {
	cfg := small()
	r := vehicleWith(2, 60)
	for i := range r.Recordings {
		x := &r.Recordings[i]
		x.True = x.Measured
		x.Variance = slices.Repeat([]float32{float32(i) * 100}, x.rows()*9) // the first is sure
	}
	tr, err := newTrainer(&cfg, r, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := tr.pool.workers[0]
	w.load([]start{{0, 10}, {1, 10}}, nil, cfg.Loss.Steps)
	for h := range cfg.Loss.Steps {
		for j := range 9 {
			unit, sure, unsure := w.scale[h*9+j], w.each[(h*2)*9+j], w.each[(h*2+1)*9+j]
			if sure != unit || !(unsure < .2) {
				t.Fatalf("step %d, error %d: scale %g where the start is sure, %g where not, the unit's %g", h+1, j,
					sure, unsure, unit)
			}
		}
	}
}
