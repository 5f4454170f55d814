package flightlog

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

const (
	zigzag = "testdata/datt/march_11__mppi_bc_randzz_x0.75_seed0_1.csv"
	agile  = "testdata/datt/june_04__old.zz_2d_seed7_ppo_2d_0__s1.csv"
)

// text is a flight CSV as a table of strings, for tests to break.
type text [][]string

// straight is n rows of level flight at 1 m/s along x.
func straight(n int) text {
	t := text{slices.Clone(columnNames[:])}
	for k := range n {
		at := fmt.Sprintf("%.2f", 0.02*float64(k))
		t = append(t, []string{at, at, "0", "1", "1", "0", "0", "0", "1", "0", "0", "9.81", "0.01", "0", "0"})
	}
	return t
}

func (t text) String() string {
	var b strings.Builder
	for _, record := range t {
		b.WriteString(strings.Join(record, ",") + "\n")
	}
	return b.String()
}

func parse(t text) (quad.Flight, []Warning, error) {
	return ParseCSV("dir/f.csv", strings.NewReader(t.String()), DefaultOptions())
}

func mustRead(t testing.TB, path string) quad.Flight {
	t.Helper()
	f, warnings, err := ReadCSV(path, DefaultOptions())
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%s: %v, warnings %v", path, err, warnings)
	}
	return f
}

func TestReadRealFlight(t *testing.T) {
	f := mustRead(t, zigzag)
	if f.Name != "march_11__mppi_bc_randzz_x0.75_seed0_1" || len(f.Segments) != 1 || len(f.Segments[0]) != 261 {
		t.Fatalf("flight %q with %d segments, the first of %d rows", f.Name, len(f.Segments), len(f.Segments[0]))
	}
	// The file's second row, by hand.
	want := quad.Row{
		T: 0.02,
		State: quad.State{
			P: so3.Vec3{X: 1.26878, Y: 2.19641, Z: 0.184818},
			Q: so3.Quat{W: 0.999368, X: 0.00141835, Y: 0.0123942, Z: 0.0332741}.Normalize(),
			V: so3.Vec3{X: 0.757993, Y: -0.00937045, Z: 0.00436778},
		},
		Command: quad.Command{Thrust: 10.1174, Rates: so3.Vec3{X: -0.0769849, Y: -0.317118, Z: 0.0365624}},
	}
	if diff := cmp.Diff(want, f.Segments[0][1]); diff != "" {
		t.Fatal(diff)
	}
}

// Every flight of the demo is read without an error or a warning.
func TestReadDemoFlights(t *testing.T) {
	for folder, want := range map[string]int{"train": 16, "test": 7} {
		paths, err := filepath.Glob("../../../params/demo/flights/" + folder + "/*.csv")
		if err != nil || len(paths) != want {
			t.Fatalf("%s: %d flights, expected %d", folder, len(paths), want)
		}
		for _, path := range paths {
			if f := mustRead(t, path); len(f.Segments) != 1 || len(f.Segments[0]) < 500 {
				t.Errorf("%s: %d segments", path, len(f.Segments))
			}
		}
	}
}

