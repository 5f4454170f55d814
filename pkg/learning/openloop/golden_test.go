package openloop

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// fixtures returns the two recorded flights of testdata, in the order of their names, as they stand in
// the files: the reference script does not normalise quaternions either.
func fixtures(t testing.TB) []quad.Flight {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "flights", "*.csv"))
	if err != nil || len(paths) != 2 {
		t.Fatalf("%d flights in testdata (%v), want 2", len(paths), err)
	}
	sort.Strings(paths)
	var flights []quad.Flight
	for _, path := range paths {
		flights = append(flights, readFixture(t, path))
	}
	return flights
}

func readFixture(t testing.TB, path string) quad.Flight {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []quad.Row
	for _, rec := range records[1:] {
		var x [15]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(rec[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, quad.Row{
			T: x[0],
			State: quad.State{
				P: so3.Vec3{X: x[1], Y: x[2], Z: x[3]},
				Q: so3.Quat{W: x[4], X: x[5], Y: x[6], Z: x[7]},
				V: so3.Vec3{X: x[8], Y: x[9], Z: x[10]},
			},
			Command: quad.Command{Thrust: x[11], Rates: so3.Vec3{X: x[12], Y: x[13], Z: x[14]}},
		})
	}
	return quad.Flight{Name: strings.TrimSuffix(filepath.Base(path), ".csv"), Segments: [][]quad.Row{rows}}
}

func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// goldenFilter reads a filter as the reference script writes it.
func goldenFilter(t testing.TB, name string) CommandFilter {
	var a struct{ GT, GW, DW, TT, TW float64 }
	readJSON(t, name, &a)
	return CommandFilter{ThrustGain: a.GT, RateGain: a.GW, RateDelay: a.DW, ThrustLag: a.TT, RateLag: a.TW, Dt: 0.02}
}

// goldenScores are [step][position, velocity, attitude] by predictor and flight.
type goldenScores map[string]map[string][4][3]float64

func relative(got, want float64) float64 { return math.Abs(got-want) / math.Abs(want) }

// compareGolden holds flights and totals against the script's numbers and returns the largest
// relative difference.
func compareGolden(t *testing.T, r *Report, golden goldenScores, tolerance float64) float64 {
	t.Helper()
	if len(r.Predictors) != len(golden) {
		t.Fatalf("predictors %q, want the %d of the golden file", r.Predictors, len(golden))
	}
	worst := 0.0
	hold := func(what string, got Error, want [3]float64) {
		for c, g := range [3]float64{got.Position, got.Velocity, got.Attitude} {
			d := relative(g, want[c])
			worst = math.Max(worst, d)
			if !(d <= tolerance) {
				t.Errorf("%s, channel %d: got %.12g, want %.12g", what, c, g, want[c])
			}
		}
	}
	for p, name := range r.Predictors {
		var pooled [4][3]float64
		for _, f := range r.Flights {
			want, ok := golden[name][f.Flight]
			if !ok {
				t.Fatalf("no golden score of %s on %s", name, f.Flight)
			}
			for i, step := range r.Options.Steps {
				hold(name+" on "+f.Flight+" after "+strconv.Itoa(step), f.Curves[p][step-1], want[i])
				for c := range 3 {
					pooled[i][c] += want[i][c] * want[i][c] / float64(len(golden[name]))
				}
			}
		}
		for i, step := range r.Options.Steps {
			for c := range 3 {
				pooled[i][c] = math.Sqrt(pooled[i][c])
			}
			hold(name+" in total after "+strconv.Itoa(step), r.Total[p][step-1], pooled[i])
		}
	}
	return worst
}

// TestGoldenIdentified: the baselines as Baselines makes them, actuator included, score as in the script.
func TestGoldenIdentified(t *testing.T) {
	flights := fixtures(t)
	baselines, err := Baselines(0.02, flights)
	if err != nil {
		t.Fatal(err)
	}
	want := goldenFilter(t, "identified-actuator.json")
	for _, e := range baselines {
		if e.Actuator == nil {
			continue
		}
		for i, x := range e.Actuator.(*CommandFilter).numbers() {
			if math.Abs(*x-*want.numbers()[i]) > 1e-12 {
				t.Errorf("%s: identified number %d is %g, want %g", e.Name, i, *x, *want.numbers()[i])
			}
		}
	}
	r, err := Score(flights, baselines, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var golden goldenScores
	readJSON(t, "identified.json", &golden)
	t.Logf("largest relative difference %.1e", compareGolden(t, r, golden, 1e-6))
}

// TestGoldenLagged: the same with an actuator of which every number acts.
func TestGoldenLagged(t *testing.T) {
	flights := fixtures(t)
	act := goldenFilter(t, "lagged-actuator.json")
	lin, err := FitLinRecentMean(0.02, flights)
	if err != nil {
		t.Fatal(err)
	}
	ridge, err := FitRidge(0.02, flights, act)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Score(flights, []Entry{
		{NamePrior, Prior{0.02}, nil}, {NameRecentMean, RecentMean{0.02}, nil}, {NameLinRecentMean, lin, nil},
		{NamePriorStar, Prior{0.02}, &act}, {NameRecentMeanStar, RecentMean{0.02}, &act}, {NameRidgeStar, ridge, &act},
	}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var golden goldenScores
	readJSON(t, "lagged.json", &golden)
	t.Logf("largest relative difference %.1e", compareGolden(t, r, golden, 1e-6))
}

func BenchmarkScore(b *testing.B) {
	flights := fixtures(b)
	baselines, err := Baselines(0.02, flights)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Score(flights, baselines, DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFitCommandFilter(b *testing.B) {
	flights := fixtures(b)
	for b.Loop() {
		if _, err := FitCommandFilter(0.02, flights); err != nil {
			b.Fatal(err)
		}
	}
}
