package experiment

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
)

// Two laws fly through a small table without any learning, and one that is not calm is further off.
func TestTableOfLaws(t *testing.T) {
	c := bothTasks(t, 1)
	air, err := ReadAir(world(t, `conditions: {name: ["calm", "up"], wind_z: [0.0, 2.0]}`))
	if err != nil {
		t.Fatal(err)
	}
	scheduled, err := ReadAir(filepath.Join("..", "..", "..", "params", "worlds", "payload.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	references, err := References("hover,steps")
	if err != nil {
		t.Fatal(err)
	}
	calm := air[0].Scenarios[:1]
	p := &Plan{Scenarios: calm, Seconds: 20, Methods: []string{MethodL1, MethodNMPC},
		Table:  &Table{Air: append([]Air{{"calm", calm}}, air...), References: references, Seconds: 4, Settle: 2},
		Report: func(string) {}}
	s, err := c.Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	rows := Tabulate([]*Study{s})
	if len(rows) != 2 || len(rows[0].Cells) != 4 || s.Bundle != nil {
		t.Fatalf("%+v", rows)
	}
	l1, nmpc := rows[0].Cells, rows[1].Cells
	if l1[0].Median > 0.005 || l1[1].Median < 0.1 || nmpc[2].Median < 0.02 || nmpc[2].Median < 3*l1[2].Median {
		t.Errorf("L1 %+v, NMPC %+v", l1, nmpc)
	}
	if n := len(scheduled[0].Scenarios); n != 1 || scheduled[0].Name != "payload" {
		t.Errorf("%d scenarios of %s", n, scheduled[0].Name)
	}
}

// A bundle flies as it is: nobody learns, and its name is its ID.
func TestTableOfABundle(t *testing.T) {
	c := bothTasks(t, 1)
	air, err := ReadAir(world(t, `conditions: {name: ["calm"]}`))
	if err != nil {
		t.Fatal(err)
	}
	references, err := References("hover")
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{Scenarios: air[0].Scenarios, Rounds: 1, Seconds: 8, Methods: []string{MethodBase}, Start: idle(t, c),
		Table: &Table{Air: air, References: references, Seconds: 1, Settle: 0.5}, Report: func(string) {}}
	s, err := c.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if m := s.Methods[0]; len(s.Rounds) > 0 || m.Name != "bundle "+p.Start.ID || len(m.Cells) != 1 {
		t.Errorf("%d rounds, %+v", len(s.Rounds), m)
	}
	if p.Start = nil; !p.learns() {
		t.Error("a base policy needs no training")
	}
}

// A law lands; where the floor throws it up again, the landings of the cell are crashes.
func TestTableOfLandings(t *testing.T) {
	c := bothTasks(t, 1)
	references, err := References("landing")
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{Seconds: 8, Methods: []string{MethodLaw}, Table: &Table{References: references, Seconds: 6},
		Report: func(string) {}}
	for _, floor := range []string{"ground: {damping: 10.0}", "ground: {damping: 0.0, stiffness: 60.0}"} {
		air, err := ReadAir(world(t, floor))
		if err != nil {
			t.Fatal(err)
		}
		p.Scenarios, p.Table.Air = air[0].Scenarios, append(p.Table.Air, air...)
	}
	s, err := c.Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	soft, bouncing := s.Methods[0].Cells[0], s.Methods[0].Cells[1]
	if soft.Mean > 0.1 || soft.Crashes > 0 || bouncing.Crashes == 0 {
		t.Errorf("%+v, on a floor that throws up %+v", soft, bouncing)
	}
}

func TestReferences(t *testing.T) {
	all, err := References(strings.Join(referenceNames, ","))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 2.3, 4, 6, 6.958, 0, 0} {
		fastest := 0.
		for k := range 4000 {
			fastest = max(fastest, all[i].Path.At(4+0.002*float64(k)).V.Norm())
		}
		if all[i].Name != referenceNames[i] || math.Abs(fastest-want) > 0.01 {
			t.Errorf("%s: %.3f m/s", all[i].Name, fastest)
		}
	}
	if a, b := all[5].Path.At(2.99).P, all[5].Path.At(3.01).P; a.Sub(b).Norm() != 1 {
		t.Errorf("steps from %v to %v", a, b)
	}
	if g := greatestThrust(all[4].Path) / quad.Gravity; math.Abs(g-2) > 1e-3 {
		t.Errorf("the race takes %.3f g", g)
	}
	if _, err := References("hover,loop"); err == nil || !strings.Contains(err.Error(), `reference "loop", expected`) {
		t.Errorf("an unknown reference: %v", err)
	}
	if _, err := ReadAir("nowhere.yaml"); err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("an unknown world: %v", err)
	}
}

