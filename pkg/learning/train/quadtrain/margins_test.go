package quadtrain

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
)

// drawnBy are responses as margins draw them, each over ones that change nothing.
func drawnBy(m *Margins, n int) (all [][]train.Response) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range n {
		each := []train.Response{{Gain: 1}, {Gain: 1}, {Gain: 1}, {Gain: 1}}
		m.draw(rng, each)
		all = append(all, each)
	}
	return all
}

// A share of the draws is otherwise than the world says, and the others are as it says. Thrust may come late in any.
func TestShareOfMargins(t *testing.T) {
	const n = 4000
	for _, share := range []float64{0, 0.35, 1} {
		m := Margins{Gain: 0.1, Delay: 3, Overshoot: 0.25, Frequency: 15, Share: share}
		other, thrust := 0., 0.
		for _, each := range drawnBy(&m, n) {
			if each[1] != (train.Response{Gain: 1}) {
				other++
			}
			if thrust += each[0].Delay; each[0].Delay < each[1].Delay {
				t.Fatalf("body rates come %.2f steps late, thrust %.2f", each[1].Delay, each[0].Delay)
			}
		}
		if math.Abs(other/n-share) > 0.03 || thrust/n < 0.9 {
			t.Errorf("share %g: %.3f of the draws are otherwise, thrust %.2f steps late", share, other/n, thrust/n)
		}
	}
}

// Where body rates are as the world says thrust is late by two steps at most, and by no more than commands may be.
func TestThrustIsLateByTwoSteps(t *testing.T) {
	for delay, want := range map[float64]float64{0: 0, 1: 1, 2: 2, 4: 2} {
		m, most := Margins{Gain: 0.1, Delay: delay, Overshoot: 0.25, Frequency: 15}, 0. // a share of none
		for _, each := range drawnBy(&m, 1000) {
			most = max(most, each[0].Delay)
		}
		if most > want || most < 0.98*want {
			t.Errorf("delays of up to %g steps: thrust comes up to %.2f steps late, expected %g", delay, most, want)
		}
	}
}

// Robots by motors are delayed by no more than responses can be.
func TestDelayOfMotorsIsBounded(t *testing.T) {
	n := Nominal{Dt: 0.02, MaxLag: 0.02, MaxDelay: 8, Margins: Margins{Delay: 6}}
	sys, _ := rotorSystem[float64](t, &n)
	w, rng := RotorWorld(n, sys).(*train.Responding[float64]), rand.New(rand.NewPCG(1, 1))
	most := 0.
	for range 1000 {
		each := []train.Response{{Gain: 1}}
		w.Draw(rng, each)
		most = max(most, each[0].Delay)
	}
	if most > train.MaxDelay || most < train.MaxDelay-0.1 {
		t.Errorf("delays of up to %.2f steps, expected %d", most, train.MaxDelay)
	}
}

// TestLagIsShown: what a policy sees of a response is by how much a ramp of its body rates is late, in the given unit.
func TestLagIsShown(t *testing.T) {
	const dt, unit = 0.02, 0.04
	m := Margins{Gain: 0.1, Delay: 3, Overshoot: 0.25, Frequency: 15, Share: 0.5}
	w := respond(NominalWorld[float64](Nominal{Dt: dt, MaxLag: 0.02}), dt, m, unit).(*train.Responding[float64])
	for _, each := range drawnBy(&m, 50) {
		r := each[2]
		if got, want := unit*w.Shown(each), late(&r, dt); math.Abs(got-want) > 1e-3 {
			t.Errorf("%+v: shown as %.4f s, a ramp is %.4f s late", r, got, want)
		}
	}
	for _, unit := range []float64{0, 0.04} {
		w := respond(NominalWorld[float64](Nominal{Dt: dt}), dt, Margins{Share: 1}, unit)
		if _, shows := w.(*train.Responding[float64]); shows != (unit > 0) {
			t.Errorf("without margins, in units of %g s: a lag is shown: %v", unit, shows)
		}
	}
}

// late integrates the answer ÿ = ω²(u − y) − 2ζω·ẏ to a ramp u = t − delay, and returns how late it is in the end, s.
func late(r *train.Response, dt float64) float64 {
	delay := r.Delay * dt
	if r.Frequency == 0 {
		return delay
	}
	const h, end = 1e-4, 5.
	y, v := 0., 0.
	for t := 0.; t < end; t += h {
		a := r.Frequency*r.Frequency*(t-y) - 2*r.Damping*r.Frequency*v
		v += h * a
		y += h * v
	}
	return delay + end - y
}

// TestLagIsAnswered: a policy that sees how late its commands are followed stays nearer to where it is to be than where
// it is told of none.
func TestLagIsAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	k := tasksAlong(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 5, Velocity: 0.1, Rates: 0.01, CommandChange: 0.05, Collision: 1,
		Delta: 0.1}, 4
	c := small(t)
	c.Epochs, c.Flights, c.Horizon, c.Observation.Push = 300, 0, 75, 0
	m := fitted[float32](t, rand.New(rand.NewPCG(1, 1)))
	clear(m.Output)
	w := Learned(m, 0.02, false, Pushes{Lag: 0.04}, Margins{Delay: 6, Share: 0.7})
	seen, unseen := learned(t, c, w, k, 64, 1)
	t.Logf("errs by %.4f m where lags are seen, by %.4f m where not", seen, unseen)
	if !(seen < 0.2) || !(unseen > 1.2*seen) {
		t.Errorf("errs by %.4f m where lags are seen, by %.4f m where not", seen, unseen)
	}
}
