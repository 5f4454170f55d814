package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
)

// Names of the tasks.
const (
	Hover    = "hover"    // at a point
	Track    = "track"    // along a reference, the figure-eight unless another is given
	Land     = "land"     // down to a point
	Features = "features" // hovering, seeing known points instead of the position
)

var names = []string{Hover, Track, Land, Features}

// Names of the costs.
const (
	PaperCost = "paper" // the published one, but for two details: see CostOf
	// StiffCost puts position above all. Beyond δ = 0.1 of its unit each term counts an error by its size instead of by
	// its square. Else the few moments after a change of the wind would outweigh centimetres in steady flight
	// (measured: 4 times smaller errors after fine-tuning).
	StiffCost = "stiff"
)

// CostOf returns a task's cost by name. The printed weights are those of the
// paper's "Task Rewards"; its hover cost names the height alone, while its metric
// is the error in space, so position stands there instead. Thrust counts in hover thrusts.
func CostOf(name, task string) (Cost, error) {
	var c Cost
	param.Default(&c)
	switch {
	case name == StiffCost:
		return Cost{Position: 20, Velocity: 0.1, Rates: 0.01, Heading: 1, CommandChange: 0.25, Collision: c.Collision,
			Delta: 0.1}, nil
	case name != PaperCost:
		return c, fmt.Errorf("cost %q, expected %s or %s", name, PaperCost, StiffCost)
	case task == Track:
		return Cost{Position: 1, Velocity: 0.1, Rates: 0.01, Acceleration: 0.01, Attitude: 1, CommandChange: 0.15,
			Collision: c.Collision, Delta: c.Delta}, nil
	}
	return c, nil // paper, hover: the defaults of Cost's tags
}

// radius ends an episode: further off, nobody would fly on.
const radius = 4 // m

// New returns the task of a name under a cost. path is what Track follows; nil is
// the figure-eight.
func New(name string, cost Cost, spread Spread, path reference.Reference) (*Task, error) {
	if err := cost.Check(); err != nil {
		return nil, err
	}
	t := &Task{Name: name, Cost: cost, Radius: radius}
	switch name {
	case Hover, Features:
		r, err := reference.New(defaults(new(reference.Hover)))
		if err != nil {
			return nil, err
		}
		t.Draw = func(rng *rand.Rand) Episode { return spread.Start(r.At, rng) }
	case Track:
		if path == nil {
			var err error
			if path, err = reference.New(defaults(new(reference.FigureEight))); err != nil {
				return nil, err
			}
		}
		t.Draw = func(rng *rand.Rand) Episode {
			begin := path.Horizon() * rng.Float64()
			return spread.Start(func(t float64) quad.Reference { return path.At(begin + t) }, rng)
		}
	case Land:
		const several = 200
		all, err := landings(several)
		if err != nil {
			return nil, err
		}
		t.Draw = func(rng *rand.Rand) Episode {
			r := all[rng.IntN(several)]
			begin := r.Horizon() * rng.Float64()
			return spread.Start(func(t float64) quad.Reference { return r.At(begin + t) }, rng)
		}
	default:
		return newOwn(name, cost, spread, path)
	}
	return t, nil
}

// Points are the known points of Features unless others are given, as the camera
// of an observation has them: the corners of two frames, 2 and 3 m ahead.
func Points() []float64 {
	return []float64{
		2, 0.9, 0.5, 2, -0.9, 0.5, 2, 0.9, -0.5, 2, -0.9, -0.5,
		3, 0.6, 0.3, 3, -0.6, 0.3, 3, 0.6, -0.3, 3, -0.6, -0.3,
	}
}

func defaults[S reference.Spec](s S) S {
	param.Default(s)
	return s
}

// landings returns n landings from up to 1 m aside and 0.5 to 1.5 m above the touch-down. In half of them it moves, at
// up to half a metre per second.
func landings(n int) ([]reference.Reference, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([]reference.Reference, n)
	for i := range out {
		begin := quad.State{Q: so3.Identity(),
			P: so3.Vec3{X: 2*rng.Float64() - 1, Y: 2*rng.Float64() - 1, Z: 0.5 + rng.Float64()}}
		spec := defaults(new(reference.Landing))
		if i%2 == 1 {
			const fastest = 0.5 // m/s
			sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
			v := fastest * rng.Float64()
			spec.ToVelocity = []float64{v * cos, v * sin, 0}
		}
		r, err := reference.New(spec)
		if err != nil {
			return nil, err
		}
		if out[i], err = reference.StartAt(r, &begin); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Split reads a list of names, such as "hover,track": one policy for all. Those of without are refused.
func Split(list string, without ...string) ([]string, error) {
	out := strings.Split(list, ",")
	allowed := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(without, name) })
	for i, name := range out {
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("task %q, expected %s, or several of them with commas between", name,
				strings.Join(allowed, ", "))
		}
		if slices.Contains(out[:i], name) {
			return nil, fmt.Errorf("task %q comes twice", name)
		}
	}
	if len(out) > 1 && slices.Contains(out, Features) {
		return nil, fmt.Errorf("task %q has an observation of its own and stands alone", Features)
	}
	return out, nil
}
