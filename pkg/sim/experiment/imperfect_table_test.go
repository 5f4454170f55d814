package experiment

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// readRuns reads those of a file that keepRun wrote, none where there is no file.
func readRuns(t *testing.T, file string) (out []*imperfectRun) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		r := &imperfectRun{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, r)
	}
	return out
}

// keepRun appends a run to a file, a line each.
func keepRun(t *testing.T, file string, r *imperfectRun) {
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// imperfectTable sums runs up by fault and smoothing, over seeds. A share is of the improvement of the same seed in
// clean state: in the state that was learned from, in a clean one, and of what was learned there, where the clean run's
// policy flies in that state, too. Ratios are to the error of weighted smoothing. Intervals are those of 95 %.
func imperfectTable(runs []*imperfectRun) string {
	var b strings.Builder
	b.WriteString("| state | smoothing | seeds | before | after | in clean state | promoted, worse, refused | " +
		"share kept, % | in clean state, % | of the possible, % | weighted ÷ this |\n" + strings.Repeat("|---", 11) +
		"|\n")
	seen := map[string]bool{}
	for _, first := range runs {
		if key := first.Fault + first.Smoothing; seen[key] {
			continue
		} else {
			seen[key] = true
		}
		var before, after, clean, kept, keptClean, possible, ratio []float64
		promoted, worse, refused := 0, 0, 0
		for _, r := range runs {
			if r.Fault != first.Fault || r.Smoothing != first.Smoothing {
				continue
			}
			now, bare := r.last()
			before, after, clean = append(before, r.Before), append(after, now), append(clean, bare)
			promoted, worse, refused = promoted+r.Promoted, worse+r.Worse, refused+len(r.Refused)
			if c := find(runs, "clean", "weighted", r.Seed); c != nil && c.Promoted > 0 {
				best, _ := c.last()
				kept = append(kept, (r.Before-now)/(c.Before-best))
				keptClean = append(keptClean, (r.BeforeClean-bare)/(c.Before-best))
				possible = append(possible, (r.Before-now)/(r.Before-c.In[r.Fault]))
			}
			if w := find(runs, r.Fault, "weighted", r.Seed); w != nil {
				weighted, _ := w.last()
				ratio = append(ratio, math.Log(weighted/now))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.3f | %s | %s | %d, %d, %d | %s | %s | %s | %s |\n", first.Fault,
			first.Smoothing, len(before), stat.Mean(before, nil), interval(after, 1, "%.3f"),
			interval(clean, 1, "%.3f"), promoted, worse, refused, interval(kept, 100, "%.0f"),
			interval(keptClean, 100, "%.0f"), interval(possible, 100, "%.0f"), ratios(ratio))
	}
	return b.String()
}

// last are a run's errors after all rounds: in the state that it learned from, and in a clean one.
func (r *imperfectRun) last() (own, clean float64) {
	n := len(r.After) - 1
	return r.After[n], r.Clean[n]
}

func find(runs []*imperfectRun, fault, smoothing string, seed uint64) *imperfectRun {
	for _, r := range runs {
		if r.Fault == fault && r.Smoothing == smoothing && r.Seed == seed {
			return r
		}
	}
	return nil
}

// interval is the mean of x times a unit, with that of 95 % by Student's t.
func interval(x []float64, unit float64, format string) string {
	mean, half := student(x)
	if math.IsNaN(mean) {
		return ""
	}
	return fmt.Sprintf(format+" ± "+format, unit*mean, unit*half)
}

// ratios is the geometric mean of what has the logarithms x, with its interval.
func ratios(x []float64) string {
	mean, half := student(x)
	if math.IsNaN(mean) {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half))
}

// student is the mean of x and half the width of its interval of 95 %.
func student(x []float64) (mean, half float64) {
	n := float64(len(x))
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	mean, deviation := stat.MeanStdDev(x, nil)
	if n == 1 {
		return mean, math.Inf(1)
	}
	return mean, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * deviation / math.Sqrt(n)
}
