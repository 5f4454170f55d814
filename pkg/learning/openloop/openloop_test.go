package openloop

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

const dt = 0.02

// flown makes a segment of n rows by the rigid body under the given commands and a constant
// acceleration that it does not know, starting at row number first of its clock.
func flown(n, first int, command func(k int) quad.Command, wind so3.Vec3) []quad.Row {
	s := quad.State{P: so3.Vec3{X: 1, Y: 2, Z: 3}, Q: so3.Identity(), V: so3.Vec3{X: 0.5}}
	rows := make([]quad.Row, n)
	for k := range rows {
		rows[k] = quad.Row{T: float64(first+k) * dt, State: s, Command: command(k)}
		s = rigidStep(s, rows[k].Command, dt)
		s.P, s.V = s.P.Add(wind.Scale(dt*dt/2)), s.V.Add(wind.Scale(dt))
	}
	return rows
}

func weaving(k int) quad.Command {
	x := float64(k) * dt
	return quad.Command{Thrust: 9.81 + math.Sin(3*x), Rates: so3.Vec3{X: math.Cos(5 * x), Y: math.Sin(7 * x), Z: 0.3}}
}

// TestRigidStep compares with closed forms: free fall, and a turn about the thrust axis.
func TestRigidStep(t *testing.T) {
	s := quad.State{Q: so3.Identity(), V: so3.Vec3{X: 1, Y: 2, Z: 3}}
	for range 50 {
		s = rigidStep(s, quad.Command{Rates: so3.Vec3{Z: 2}}, dt)
	}
	want := quad.State{
		P: so3.Vec3{X: 1, Y: 2, Z: 3 - quad.Gravity/2},
		Q: so3.Quat{W: math.Cos(1), Z: math.Sin(1)},
		V: so3.Vec3{X: 1, Y: 2, Z: 3 - quad.Gravity},
	}
	if e := errorOf(quadrotors, &s, &want); e.Position > 1e-12 || e.Velocity > 1e-12 || e.Attitude > 1e-10 {
		t.Errorf("free fall: off by %+v", e)
	}
}

// TestRigidStepOrder: halving Δt divides the error of velocity by 16, as RK4 should.
func TestRigidStepOrder(t *testing.T) {
	after := func(n int) so3.Vec3 {
		s := quad.State{Q: so3.Identity()}
		for range n {
			s = rigidStep(s, quad.Command{Thrust: 12, Rates: so3.Vec3{X: 4, Y: -3, Z: 2}}, 1/float64(n))
		}
		return s.V
	}
	exact := after(4096)
	ratio := after(16).Sub(exact).Norm() / after(32).Sub(exact).Norm()
	if ratio < 15 || ratio > 17 {
		t.Errorf("error falls by %g when Δt halves, want 16", ratio)
	}
}

// TestBaselinesOnTheirOwnWorld: without a wind the prior is exact; in a steady wind the recent mean is.
func TestBaselinesOnTheirOwnWorld(t *testing.T) {
	still := quad.Flight{Name: "still", Segments: [][]quad.Row{flown(120, 0, weaving, so3.Vec3{})}}
	windy := quad.Flight{Name: "windy", Segments: [][]quad.Row{flown(120, 0, weaving, so3.Vec3{X: 2, Z: -1})}}
	entries := []Entry{{NamePrior, Prior{dt}, nil}, {NameRecentMean, RecentMean{dt}, nil}}
	r, err := Score([]quad.Flight{still, windy}, entries, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flight, predictor int }{{0, 0}, {0, 1}, {1, 1}} {
		if e := r.Flights[c.flight].Curves[c.predictor][49]; e.Position > 1e-11 || e.Velocity > 1e-11 ||
			e.Attitude > 1e-5 {
			t.Errorf("%s on %s: off by %+v", entries[c.predictor].Name, r.Flights[c.flight].Flight, e)
		}
	}
	want := math.Sqrt(5) // |wind| · 1 s
	if got := r.Flights[1].Curves[0][49].Velocity; relative(got, want) > 1e-9 {
		t.Errorf("the prior's error of velocity after 1 s is %g, want %g", got, want)
	}
	if got := r.Total[0][49].Velocity; relative(got, want/math.Sqrt2) > 1e-9 {
		t.Errorf("in total %g, want %g: flights weigh the same", got, want/math.Sqrt2)
	}
}

