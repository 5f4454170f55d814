package campaign

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// latentRows are faults of the encoder.
func latentRows() []Row {
	return []Row{
		{ID: "18", Name: "encoder dead, or stopped", Pass: "prior mean ≤ 100 ms", Plan: func(r *Run) {
			r.Bundle = r.policies.Listening
			r.Latent = func(t float64, z *control.Latent) bool {
				for i := range z.Mean {
					z.Mean[i] = 0.1
				}
				return t < 0
			}
		}, Judge: judge(common, priorMeanWithin(0.1))},
		{ID: "19", Name: "latents of 3 … 1e30, novelty 1", Pass: "clipped, no trip", Plan: func(r *Run) {
			r.Bundle = r.policies.Listening
			r.Size = math.Pow(10, 0.5+29.5*r.rng.Float64())
			r.Label = fmt.Sprintf("%.3g", r.Size)
			r.Latent = func(t float64, z *control.Latent) bool {
				for i := range z.Mean {
					z.Mean[i] = float32(r.Size * (2*r.rng.Float64() - 1))
				}
				z.Novelty = 1
				return t >= 0
			}
		}, Judge: judge(common, neverTrips)},
	}
}

// priorMeanWithin wants latents not to be used some seconds after the last; one tick more is the loop's own time.
func priorMeanWithin(limit float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		last := 0.0
		for i := range r.Ticks {
			if k := &r.Ticks[i]; k.FromLatent {
				last = k.T - r.Onset
			}
		}
		tick := 1 / r.Config.Rate
		return []Check{{"latents used after the last", last, limit + tick, "s"}}
	}
}

// bundleRows are faults of bundles and swaps.
func bundleRows() []Row {
	return []Row{
		{ID: "20", Name: "corrupt or foreign bundle", Pass: "the old one flies on, 0 ticks late", Plan: foreign,
			Judge: judge(common, sameCommands)},
		{ID: "21", Name: "well-formed bundle that crashes", Pass: "previous bundle ≤ 0.5 s after the first trip",
			Plan: func(r *Run) {
				b, name, err := r.policies.Crashing(r.rng)
				r.Label = name
				if r.broken = err; err == nil {
					r.Orders = []Order{swap(b, quadrotor.Name, r.Config.Rate)}
				}
			},
			Judge: judge(common, previousWithin(0.5))},
		{ID: "22", Name: "swap at 100 phases of the eight", Pass: "Δ thrust ≤ 2 m/s², tilt + ≤ .1 rad",
			Plan: func(r *Run) {
				b, err := r.policies.other()
				if r.broken = err; err == nil {
					r.Orders = []Order{swap(b, quadrotor.Name, r.Config.Rate)}
				}
			},
			Judge: judge(common, neverTrips, thrustStep(2, 0.1), tilted(0, 0.1))},
	}
}

// foreign plans a bundle that must not fly: bytes changed or cut off, another robot, another Δt.
func foreign(r *Run) {
	data, err := r.Bundle.Encode()
	if r.broken = err; err != nil {
		return
	}
	robot, rate := quadrotor.Name, r.Config.Rate
	switch r.rng.IntN(4) {
	case 0:
		at := r.rng.IntN(len(data))
		r.Label = fmt.Sprintf("bit of byte %d", at)
		data[at] ^= 1 << r.rng.IntN(8)
	case 1:
		r.Label = "cut off"
		data = data[:r.rng.IntN(len(data))]
	case 2:
		r.Label, robot = "another robot", "arm"
	default:
		r.Label, rate = "another rate", rate*0.77
	}
	b, err := bundle.Decode("campaign", data)
	if err != nil {
		return // refused
	}
	r.Orders = []Order{swap(b, robot, rate)}
}

// previousWithin wants the bundle from before a swap back within some seconds after the first trip. A bundle that
// never trips passes.
func previousWithin(limit float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		trip := r.tripAfter(0)
		if math.IsInf(trip, 1) {
			return nil
		}
		for i := range r.Ticks {
			if k := &r.Ticks[i]; k.T >= r.Onset+trip && k.Bundle == r.Bundle.ID {
				return []Check{{"previous bundle back", k.T - r.Onset - trip, limit, "s"}}
			}
		}
		return []Check{{"previous bundle back", math.Inf(1), limit, "s"}}
	}
}

