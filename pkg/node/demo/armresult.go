package demo

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// ArmResult is what a demo of an arm came to.
type ArmResult struct {
	Seconds  float64      `json:"seconds"` // of movement
	Payloads []ArmPayload `json:"payloads"`
	Moved    int          `json:"bundles"` // that moved the arm
	Refused  int          `json:"refused"` // candidates that the gate kept back
	Trips    []string     `json:"trips"`   // of the guard, each with its cause
	Bundles  string       `json:"folder"`  // of the bundles
}

// ArmPayload is a payload under which the arm moved.
type ArmPayload struct {
	Payload float64 `json:"payload_kg"`
	// First is the mean distance of the tool from its reference under the first bundle, Last that under the newest that
	// was learned; nil where it did not move the arm.
	First *float64 `json:"first_mm"`
	Last  *float64 `json:"last_mm"`
}

// result measures.
func (w *armWatch) result() *ArmResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &ArmResult{Seconds: w.seconds(), Moved: len(w.errors), Refused: w.refused, Trips: w.trips}
	for _, kg := range payloads {
		p := ArmPayload{Payload: kg}
		for i, id := range w.bundles {
			all := w.errors[id][kg]
			if len(all) == 0 {
				continue
			}
			m := mean(all)
			if i == 0 {
				p.First = &m
			} else {
				p.Last = &m
			}
		}
		f.Payloads = append(f.Payloads, p)
	}
	return f
}

// means are those of the payloads with both numbers, mm.
func (f *ArmResult) means() (first, last float64) {
	var a, b []float64
	for _, p := range f.Payloads {
		if p.First != nil && p.Last != nil {
			a, b = append(a, *p.First), append(b, *p.Last)
		}
	}
	return mean(a), mean(b)
}

// WriteText writes a table, and what it means.
func (f *ArmResult) WriteText(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "payload\tfirst bundle\tnewest bundle\t\n")
	number := func(x *float64) string {
		if x == nil {
			return "-"
		}
		return fmt.Sprintf("%.2f mm", *x)
	}
	for _, p := range f.Payloads {
		fmt.Fprintf(out, "%g kg\t%s\t%s\t\n", p.Payload, number(p.First), number(p.Last))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	first, last := f.means()
	text := "nothing was learned in time: give it more --seconds"
	if first-last == first-last { // not NaN
		text = fmt.Sprintf("the tool was %.2f mm off before learning, %.2f mm after: %.1f times less", first, last,
			first/last)
	}
	_, err := fmt.Fprintf(w, "\n%s\n%.0f s, %d bundles moved the arm, %d candidates were refused, the guard held it "+
		"%d times%s\nbundles are in %s\n", text, f.Seconds, f.Moved, f.Refused, len(f.Trips), causes(f.Trips),
		f.Bundles)
	return err
}

// causes are why the guard held an arm.
func causes(trips []string) string {
	if len(trips) == 0 {
		return ""
	}
	return ": " + strings.Join(trips, "; ")
}