// TestErrorOf has known distances.
func TestErrorOf(t *testing.T) {
	a := quad.State{Q: so3.Exp(so3.Vec3{X: 0.2, Y: 1})}
	b := a
	b.P, b.V = so3.Vec3{X: 3, Y: 4}, so3.Vec3{Z: -2}
	b.Q = a.Q.Mul(so3.Exp(so3.Vec3{Y: math.Pi / 18}))
	b.Q = so3.Quat{W: -b.Q.W, X: -b.Q.X, Y: -b.Q.Y, Z: -b.Q.Z} // the same rotation
	if e := errorOf(quadrotors, &a, &b); e.Position != 5 || e.Velocity != 2 || math.Abs(e.Attitude-10) > 1e-9 {
		t.Errorf("got %+v, want 5 m, 2 m/s, 10°", e)
	}
}

// spy checks that every window is what Score promises, and counts them.
type spy struct {
	t       rapid.TB
	steps   int
	windows int
	starts  map[int]bool // by the clock of the current row
}

func (s *spy) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	for i, w := range windows {
		if len(w) != Context+1 || len(future[i]) != s.steps || len(out[i]) != s.steps {
			s.t.Fatalf("window of %d rows, %d commands, %d states", len(w), len(future[i]), len(out[i]))
		}
		for k := 1; k < len(w); k++ {
			if math.Abs(w[k].T-w[k-1].T-dt) > 1e-9 {
				s.t.Fatalf("window straddles a gap at t = %g", w[k].T)
			}
		}
		if future[i][0] != w[Context].Command {
			s.t.Fatalf("the first future command is not the current row's")
		}
		s.windows++
		row := int(math.Round(w[Context].T / dt))
		if s.starts[row] {
			s.t.Fatalf("two predictions from row %d", row)
		}
		s.starts[row] = true
		for h, c := range future[i] {
			out[i][h] = quad.State{P: so3.Vec3{X: c.Thrust}, Q: so3.Identity()}
		}
	}
	return nil
}

// TestWindows: every start of every segment once, none across a gap, future commands in their place.
func TestWindows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 700), 1, 3).Draw(rt, "lengths")
		steps := rapid.IntRange(1, 60).Draw(rt, "steps")
		stride := rapid.IntRange(1, 7).Draw(rt, "stride")
		f := quad.Flight{Name: "f"}
		first, want := 0, 0
		for _, n := range lengths {
			rows := make([]quad.Row, n)
			for k := range rows {
				row := first + k
				rows[k] = quad.Row{T: float64(row) * dt,
					State:   quad.State{P: so3.Vec3{X: float64(row - 1)}, Q: so3.Identity()},
					Command: quad.Command{Thrust: float64(row)}}
			}
			for k := Context; k+steps < n; k += stride {
				want++
			}
			f.Segments = append(f.Segments, rows)
			first += n + 10
		}
		s := &spy{t: rt, steps: steps, starts: map[int]bool{}}
		r, err := Score([]quad.Flight{f}, []Entry{{"spy", s, nil}},
			Options{Dt: dt, Stride: stride, Steps: []int{steps}})
		if want == 0 {
			if err == nil {
				rt.Fatal("no window and no error")
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if s.windows != want || r.Flights[0].Windows != want {
			rt.Fatalf("%d windows, reported %d, want %d", s.windows, r.Flights[0].Windows, want)
		}
		for h, e := range r.Total[0] { // the command of row k foretells the state of row k+1
			if e.Position != 0 {
				rt.Fatalf("step %d is compared with the wrong row: off by %g", h+1, e.Position)
			}
		}
	})
}

// runaway predicts NaN from its third step; broken fails.
type runaway struct{}

func (runaway) Predict(_ [][]quad.Row, _ [][]quad.Command, out [][]quad.State) error {
	for i := range out {
		for h := range out[i] {
			out[i][h] = quad.State{Q: so3.Identity()}
		}
		out[i][2].V.Y = math.Inf(1)
	}
	return nil
}

type broken struct{}

var errBroken = errors.New("no such sensor")

func (broken) Predict([][]quad.Row, [][]quad.Command, [][]quad.State) error { return errBroken }

