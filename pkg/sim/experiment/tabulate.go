package experiment

import (
	"math"
	"slices"
)

// TableRow is a method in the table of some seeds.
type TableRow struct {
	Method, Name string
	Cells        []CellSummary // as in Measured
	Crashes      int           // flights, in all seeds
	Won          int           // cells in which no other method has a smaller median; the oracle does not compete
	Unsolved     float64       // share of a solver's ticks
	Tick         float64       // s, the greatest mean of a cell
}

// CellSummary is a cell over the seeds, m: median, least and greatest. math.MaxFloat64 is a crash.
type CellSummary struct {
	Air, Reference string
	Median         float64
	Least, Most    float64
	Means          []float64 // of the seeds, in their order
}

// Tabulate sums up the tables of some seeds of one study.
func Tabulate(seeds []*Study) []TableRow {
	rows := make([]TableRow, len(seeds[0].Methods))
	for i := range rows {
		r, first := &rows[i], &seeds[0].Methods[i]
		r.Method, r.Name = first.Method, first.Name
		for j, cell := range first.Cells {
			var means []float64
			for _, s := range seeds {
				c := &s.Methods[i].Cells[j]
				means = append(means, c.Mean)
				r.Crashes += c.Crashes
				r.Unsolved += c.Unsolved / float64(len(seeds)*len(first.Cells))
				r.Tick = max(r.Tick, c.Tick)
			}
			r.Cells = append(r.Cells, CellSummary{cell.Air, cell.Reference, Median(means), slices.Min(means),
				slices.Max(means), means})
		}
	}
	for j := range rows[0].Cells {
		if best := best(rows, j, nil); best >= 0 && rows[best].Cells[j].Median < math.MaxFloat64 {
			rows[best].Won++
		}
	}
	return rows
}

// best is the row with the smallest median in a cell, −1 for none, but for the oracle and those that are left out.
func best(rows []TableRow, cell int, without []string) int {
	at := -1
	for i := range rows {
		if rows[i].Method == MethodOracle || slices.Contains(without, rows[i].Method) {
			continue
		}
		if at < 0 || rows[i].Cells[cell].Median < rows[at].Cells[cell].Median {
			at = i
		}
	}
	return at
}

// Against is a method beside the best of all others in each cell that one of them or the method flies.
type Against struct {
	Ratios []float64 // median ÷ that of the best; +Inf with a crash
	Equal  int       // cells in which it is best, or no further than the greatest of the best one's seeds
	Worst  int       // cell of the greatest ratio, of all cells
}

// Compare compares a row with all but those of the named methods.
func Compare(rows []TableRow, row int, without ...string) (a Against) {
	without = append(without, rows[row].Method)
	most := math.Inf(-1)
	for j, c := range rows[row].Cells {
		i := best(rows, j, without)
		if i < 0 {
			break // nobody else flew
		}
		o, ratio := rows[i].Cells[j], math.Inf(1)
		if c.Median < math.MaxFloat64 {
			ratio = c.Median / o.Median
		} else if o.Median == math.MaxFloat64 {
			continue
		}
		if c.Median <= max(o.Median, o.Most) && c.Median < math.MaxFloat64 {
			a.Equal++
		}
		a.Ratios = append(a.Ratios, ratio)
		if ratio > most {
			most, a.Worst = ratio, j
		}
	}
	return a
}

// Beside compares a row with another one: the geometric mean of the ratios of medians, over cells that both fly
// (NaN: none), and in how many cells all of its seeds err less, or more, than all of the other's.
func (r *TableRow) Beside(o *TableRow) (mean float64, less, greater int) {
	var sum, n float64
	for i, c := range r.Cells {
		d := o.Cells[i]
		if c.Most < d.Least {
			less++
		}
		if c.Least > d.Most {
			greater++
		}
		if c.Median < math.MaxFloat64 && d.Median < math.MaxFloat64 {
			sum, n = sum+math.Log(c.Median/d.Median), n+1
		}
	}
	return math.Exp(sum / n), less, greater
}
