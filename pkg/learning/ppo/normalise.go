package ppo

import (
	"math"

	"vnd/pkg/vnd"
)

// statistics are the mean and variance of rows so far.
type statistics struct {
	rows         float64
	mean, square []float64 // square is the sum of squared deviations
}

// add takes in rows of width numbers (Chan et al., 1979).
func (s *statistics) add(x []float32, width int) {
	if s.mean == nil {
		s.mean, s.square = make([]float64, width), make([]float64, width)
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
		off := mean - s.mean[j]
		s.square[j] += square + off*off*s.rows*n/(s.rows+n)
		s.mean[j] += off * n / (s.rows + n)
	}
	s.rows += n
}

// least is the smallest deviation that is taken for one.
const least = 1e-4

func (s *statistics) write(norm *vnd.Norm[float32]) {
	for j, mean := range s.mean {
		norm.Mean[j] = float32(mean)
		norm.Scale[j] = float32(1 / max(least, math.Sqrt(s.square[j]/s.rows)))
	}
}
