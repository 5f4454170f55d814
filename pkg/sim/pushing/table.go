package pushing

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"

	"vnd/pkg/vnd"
)

// Method is a policy with the task that it was trained for.
type Method struct {
	Name     string
	Policy   *vnd.Actor[float32]
	Informed bool
}

// forces are bounds of what it takes to push a box, N: the nominal one takes 3.9.
var forces = []float64{0, 4, 8, 14, math.Inf(1)}

// Table writes the share of n trials that methods succeed in: with the nominal box, and over hidden conditions by what
// it takes to push the box.
func Table(w io.Writer, t Task, n int, seed uint64, methods ...Method) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "success, %\tnominal\thidden\t")
	for i, lo := range forces[:len(forces)-1] {
		fmt.Fprintf(out, "%g to %g N\t", lo, forces[i+1])
	}
	fmt.Fprintln(out)
	for _, m := range methods {
		t.Informed = m.Informed
		nominal, err := Trials(m.Policy, t, n, seed, func(*rand.Rand) Condition { return Nominal })
		if err != nil {
			return err
		}
		hidden, err := Trials(m.Policy, t, n, seed, Draw)
		if err != nil {
			return err
		}
		known, _ := Share(nominal, 0, math.Inf(1))
		all, _ := Share(hidden, 0, math.Inf(1))
		fmt.Fprintf(out, "%s\t%.1f\t%.1f\t", m.Name, 100*known, 100*all)
		for i, lo := range forces[:len(forces)-1] {
			share, n := Share(hidden, lo, forces[i+1])
			fmt.Fprintf(out, "%.1f of %d\t", 100*share, n)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}
