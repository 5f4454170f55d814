package ppo

import (
	"math"

	"vnd/pkg/vnd"
)

// statistics are the mean and variance of rows so far.
type statistics struct {
	Rows         float64
	Mean, Square []float64 // Square is the sum of squared deviations
}

// add takes in rows of width numbers (Chan et al., 1979).
func (s *statistics) add(x []float32, width int) {
	if s.Mean == nil {
		s.Mean, s.Square = make([]float64, width), make([]float64, width)
	}
	n := float64(len(x) / width)
	for j := range width {
		var mean, square float64
		for i := j; i < len(x); i += width {
			mean += float64(x[i]) / n
		}
		for i := j; i < len(x); i += width {
			square += (float64(x[i]) - mean) * (float64(x[i]) - mean)
		}
		off := mean - s.Mean[j]
		s.Square[j] += square + off*off*s.Rows*n/(s.Rows+n)
		s.Mean[j] += off * n / (s.Rows + n)
	}
	s.Rows += n
}

// least is the smallest deviation that is taken for one.
const least = 1e-4

func (s *statistics) write(norm *vnd.Norm[float32]) {
	for j, mean := range s.Mean {
		norm.Mean[j] = float32(mean)
		norm.Scale[j] = float32(1 / max(least, math.Sqrt(s.Square[j]/s.Rows)))
	}
}
