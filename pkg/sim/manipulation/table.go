package manipulation

import (
	"fmt"
	"io"
	"text/tabwriter"

	"vnd/pkg/robot/arm"
)

// Errors of a method under each of Masses, mm: means over references. One that crashed has none.
type Errors struct {
	Name    string
	Means   []float64
	Crashes int
}

// Compare follows references by methods in a world, under each payload.
func Compare(w World[float32], references []*arm.Reference, methods ...Method) (all []Errors) {
	for _, m := range methods {
		e := Errors{Name: m.Name}
		for _, mass := range Masses {
			mean := 0.
			for _, r := range references {
				off, crash := m.Fly(w, mass, r)
				if crash != "" {
					e.Crashes++
				}
				mean += 1000 * off / float64(len(references))
			}
			e.Means = append(e.Means, mean)
		}
		all = append(all, e)
	}
	return all
}

// Table writes what methods err by, and the mean of all payloads.
func Table(w io.Writer, all []Errors) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "mm\t")
	for _, mass := range Masses {
		fmt.Fprintf(out, "%g kg\t", mass)
	}
	fmt.Fprint(out, "mean\tcrashes\t\n")
	for _, e := range all {
		var sum float64
		fmt.Fprintf(out, "%s\t", e.Name)
		for _, mean := range e.Means {
			sum += mean / float64(len(e.Means))
			fmt.Fprintf(out, "%.3f\t", mean)
		}
		fmt.Fprintf(out, "%.3f\t%d\t\n", sum, e.Crashes)
	}
	return out.Flush()
}