func TestScoreRefuses(t *testing.T) {
	long := quad.Flight{Name: "long", Segments: [][]quad.Row{flown(100, 0, weaving, so3.Vec3{})}}
	short := quad.Flight{Name: "short", Segments: [][]quad.Row{flown(70, 0, weaving, so3.Vec3{})}}
	prior := Entry{NamePrior, Prior{dt}, nil}
	for _, c := range []struct {
		flight  quad.Flight
		entries []Entry
		o       Options
		want    string
	}{
		{short, []Entry{prior}, DefaultOptions(), "no flight has a segment of more than 70 rows"},
		{long, []Entry{prior, prior}, DefaultOptions(), `two predictors named "prior"`},
		{long, []Entry{{"mad", runaway{}, nil}}, DefaultOptions(),
			"flight long: mad: prediction from t = 0.4 s is not finite after 3 steps"},
		{long, []Entry{{"bad", broken{}, nil}}, DefaultOptions(), "flight long: bad: no such sensor"},
		{long, []Entry{prior}, Options{Dt: dt, Stride: 0, Steps: []int{1}}, "stride 0"},
		{long, []Entry{prior}, Options{Dt: dt, Stride: 1}, "want a positive dt and stride, and steps"},
		{long, []Entry{prior}, Options{Dt: dt, Stride: 1, Steps: []int{10, 10}}, "want them ascending from 1"},
		{long, []Entry{prior}, Options{Dt: dt, Stride: 1, Steps: []int{0}}, "want them ascending from 1"},
	} {
		_, err := Score([]quad.Flight{c.flight}, c.entries, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := Score([]quad.Flight{long}, []Entry{{"bad", broken{}, nil}}, DefaultOptions()); !errors.Is(err,
		errBroken) {
		t.Errorf("error %v does not wrap its cause", err)
	}
}

// TestBaselinesRefuse: nothing to fit on is an error, not a singular matrix.
func TestBaselinesRefuse(t *testing.T) {
	if baselines, err := Baselines(dt, nil); err != nil || len(baselines) != 2 {
		t.Errorf("without flights to fit on: %v, %v; want the two baselines that need none", baselines, err)
	}
	rest := func(int) quad.Command { return quad.Command{Thrust: quad.Gravity} }
	still := flown(100, 0, rest, so3.Vec3{})
	for want, rows := range map[string][]quad.Row{
		"not enough movement":   still[:1],
		"none is long enough":   flown(60, 0, weaving, so3.Vec3{}),
		"flights to fit on: no": nil,
	} {
		_, err := Baselines(dt, []quad.Flight{{Name: "f", Segments: [][]quad.Row{rows}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// report has a flight too short and two that are not.
func report(t *testing.T) *Report {
	t.Helper()
	flights := fixtures(t)
	flights = append(flights, quad.Flight{Name: "stub", Segments: [][]quad.Row{flights[0].Segments[0][:50]}})
	r, err := Score(flights, []Entry{{NamePrior, Prior{dt}, nil}, {NameRecentMean, RecentMean{dt}, nil}},
		DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReport(t *testing.T) {
	r := report(t)
	if len(r.Skipped) != 1 || r.Skipped[0] != "stub" {
		t.Errorf("skipped %q, want the short one", r.Skipped)
	}
	if r.WriteFlights(&bytes.Buffer{}, 0) == nil {
		t.Error("accepted a step that is not there")
	}
}

func TestTable(t *testing.T) {
	r := report(t)
	var buf bytes.Buffer
	if err := r.WriteTable(&buf, NamePrior, "absent"); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFlights(&buf, 50); err != nil {
		t.Fatal(err)
	}
	text := buf.String()
	mm := func(x float64) string { return strconv.FormatFloat(1e3*x, 'f', 1, 64) }
	for _, want := range []string{
		"2 flights, 84 predictions of 1 s, one every 0.1 s; too short: stub",
		"position, mm", "velocity, mm/s", "attitude, °", "÷ prior", "1.000",
		mm(r.Total[1][49].Position), mm(r.Flights[1].Curves[0][49].Velocity), r.Flights[0].Flight,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "absent") {
		t.Error("a reference that is not among the predictors")
	}
	t.Logf("\n%s", text)
}

func TestJSON(t *testing.T) {
	r := report(t)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Steps []int
		Total map[string]struct {
			Velocity []float64 `json:"velocity_m_s"`
		}
		Flights []struct {
			Flight  string
			Windows int
			Errors  map[string]struct {
				Position []float64 `json:"position_m"`
			}
		}
		Skipped []string
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if v := got.Total[NameRecentMean].Velocity; len(v) != 4 || v[3] != r.Total[1][49].Velocity {
		t.Errorf("total velocity %v in %s", v, data)
	}
	f := got.Flights[1]
	if f.Flight != r.Flights[1].Flight || f.Windows != r.Flights[1].Windows ||
		f.Errors[NamePrior].Position[1] != r.Flights[1].Curves[0][9].Position {
		t.Errorf("flight %+v in %s", f, data)
	}
}
