package manipulation

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// runner implements gate.Runner: a law along an episode of a task.
type runner struct {
	law      Law
	task     *arm.Track[float32]
	episodes robot.Episodes[float32]
	x, past  []float32
	last     []float32
	h        int
}

// Tick implements gate.Runner. Torques are limited as those of policies are.
func (r *runner) Tick(t float64, s, a []float32) gate.Tick {
	var cost, off [1]float32
	var tau [arm.Joints]float64
	r.episodes.Costs(r.h-1, &robot.Transition[float32]{S0: s, S1: s, A: r.last, Last: r.last}, cost[:], off[:])
	distance := math.Sqrt(float64(off[0]))
	if !(distance < r.task.Radius) {
		return gate.Tick{Crash: fmt.Sprintf("%.2f m off the reference after %.1f s", distance, t)}
	}
	r.episodes.Observe(r.h, s, r.past, r.x, len(r.x))
	seen := arm.See(r.x)
	r.law.Torque(&seen, &tau)
	for j, most := range armlearning.Torques {
		a[j] = min(max(float32(tau[j]), -most), most)
	}
	copy(r.last, a)
	r.h++
	return gate.Tick{Error: distance}
}

// newState makes space for an arm's state, or a tangent of it.
func newState() []float32 { return make([]float32, 2*arm.Joints) }

// Method is a way to follow a reference. The payload, kg, is for oracles alone.
type Method struct {
	Name  string
	Begin func(mass float64, task *arm.Track[float32], rng *rand.Rand, steps int, s []float32) gate.Runner
}

// ByLaw is the method of laws that new ones are made of.
func ByLaw(name string, law func() Law) Method {
	return Method{name, func(_ float64, task *arm.Track[float32], rng *rand.Rand, steps int,
		s []float32) gate.Runner {
		e := task.NewEpisodes(Dt, 1, steps)
		e.Begin(1, steps)
		e.Draw(0, rng, s)
		return &runner{law: law(), task: task, episodes: e, x: make([]float32, task.Size()),
			past: make([]float32, task.Past()*arm.Joints), last: make([]float32, arm.Joints)}
	}}
}

// ByPolicy is the method of a policy that is told the latent of a model, or the prior mean without one.
func ByPolicy(name string, p *vnd.Actor[float32], m *vnd.Model[float32]) Method {
	return Method{name, func(_ float64, task *arm.Track[float32], rng *rand.Rand, steps int,
		s []float32) gate.Runner {
		return armlearning.Vehicle(task).Begin(p, m, armlearning.Prior, rng, steps, s)
	}}
}

// ByBundle is the method of a bundle's policy, with the latent of its model. It refuses one that is of no arm.
func ByBundle(name string, b *bundle.Bundle) (Method, error) {
	if _, err := armcontrol.Load(b); err != nil {
		return Method{}, err
	}
	p, err := vnd.ActorFromBundle(b)
	if err != nil || !vnd.In(b) {
		return ByPolicy(name, p, nil), err
	}
	m, _, err := vnd.FromBundle(b, arm.Reader)
	return ByPolicy(name, p, m), err
}

// flightSteps is the length of a flight, and settling its beginning that does not count.
const flightSteps, settling = 400, 100

// follow follows a reference in a world for some steps under the payload, kg, of each, shows each row and its error, m,
// and says why the flight ended early.
func (m *Method) follow(w World[float32], r *arm.Reference, steps int, payload func(k int) float64,
	each func(row arm.Row, off float64)) string {
	mass := math.NaN()
	s, a := newState(), make([]float32, arm.Joints)
	f := m.Begin(payload(0), armlearning.Task(0, r), rand.New(rand.NewPCG(1, 1)), steps, s)
	for k := range steps {
		if now := payload(k); now != mass {
			if err := w.Set(Truth(now)); err != nil {
				return err.Error()
			}
			mass = now
		}
		row := arm.Row{T: float64(k) * Dt, State: armlearning.Prior.State(s)}
		tick := f.Tick(row.T, s, a)
		if tick.Crash != "" {
			return tick.Crash
		}
		for j, x := range a {
			row.Torque[j] = float64(x)
		}
		each(row, tick.Error)
		if err := w.Step(s, a); err != nil {
			return err.Error()
		}
	}
	return ""
}

// always is a payload that stays.
func always(mass float64) func(int) float64 { return func(int) float64 { return mass } }

// Fly returns the mean error of a method under a payload, kg, along a reference, m, and why the flight ended early.
func (m *Method) Fly(w World[float32], mass float64, r *arm.Reference) (mean float64, crash string) {
	k := 0
	crash = m.follow(w, r, flightSteps, always(mass), func(_ arm.Row, off float64) {
		if k++; k > settling {
			mean += off / (flightSteps - settling)
		}
	})
	if crash != "" {
		return math.NaN(), crash
	}
	return mean, ""
}