func TestAnyOrderOfColumns(t *testing.T) {
	b, err := os.ReadFile(agile)
	if err != nil {
		t.Fatal(err)
	}
	var table text
	for line := range strings.FieldsSeq(string(b)) {
		table = append(table, strings.Split(line, ","))
	}
	want, _, err := parse(table)
	if err != nil {
		t.Fatal(err)
	}
	order := []int{14, 3, 7, 1, 0, 2, 8, 13, 12, 4, 9, 5, 6, 11, 10}
	for i, record := range table {
		moved := make([]string, len(record))
		for k, from := range order {
			moved[k] = " " + record[from]
		}
		table[i] = moved
	}
	table[0][0] = "\ufeff" + strings.TrimSpace(table[0][0]) // as spreadsheets save it
	got, _, err := ParseCSV("dir/f.csv", strings.NewReader(strings.ReplaceAll(table.String(), "\n", "\r\n")),
		DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// badCSV is a file with a fault, and the error that names it.
type badCSV struct {
	spoil func(text) text
	want  string // after the folder
}

func (c badCSV) check(t *testing.T) {
	_, _, err := parse(c.spoil(straight(40)))
	if err == nil || err.Error() != "dir/"+c.want {
		t.Errorf("error\n%v, expected\ndir/%s", err, c.want)
	}
}

// set changes a field; lines count from 1, the header's.
func set(line, column int, value string) func(text) text {
	return func(t text) text { t[line-1][column] = value; return t }
}

// A header or a row with other columns is refused with its line.
func TestCSVWithWrongColumns(t *testing.T) {
	header := "expected the header " + csvHeader
	for name, c := range map[string]badCSV{
		"missing column": {set(1, colQW, "thrust"), `f.csv:1: column "thrust": appears twice`},
		"dropped column": {func(t text) text {
			for i := range t {
				t[i] = t[i][:colWZ]
			}
			return t
		}, `f.csv:1: column "wz": missing, ` + header},
		"unknown column": {set(1, colPX, "x"), `f.csv:1: unknown column "x", ` + header},
		"no header":      {func(t text) text { return t[1:] }, `f.csv:1: unknown column "0.00", ` + header},
		"empty":          {func(t text) text { return nil }, `f.csv: empty, ` + header},
		"only header": {func(t text) text { return t[:1] },
			`f.csv: column "t": the longest stretch without a gap has 0 rows, expected at least 21, 0.02 s apart`},
		"short row": {func(t text) text { t[4] = t[4][:5]; return t },
			`f.csv:5: 5 fields, expected 15 as in the header`},
		"long row": {func(t text) text { t[4] = append(t[4], "7"); return t },
			`f.csv:5: 16 fields, expected 15 as in the header`},
		"quote": {set(7, colVY, `1"2`), `f.csv:7: bare " in non-quoted-field`},
	} {
		t.Run(name, c.check)
	}
}

// A field that is no value of its column is refused with its line and column.
func TestCSVWithWrongValues(t *testing.T) {
	for name, c := range map[string]badCSV{
		"word": {set(9, colPY, "abc"), `f.csv:9: column "py": "abc" is not a number`},
		"long word": {set(9, colPY, strings.Repeat("ab", 500)),
			`f.csv:9: column "py": "abababababababababababab…" is not a number`},
		"blank":         {set(9, colThrust, " "), `f.csv:9: column "thrust": empty, expected a number`},
		"NaN":           {set(12, colQW, "nan"), `f.csv:12: column "qw": "nan", expected a finite number`},
		"infinite":      {set(12, colWZ, "-Inf"), `f.csv:12: column "wz": "-Inf", expected a finite number`},
		"overflow":      {set(12, colWZ, "1e999"), `f.csv:12: column "wz": "1e999", expected a finite number`},
		"quaternion":    {set(3, colQW, "0.98"), `f.csv:3: column "qw": quaternion of norm 0.98, expected 1 ± 0.01`},
		"zero":          {set(3, colQW, "0"), `f.csv:3: column "qw": quaternion of norm 0, expected 1 ± 0.01`},
		"some velocity": {set(7, colVY, ""), `f.csv:7: column "vy": empty, but other velocities are not`},
		"late velocity": {func(t text) text {
			for _, record := range t[1:] {
				record[colVX], record[colVY], record[colVZ] = "", "", ""
			}
			return set(7, colVY, "0.1")(t)
		}, `f.csv:7: column "vy": "0.1", but the velocities of the rows before are empty`},
	} {
		t.Run(name, c.check)
	}
}

// Times that go back, and steps other than Δt, are refused.
func TestCSVWithWrongTimes(t *testing.T) {
	for name, c := range map[string]badCSV{
		"time back":   {set(20, colT, "0.1"), `f.csv:20: column "t": time goes back from 0.34 to 0.1 s`},
		"time stands": {set(20, colT, "0.34"), `f.csv:20: column "t": time stands still at 0.34 s`},
		"short": {func(t text) text { return t[:21] },
			`f.csv: column "t": the longest stretch without a gap has 20 rows, expected at least 21, 0.02 s apart`},
		"80 Hz": {func(t text) text {
			for k, record := range t[1:] {
				record[colT] = fmt.Sprint(0.0125 * float64(k))
			}
			return t
		}, `f.csv: column "t": rows come every 0.0125 s, expected Δt = 0.02 s, or a whole part of it: --config ` +
			"sets it, parameter dt of the block assemble"},
		"10 Hz": {func(t text) text {
			for k, record := range t[1:] {
				record[colT] = fmt.Sprint(0.1 * float64(k))
			}
			return t
		}, `f.csv: column "t": the longest stretch without a gap has 1 rows, expected at least 21, 0.02 s apart ` +
			`(they are 0.1 s apart on average)`},
	} {
		t.Run(name, c.check)
	}
}

func TestReadErrors(t *testing.T) {
	if _, _, err := ReadCSV("no/such.csv", DefaultOptions()); err == nil ||
		err.Error() != "open no/such.csv: no such file or directory" {
		t.Errorf("error %v", err)
	}
	if _, _, err := ReadCSV("testdata", DefaultOptions()); err == nil || !strings.HasPrefix(err.Error(), "testdata: ") {
		t.Errorf("error %v", err)
	}
	for _, spoil := range []func(*Options){
		func(o *Options) { o.Delta = 0 }, func(o *Options) { o.Delta = math.NaN() },
		func(o *Options) { o.Window = 0 }, func(o *Options) { o.Delta = math.Inf(1) },
	} {
		o := DefaultOptions()
		spoil(&o)
		if _, _, err := ReadCSV(zigzag, o); err == nil {
			t.Errorf("options %+v were taken", o)
		}
	}
}

// Quaternions get unit norm and never change sign from row to row.
func TestSignIsContinuous(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table := straight(40)
		for k, record := range table[1:] {
			q := so3.Exp(so3.Vec3{X: 0.1, Z: 0.3 * float64(k)})
			s := rapid.SampledFrom([]float64{1, -1, 1.005, -0.995}).Draw(rt, "scale")
			for i, x := range []float64{q.W, q.X, q.Y, q.Z} {
				record[colQW+i] = fmt.Sprint(s * x)
			}
		}
		f, _, err := parse(table)
		if err != nil {
			rt.Fatal(err)
		}
		for k, step := range f.Segments[0] {
			q := step.State.Q
			if math.Abs(q.Norm()-1) > 1e-12 {
				rt.Fatalf("row %d: norm %v", k, q.Norm())
			}
			if k > 0 {
				p := f.Segments[0][k-1].State.Q
				if p.W*q.W+p.X*q.X+p.Y*q.Y+p.Z*q.Z < 0.9 {
					rt.Fatalf("row %d: %v after %v", k, q, p)
				}
			}
		}
	})
}

