package campaign

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// failing are the rows that are known to fail, with the reason. A row that begins to pass is to be taken off the list.
// The list is of two runs in each cell: rows that fail more seldom are found by make campaign.
var failing = map[string]string{
	"delay": "a calm hover turns little: one of six takes 0.51 s",
}

// policies of all tests: small ones that fly on any machine alike, where make campaign trains those of vnd loop.
var policies = sync.OnceValues(func() (*Policies, error) {
	a, err := bundle.Read("../../flight/control/testdata/a.vnd")
	if err != nil {
		return nil, err
	}
	b, err := bundle.Read("../../flight/control/testdata/b.vnd")
	if err != nil {
		return nil, err
	}
	return NewPolicies(context.Background(), a, b)
})

func made(t *testing.T) *Policies {
	t.Helper()
	p, err := policies()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRows flies each row twice in every cell: `make campaign` does so fifty times.
func TestRows(t *testing.T) {
	if testing.Short() {
		t.Skip("flies for long")
	}
	p := made(t)
	for _, row := range Rows() {
		t.Run(row.ID, func(t *testing.T) {
			if row.Tests != nil {
				t.Skip("its tests are run by themselves")
			}
			runs := 2
			if row.ID == "false-alarms" {
				runs = 1
			}
			o := Options{Rows: []Row{row}, Runs: runs, Seed: 1, Workers: runtime.GOMAXPROCS(0)}
			r, err := Fly(t.Context(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			x, known := &r.Rows[0], failing[row.ID]
			switch {
			case x.Status == NotFlown:
				t.Skip(x.Pass)
			case x.Status == Passed && known != "":
				t.Errorf("the row passes, but is on the list of those that fail: %s", known)
			case x.Status == Failed && known == "":
				for _, f := range x.Worst {
					t.Errorf("%s, %s, %s: %s", f.Run, f.Cell, f.Fault, strings.Join(f.Failed, "; "))
				}
			}
		})
	}
	for id := range failing {
		if _, err := Select(id); err != nil {
			t.Error(err)
		}
	}
}

// TestRunsRepeat: the same row, cell, number and seed give the same flight to the bit; another number another flight.
func TestRunsRepeat(t *testing.T) {
	p := made(t)
	rows, err := Select("6")
	if err != nil {
		t.Fatal(err)
	}
	flown := func(number int) []Tick {
		r, _, err := Replay(p, &rows[0], 4, number, 7)
		if err != nil {
			t.Fatal(err)
		}
		return r.Ticks
	}
	first := flown(3)
	if !reflect.DeepEqual(first, flown(3)) {
		t.Error("a run differs from its replay")
	}
	if reflect.DeepEqual(first, flown(4)) {
		t.Error("two runs are the same flight")
	}
}

func TestSelect(t *testing.T) {
	for names, want := range map[string]string{
		"4": "4", "9-11": "9 10 11", "3b,false-alarms": "3b false-alarms", "2-3,3": "2 2b 3 3b",
	} {
		rows, err := Select(names)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: rows %s, want %s", names, got, want)
		}
	}
	if _, err := Select("4,hail"); err == nil {
		t.Error("a row that is not there")
	}
	seen := map[string]bool{}
	for _, r := range Rows() {
		if seen[r.ID] {
			t.Errorf("two rows %s", r.ID)
		}
		seen[r.ID] = true
	}
}

// TestCheckFailsWithoutANumber: what was never measured does not pass.
func TestCheckFailsWithoutANumber(t *testing.T) {
	for value, want := range map[float64]bool{0.5: true, 1: true, 1.5: false, math.Inf(1): false} {
		if c := (Check{"x", value, 1, "m"}); c.OK() != want {
			t.Errorf("%v within its limit: %v", c, c.OK())
		}
	}
	if c := (Check{"x", math.NaN(), 1, "m"}); c.OK() {
		t.Error("a figure that is no number passes")
	}
}

// TestNodeRows: each test of a row exists, and failures of tests are failures of the row.
func TestNodeRows(t *testing.T) {
	x, err := newTester(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer x.close()
	for _, row := range nodeRows() {
		for _, n := range row.Tests {
			files, err := filepath.Glob(filepath.Join(x.root, "pkg", n.Package, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				return err == nil && bytes.Contains(text, []byte("\nfunc "+n.Name+"(t *testing.T) {"))
			}) {
				t.Errorf("row %s: pkg/%s has no test %s", row.ID, n.Package, n.Name)
			}
		}
	}
	for name, want := range map[string]string{"TestPasses": Passed, "TestFails": Failed, "TestEnds": Failed,
		"TestIsSkipped": NotFlown} {
		t.Setenv("VND_EXAMPLE", "1")
		row := Row{ID: "x", Tests: []NodeTest{{Package: "sim/campaign/testdata/example", Name: name, Each: 3}}}
		r, err := x.fly(t.Context(), &row, 4, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != want || want == Passed && (r.Runs != 6 || r.Failed != 0) || want == Failed && (r.Failed != 2 ||
			len(r.Worst) != 2 || len(r.Worst[0].Failed) == 0) {
			t.Errorf("%s: %+v, expected %s", name, r, want)
		}
	}
	row := Row{Tests: []NodeTest{{Package: "sim/campaign/testdata/example", Name: "TestThatIsNotThere"}}}
	if _, err := x.fly(t.Context(), &row, 1, func() {}); err == nil {
		t.Error("a test that is not there passes")
	}
}

// noBoard is a firmware that did not start.
type noBoard struct{ sim.Firmware }

// A firmware that does not start is an error of the run.
func TestFirmwareThatDoesNotStart(t *testing.T) {
	p := *made(t)
	refused := errors.New("no eeprom")
	p.Firmware = func(sim.World) (sim.Firmware, error) { return (*noBoard)(nil), refused }
	rows, err := Select("44")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Replay(&p, &rows[0], 0, 0, 1); !errors.Is(err, refused) {
		t.Errorf("error %v, expected %v", err, refused)
	}
}