// nearGroundRows are faults of activation, random policies and descents.
func nearGroundRows() []Row {
	return []Row{
		{ID: "28", Name: "reset or activation on the ground, propellers on", Pass: "rises 0 m", Plan: func(r *Run) {
			r.Start, r.Onset, r.After = so3.Vec3{}, 0.5, 4
			if r.rng.IntN(2) == 0 {
				r.Label, r.HandedOver = "handed over, reset", 1
			} else {
				r.Label = "active from the start, reset"
			}
			r.Orders = []Order{reset(r.rng.Float64()), reset(1 + r.rng.Float64())}
		}, Judge: judge(common, func(r *Run) []Check {
			return []Check{{"risen", max(0, r.Highest-r.World.Ground.Feet), 0.02, "m"}}
		})},
		{ID: "29", Name: "random policies at 0.3–3 m of height", Pass: "≥ 99 % common", Share: 0.99,
			Plan: func(r *Run) {
				r.Start.Z = r.between(0.3, 3, "%.2f m")
				r.Onset, r.HandedOver = 1, 1
				r.Path = offset{taskPath(r.Cell.Task), r.Start.Sub(so3.Vec3{Z: 1})}
				r.Bundle, r.broken = r.policies.Random(r.rng)
			}, Judge: judge(common)},
		{ID: "30", Name: "sinking at 0.5–3 m/s", Pass: "floor ≤ 0.5 m/s", Plan: func(r *Run) {
			top := 0.5 + 2.5*r.rng.Float64()
			speed := r.between(0.5, 3, "%.2f m/s")
			r.Label += fmt.Sprintf(" from %.2f m", top)
			r.Start.Z = top
			r.Path = sinking{offset{taskPath(r.Cell.Task), r.Start.Sub(so3.Vec3{Z: 1})}, r.Onset, speed}
		}, Judge: judge(common, func(r *Run) []Check { return []Check{{"touch-down", r.Touchdown, 0.5, "m/s"}} })},
		{ID: "40", Name: "landing on request: touch-down and motors off", Pass: "motors off ≤ 1 s, never in the air",
			Plan:  func(r *Run) { r.Orders = []Order{land(0)} },
			Judge: judge(common, motorsOffWithin(1))},
		{ID: "40b", Name: "a push of 5–15 m/s² for 0.1–0.3 s: hand, rope, net", Pass: "common", Plan: kicked,
			Judge: judge(common)},
	}
}

// kicked plans a push that no wind gives, of 0.1 to 0.3 s: a hand, a rope, the net.
func kicked(r *Run) {
	length := 0.1 + 0.2*r.rng.Float64()
	push := direction(r.rng, false).Scale(r.between(5, 15, "%.1f m/s²"))
	r.Label += fmt.Sprintf(" for %.2f s", length)
	c := &r.World.Conditions
	c.Name = append(c.Name, "push")
	c.WindX, c.WindY = append(c.WindX, c.WindX[0]+push.X), append(c.WindY, c.WindY[0]+push.Y)
	c.WindZ = []float64{0, push.Z}
	r.World, r.broken = r.World.Scheduled([]sim.Switch{{Start: 0, Condition: c.Name[0]},
		{Start: r.Onset, Condition: "push"}, {Start: r.Onset + length, Condition: c.Name[0]}}, 0)
}

// motorsOffWithin wants the motors off some seconds after the robot stands.
func motorsOffWithin(limit float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		if math.IsInf(r.Landed, 1) {
			return []Check{{"touch-down", math.Inf(1), 0, "s"}}
		}
		return []Check{{"motors off after touch-down", r.MotorsOff - r.Landed, limit, "s"}}
	}
}

// taskPath is the path of a task; OfTask knows those of the cells.
func taskPath(task string) reference.Reference {
	path, err := reference.OfTask(task)
	if err != nil {
		panic(err)
	}
	return path
}

// offset is a path elsewhere.
type offset struct {
	reference.Reference
	by so3.Vec3
}

func (o offset) At(t float64) quad.Reference {
	r := o.Reference.At(t)
	r.P = r.P.Add(o.by)
	return r
}

// sinking is a path that goes down at a steady speed from a time on, through the floor: no policy is trained so.
type sinking struct {
	reference.Reference
	from, speed float64
}

func (s sinking) At(t float64) quad.Reference {
	r := s.Reference.At(t)
	if t > s.from {
		r.P.Z -= s.speed * (t - s.from)
		r.V.Z -= s.speed
	}
	return r
}
