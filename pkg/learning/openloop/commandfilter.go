package openloop

import (
	"errors"
	"math"
	"sync"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
)

// CommandFilter models what lies between a command and what the airframe does, in five numbers: the actuator that
// baselines of this package see.
type CommandFilter struct {
	ThrustGain float64 `json:"thrust_gain"`
	RateGain   float64 `json:"rate_gain"`
	RateDelay  float64 `json:"rate_delay"` // steps, also broken ones
	ThrustLag  float64 `json:"thrust_lag"` // time constant of a first-order lag, s
	RateLag    float64 `json:"rate_lag"`   // the same, s
	Dt         float64 `json:"dt"`         // Δt of one step, s
}

// Filter returns a copy of a segment whose commands are those that arrive: row k depends on the
// commands of the rows up to k. Before the first row its command is taken to have been held for long.
func (a *CommandFilter) Filter(segment []quad.Row) []quad.Row {
	out := make([]quad.Row, len(segment))
	whole := int(a.RateDelay)
	part := a.RateDelay - float64(whole)
	thrustShare, rateShare := share(a.Dt, a.ThrustLag), share(a.Dt, a.RateLag)
	at := func(k int) so3.Vec3 { return segment[max(k, 0)].Command.Rates }
	var thrust float64
	var rates so3.Vec3
	for k, row := range segment {
		T := a.ThrustGain * row.Command.Thrust
		w := at(k - whole).Scale(1 - part).Add(at(k - whole - 1).Scale(part)).Scale(a.RateGain)
		if k == 0 {
			thrust, rates = T, w
		}
		thrust += thrustShare * (T - thrust)
		rates = rates.Add(w.Sub(rates).Scale(rateShare))
		row.Command = quad.Command{Thrust: thrust, Rates: rates}
		out[k] = row
	}
	return out
}

// share is how much of the way to its input a lag goes in one step.
func share(dt, lag float64) float64 {
	if lag <= 0 {
		return 1
	}
	return 1 - math.Exp(-dt/lag)
}

const (
	identifyFlights = 120 // evenly chosen flights to identify on stand for more
	identifySteps   = 50
	identifyStride  = 25
	identifyRounds  = 4 // of the coordinate search; each halves its steps
)

// FitCommandFilter finds the filter by a coordinate search: it minimises the prior's error of velocity after
// 0.2, 0.5 and 1.0 s (at Δt = 0.02 s), each flight weighing the same.
func FitCommandFilter(dt float64, dev []quad.Flight) (CommandFilter, error) {
	every := max(1, len(dev)/identifyFlights)
	var flights []quad.Flight
	for i := 0; i < len(dev); i += every {
		flights = append(flights, dev[i])
	}
	best := CommandFilter{ThrustGain: 1, RateGain: 1, Dt: dt}
	cost := priorCost(flights, best)
	if math.IsNaN(cost) {
		return best, errors.New("flights to identify the actuator on: none is long enough")
	}
	step := CommandFilter{ThrustGain: .08, RateGain: .1, RateDelay: .5, ThrustLag: .05, RateLag: .02}
	for range identifyRounds {
		for i := range best.numbers() {
			for _, sign := range []float64{1, -1} {
				best, cost = descend(flights, best, cost, i, sign**step.numbers()[i])
			}
		}
		for _, s := range step.numbers() {
			*s /= 2
		}
	}
	return best, nil
}

// numbers are the coordinates of the search, in its order.
func (a *CommandFilter) numbers() []*float64 {
	return []*float64{&a.ThrustGain, &a.RateGain, &a.RateDelay, &a.ThrustLag, &a.RateLag}
}

// descend moves coordinate i by d, never below zero, as long as that lowers the cost.
func descend(flights []quad.Flight, best CommandFilter, cost float64, i int, d float64) (CommandFilter, float64) {
	for {
		next := best
		x := next.numbers()[i]
		*x = math.Max(0, *x+d)
		if next == best {
			return best, cost
		}
		c := priorCost(flights, next)
		if !(c < cost) {
			return best, cost
		}
		best, cost = next, c
	}
}

// priorCost sums the flights' mean square errors of the prior's velocity behind the actuator, NaN when
// no flight has a window. Workers take flights in turn; the sum has a fixed order.
func priorCost(flights []quad.Flight, act CommandFilter) float64 {
	parts := make([]float64, len(flights))
	workers := kernel.Workers()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(flights); i += workers {
				parts[i] = priorCostOf(&flights[i], act)
			}
		})
	}
	wg.Wait()
	sum, found := 0.0, false
	for _, c := range parts {
		if !math.IsNaN(c) {
			sum, found = sum+c, true
		}
	}
	if !found {
		return math.NaN()
	}
	return sum
}

func priorCostOf(f *quad.Flight, act CommandFilter) float64 {
	sum, n := 0.0, 0
	for _, seg := range f.Segments {
		seen := act.Filter(seg)
		for k := Context; k+identifySteps < len(seg); k += identifyStride {
			s := seg[k].State
			for h := 1; h <= identifySteps; h++ {
				s = rigidStep(s, seen[k+h-1].Command, act.Dt)
				if h == 10 || h == 25 || h == 50 {
					e := s.V.Sub(seg[k+h].State.V)
					sum += e.Dot(e)
					n++
				}
			}
		}
	}
	return sum / float64(n) // 0/0 is NaN: no window
}
