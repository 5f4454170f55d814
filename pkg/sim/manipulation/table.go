package manipulation

import (
	"fmt"
	"io"
	"text/tabwriter"

	"vnd/pkg/robot/arm"
)

// Table writes the mean error of methods under each payload over references, mm.
func Table(w io.Writer, references []*arm.Reference, methods ...Method) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "mm\t")
	for _, mass := range Masses {
		fmt.Fprintf(out, "%g kg\t", mass)
	}
	fmt.Fprint(out, "mean\tcrashes\t\n")
	for _, m := range methods {
		var sum float64
		crashes := 0
		fmt.Fprintf(out, "%s\t", m.Name)
		for _, mass := range Masses {
			mean := 0.
			for _, r := range references {
				off, crash := m.Fly(mass, r)
				if crash != "" {
					crashes++
				}
				mean += 1000 * off / float64(len(references))
			}
			sum += mean / float64(len(Masses))
			fmt.Fprintf(out, "%.3f\t", mean)
		}
		fmt.Fprintf(out, "%.3f\t%d\t\n", sum, crashes)
	}
	return out.Flush()
}
