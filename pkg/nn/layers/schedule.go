package layers

import "math"

// Schedule is a learning rate over the updates of a training.
type Schedule struct {
	Rate   float64 // the rate after warm-up
	Warmup int     // updates of linear rise from 0
	Total  int     // updates until the cosine ends; 0: constant after warm-up
	Final  float64 // share of Rate that is left at the end of the cosine
}

// At is the learning rate of update step, which counts from 0.
func (s Schedule) At(step int) float64 {
	if step < s.Warmup {
		return s.Rate * float64(step+1) / float64(s.Warmup)
	}
	if s.Total <= s.Warmup {
		return s.Rate
	}
	done := min(1, float64(step-s.Warmup)/float64(s.Total-s.Warmup))
	return s.Rate * (s.Final + (1-s.Final)*0.5*(1+math.Cos(math.Pi*done)))
}