// Who wins a cell, and how far another is behind the best of the others.
func TestTabulate(t *testing.T) {
	study := func(means ...[2]float64) *Study {
		s := &Study{}
		for i, m := range means {
			method := []string{MethodL1, MethodOurs, MethodOracle}[i]
			s.Methods = append(s.Methods, Measured{Method: method, Cells: []Cell{{Air: "a", Mean: m[0], Tick: 0.1},
				{Air: "b", Mean: m[1], Crashes: int(m[1] / math.MaxFloat64)}}})
		}
		return s
	}
	const crash = math.MaxFloat64
	rows := Tabulate([]*Study{study([2]float64{1, crash}, [2]float64{2, 3}, [2]float64{0, 0}),
		study([2]float64{2.5, crash}, [2]float64{2.2, 5}, [2]float64{0, 0}),
		study([2]float64{1.1, 9}, [2]float64{2.4, 4}, [2]float64{0, 0})})
	if rows[0].Won != 1 || rows[1].Won != 1 || rows[2].Won != 0 || rows[0].Crashes != 2 || rows[0].Tick != 0.1 {
		t.Errorf("%+v", rows)
	}
	if c := rows[1].Cells[1]; c.Median != 4 || c.Least != 3 || c.Most != 5 {
		t.Errorf("%+v", c)
	}
	if mean, less, greater := rows[1].Beside(&rows[0]); math.Abs(mean-2) > 1e-9 || less != 1 || greater != 0 {
		t.Errorf("ours beside L1: %g, less in %d, greater in %d", mean, less, greater)
	}
	if _, less, greater := rows[0].Beside(&rows[1]); less != 0 || greater != 1 {
		t.Errorf("L1 beside ours: less in %d, greater in %d", less, greater)
	}
	a := Compare(rows, 1)
	if !slices.Equal(a.Ratios, []float64{2, 4 / crash}) || a.Equal != 2 || a.Worst != 0 {
		t.Errorf("ours against the others %+v", a)
	}
	rows[0].Cells[1].Median, rows[1].Cells[1].Median = crash, crash
	if a := Compare(rows, 1, MethodOracle); len(a.Ratios) != 1 {
		t.Errorf("where nobody flies %+v", a)
	}
	rows[1].Cells[1].Median = 4
	if a := Compare(rows, 0); !math.IsInf(a.Ratios[1], 1) || a.Equal != 1 || a.Worst != 1 {
		t.Errorf("L1 against the others %+v", a)
	}
	if a := Compare(rows[:1], 0); len(a.Ratios) != 0 {
		t.Errorf("L1 against nobody %+v", a)
	}
}

// Half of the seeds crashed: that is a crash, and no mean of one with a flight.
func TestMedianOfCrashes(t *testing.T) {
	const crash = math.MaxFloat64
	for _, c := range []struct {
		of   []float64
		want float64
	}{{[]float64{1, crash}, crash}, {[]float64{crash, 1, 2, crash}, crash}, {[]float64{3, 1, crash}, 3},
		{[]float64{4, 1, 2, crash}, 3}, {[]float64{crash, crash}, crash}} {
		if m := Median(c.of); m != c.want {
			t.Errorf("%v: %v, expected %v", c.of, m, c.want)
		}
	}
}
