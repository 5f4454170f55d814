package rotorfit

import (
	"math"

	"vnd/pkg/robot/rotors"
)

// Channels are the parts of the measured state whose errors are told apart: p m, v m/s, R rad, w rad/s.
const Channels = 4

// Names are those of the channels.
var Names = [Channels]string{"p", "v", "R", "w"}

// offsets of the channels in the measured state; the attitude is apart.
var offsets = [Channels]int{0, 7, 3, 10}

const attitude = 2

// softness rounds the tip of a norm, whose gradient has no direction there.
const softness = 1e-8

// Errors returns the distance of a prediction from the truth: Euclidean norms and the angle between attitudes.
func Errors(x, truth *[rotors.Measured]float64) (e [Channels]float64) {
	for c, at := range offsets {
		e[c] = math.Sqrt(square(x[at]-truth[at]) + square(x[at+1]-truth[at+1]) + square(x[at+2]-truth[at+2]))
	}
	e[attitude] = Angle([4]float64(x[3:7]), [4]float64(truth[3:7]), false)
	return e
}

func square(x float64) float64 { return x * x }

// Angle is the rotation from a to b, w first, of any norm. Signed takes the sign of w as it is: the angle of opposite
// quaternions of one attitude is 2π then.
func Angle(a, b [4]float64, signed bool) float64 {
	w := a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]
	x := a[0]*b[1] - b[0]*a[1] - (a[2]*b[3] - a[3]*b[2])
	y := a[0]*b[2] - b[0]*a[2] - (a[3]*b[1] - a[1]*b[3])
	z := a[0]*b[3] - b[0]*a[3] - (a[1]*b[2] - a[2]*b[1])
	if !signed {
		w = math.Abs(w)
	}
	return 2 * math.Atan2(math.Sqrt(x*x+y*y+z*z), w)
}

// pull adds to ds[S][Lanes] the gradient of Σ_c weight[c] error_c of one lane's states, and returns that sum.
func pull(states, ds []float64, lane int, truth *[rotors.Measured]float64, weight *[Channels]float64) (loss float64) {
	const n = rotors.Lanes
	for c, at := range offsets {
		if c == attitude || weight[c] == 0 {
			continue
		}
		var d [3]float64
		norm := softness
		for i := range d {
			d[i] = states[(at+i)*n+lane] - truth[at+i]
			norm += d[i] * d[i]
		}
		norm = math.Sqrt(norm)
		loss += weight[c] * norm
		for i := range d {
			ds[(at+i)*n+lane] += weight[c] / norm * d[i]
		}
	}
	return loss + weight[attitude]*pullAngle(states, ds, lane, truth, weight[attitude])
}

// pullAngle adds weight times the gradient of the angle, and returns the angle.
func pullAngle(states, ds []float64, lane int, truth *[rotors.Measured]float64, weight float64) float64 {
	const n, at = rotors.Lanes, 3
	norm, same := 0., 0.
	for i := range 4 {
		q := states[(at+i)*n+lane]
		norm += q * q
		same += q * truth[at+i]
	}
	sine := math.Sqrt(max(norm-same*same, 0) + softness)
	sign := math.Copysign(1, same)
	scale := 2 * weight / (sine*sine + same*same)
	for i := range 4 {
		q := states[(at+i)*n+lane]
		dSine := (q - same*truth[at+i]) / sine
		ds[(at+i)*n+lane] += scale * (math.Abs(same)*dSine - sine*sign*truth[at+i])
	}
	return 2 * math.Atan2(sine, math.Abs(same))
}