func FuzzParseCSV(f *testing.F) {
	f.Add(straight(25).String())
	f.Add(strings.ReplaceAll(straight(25).String(), ",1,0,0,9.81", ",,,,9.81"))
	gap := straight(60)
	f.Add(text(append(gap[:30:30], gap[33:]...)).String())
	f.Add(csvHeader + "\r\n\"0\",0,0,0,-1,0,0,0,0,0,0,0,0,0,1e308\n")
	f.Fuzz(func(t *testing.T, s string) {
		flight, warnings, err := ParseCSV("f.csv", strings.NewReader(s), DefaultOptions())
		if err != nil {
			if msg := err.Error(); !strings.HasPrefix(msg, "f.csv") || strings.ContainsRune(msg, '\n') {
				t.Fatalf("error %q does not name the file in one line", msg)
			}
			return
		}
		for _, w := range warnings {
			if !strings.HasPrefix(w.String(), "f.csv") {
				t.Fatalf("warning %q does not name the file", w)
			}
		}
		for _, segment := range flight.Segments {
			checkRows(t, segment)
		}
	})
}

// checkRows fails where a number is not finite or time goes back.
func checkRows(t *testing.T, segment []quad.Row) {
	for k, step := range segment {
		for c, x := range values(step) {
			if c >= colVX && c <= colVZ {
				continue // the slope between rows 1e-300 s apart may overflow
			}
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("row %d: column %s is %v", k, columnNames[c], x)
			}
		}
		if k > 0 && step.T < segment[k-1].T {
			t.Fatalf("row %d: time goes back", k)
		}
	}
}
