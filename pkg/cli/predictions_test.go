package cli

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// checkPredictions FLIGHT.csv PREDICTIONS.csv SCORE.json STEPS STRIDE: the predictions are of the rows 20, 20+STRIDE, …
// while STEPS rows remain, 1 … STEPS each, of unit attitude, and their errors, computed here from the two tables, are
// those that the score reports.
func checkPredictions(ts *testscript.TestScript, neg bool, args []string) {
	flight, predictions := table(ts, args[0]), table(ts, args[1])
	steps, err := strconv.Atoi(args[3])
	ts.Check(err)
	stride, err := strconv.Atoi(args[4])
	ts.Check(err)
	line, starts := 0, 0
	squares := make([][3]float64, steps)
	for start := 20; start+steps < len(flight); start += stride {
		starts++
		for step := 1; step <= steps; step++ {
			if line == len(predictions) {
				ts.Fatalf("%s ends before start %d, step %d", args[1], start, step)
			}
			p := predictions[line]
			if line++; p[0] != float64(start) || p[1] != float64(step) {
				ts.Fatalf("%s: row %d is of start %g, step %g, want %d and %d", args[1], line, p[0], p[1], start, step)
			}
			e := errorsOf(p[2:], flight[start+step][1:])
			for i := range e {
				squares[step-1][i] += e[i] * e[i]
			}
			if q := p[5:9]; math.Abs(math.Hypot(math.Hypot(q[0], q[1]), math.Hypot(q[2], q[3]))-1) > 1e-5 {
				ts.Fatalf("%s: row %d: attitude %v is not of unit norm", args[1], line, q)
			}
		}
	}
	if line != len(predictions) {
		ts.Fatalf("%s has %d rows, want %d", args[1], len(predictions), line)
	}
	compareWithScore(ts, args[2], squares, starts)
}

// errorsOf is the distance of positions, m, of velocities, m/s, and of attitudes, degrees.
func errorsOf(p, s []float64) [3]float64 {
	distance := func(lo int) float64 {
		return math.Hypot(math.Hypot(p[lo]-s[lo], p[lo+1]-s[lo+1]), p[lo+2]-s[lo+2])
	}
	// q_s⁻¹ ⊗ q_p: its vector part by components, which keeps small angles exact.
	w := p[3]*s[3] + p[4]*s[4] + p[5]*s[5] + p[6]*s[6]
	x := s[3]*p[4] - s[4]*p[3] - s[5]*p[6] + s[6]*p[5]
	y := s[3]*p[5] + s[4]*p[6] - s[5]*p[3] - s[6]*p[4]
	z := s[3]*p[6] - s[4]*p[5] + s[5]*p[4] - s[6]*p[3]
	angle := 2 * math.Atan2(math.Sqrt(x*x+y*y+z*z), math.Abs(w)) * 180 / math.Pi
	return [3]float64{distance(0), distance(7), angle}
}

func compareWithScore(ts *testscript.TestScript, file string, squares [][3]float64, n int) {
	var score struct {
		Steps []int
		Total map[string]struct {
			Position []float64 `json:"position_m"`
			Velocity []float64 `json:"velocity_m_s"`
			Attitude []float64 `json:"attitude_deg"`
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &score))
	for i, step := range score.Steps {
		got := score.Total["vnd"]
		for c, figures := range [][]float64{got.Position, got.Velocity, got.Attitude} {
			want := math.Sqrt(squares[step-1][c] / float64(n))
			if math.Abs(figures[i]-want) > 1e-5*want {
				ts.Fatalf("after %d steps error %d is %g by the score and %g by the predictions", step, c, figures[i],
					want)
			}
		}
	}
}

// table reads the numbers of a CSV below its header.
func table(ts *testscript.TestScript, file string) [][]float64 {
	records, err := csv.NewReader(strings.NewReader(ts.ReadFile(file))).ReadAll()
	ts.Check(err)
	var rows [][]float64
	for _, r := range records[1:] {
		row := make([]float64, len(r))
		for i := range r {
			row[i], err = strconv.ParseFloat(r[i], 64)
			ts.Check(err)
		}
		rows = append(rows, row)
	}
	return rows
}
