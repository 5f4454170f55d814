package publictable

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"vnd/pkg/learning/rotorfit"
)

// Row is a line of a table.
type Row struct {
	Name string                     `json:"name"`
	H50  [rotorfit.Channels]float64 `json:"h50"`
	Sum  [rotorfit.Channels]float64 `json:"sum_1_50"`
	// Last are the errors after the last step, where that is beyond 50.
	Last *[rotorfit.Channels]float64 `json:"last,omitempty"`
	// RMS are those of the position after 50 steps and after the last, m.
	RMS *[2]float64 `json:"p_rms,omitempty"`
}

// Row returns the figures as a line of the table.
func (f *Figures) Row(name string) Row {
	c := f.Table()
	r := Row{Name: name, H50: c[49], Sum: c.Sum(50)}
	if len(c) > 50 {
		r.Last, r.RMS = &c[len(c)-1], &f.RMS
	}
	return r
}

// PublishedRows returns the published table.
func (p *Protocol) PublishedRows() (rows []Row) {
	for _, e := range p.Published {
		rows = append(rows, Row{Name: e.Name, H50: e.H50, Sum: e.Sum})
	}
	return rows
}

// Median is the row of each figure's median over the seeds.
func Median(name string, seeds []*Figures) Row {
	of := func(pick func(Row) float64) float64 {
		var x []float64
		for _, f := range seeds {
			x = append(x, pick(f.Row("")))
		}
		slices.Sort(x)
		return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
	}
	r := seeds[0].Row(fmt.Sprintf("%s, median of %d", name, len(seeds)))
	for c := range r.H50 {
		r.H50[c] = of(func(r Row) float64 { return r.H50[c] })
		r.Sum[c] = of(func(r Row) float64 { return r.Sum[c] })
	}
	if r.Last != nil {
		r.Last, r.RMS = new([rotorfit.Channels]float64), new([2]float64)
		for c := range r.Last {
			r.Last[c] = of(func(r Row) float64 { return r.Last[c] })
		}
		for i := range r.RMS {
			r.RMS[i] = of(func(r Row) float64 { return r.RMS[i] })
		}
	}
	return r
}

// WriteTable writes rows as text: errors after 50 steps with their sums over 1 … 50 in brackets, and after the last.
func WriteTable(w io.Writer, rows []Row, steps int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "h = 50 [sum 1…50]\tp m\tv m/s\tR rad\tw rad/s")
	if steps > 50 {
		fmt.Fprintf(t, "\th = %d: p, v, R, w\tp RMS h = 50, %d", steps, steps)
	}
	fmt.Fprintln(t)
	for _, r := range rows {
		fmt.Fprint(t, r.Name)
		for c, e := range r.H50 {
			fmt.Fprintf(t, "\t%.4f [%.4g]", e, r.Sum[c])
		}
		if r.Last != nil {
			fmt.Fprintf(t, "\t%.4f %.4f %.4f %.4f\t%.4f %.4f", r.Last[0], r.Last[1], r.Last[2], r.Last[3], r.RMS[0],
				r.RMS[1])
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
