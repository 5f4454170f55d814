package pushing

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"

	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/vnd"
)

// Method is a policy, which may be informed of what is hidden: by the truth, or by a reader.
type Method struct {
	Name     string
	Policy   *vnd.Actor[float32]
	Informed bool
	Reader   *Reader // nil: by the truth
}

// task is t as the policy was trained for it.
func (m *Method) task(t pushlearning.Task) pushlearning.Task {
	t.Informed = m.Informed
	return t
}

// acting has the policy act in episodes of its task.
func (m *Method) acting(e *pushlearning.Episodes) *pushlearning.Acting {
	a := pushlearning.NewActing(m.Policy, e)
	if m.Reader != nil {
		a.Inform = m.Reader.over(e.Size())
	}
	return a
}

// Result is how a method did: with the nominal box, and under hidden conditions.
type Result struct {
	Method
	Nominal, Hidden []Trial
}

// Compare has each method push n nominal boxes and n hidden ones.
func Compare(t pushlearning.Task, n int, seed uint64, methods ...Method) (all []Result, err error) {
	for _, m := range methods {
		r := Result{Method: m}
		r.Nominal, err = Trials(&m, t, n, seed, func(*rand.Rand) Condition { return Nominal })
		if err == nil {
			r.Hidden, err = Trials(&m, t, n, seed, Draw)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Forces are bounds of what it takes to push a box, N: the nominal one takes 3.9.
var Forces = []float64{0, 4, 8, 14, math.Inf(1)}

// Ranges names what lies between them.
func Ranges() (names []string) {
	last := len(Forces) - 2
	for i, lo := range Forces[:last] {
		names = append(names, fmt.Sprintf("%g to %g N", lo, Forces[i+1]))
	}
	return append(names, fmt.Sprintf("over %g N", Forces[last]))
}

// Table writes the share of trials that succeeded: with the nominal box, and over hidden conditions by what it takes to
// push the box.
func Table(w io.Writer, results []Result) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "success, %\tnominal\thidden\t")
	for _, name := range Ranges() {
		fmt.Fprintf(out, "%s\t", name)
	}
	fmt.Fprintln(out)
	for _, r := range results {
		known, _ := Share(r.Nominal, 0, math.Inf(1))
		all, _ := Share(r.Hidden, 0, math.Inf(1))
		fmt.Fprintf(out, "%s\t%.1f\t%.1f\t", r.Name, 100*known, 100*all)
		for i, lo := range Forces[:len(Forces)-1] {
			share, n := Share(r.Hidden, lo, Forces[i+1])
			fmt.Fprintf(out, "%.1f of %d\t", 100*share, n)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}
