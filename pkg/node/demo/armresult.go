package demo

import (
	"fmt"
	"io"
	"strings"
)

// ArmResult is what a demo of an arm came to.
type ArmResult struct {
	Seconds  float64      `json:"seconds"` // of movement
	Payloads []ArmPayload `json:"payloads"`
	Moved    int          `json:"bundles"` // that moved the arm
	Refused  int          `json:"refused"` // candidates that the gate kept back
	Trips    []string     `json:"trips"`   // of the guard, each with its cause
	Bundles  string       `json:"folder"`  // of the bundles
	Bag      string       `json:"bag"`
	Report   string       `json:"report"`
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

// table has the payloads.
func (f *ArmResult) table() table {
	t := table{Name: "Payloads", Head: []string{"payload", "first bundle", "newest bundle"}}
	number := func(x *float64) string {
		if x == nil {
			return "-"
		}
		return fmt.Sprintf("%.2f mm", *x)
	}
	for _, p := range f.Payloads {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%g kg", p.Payload), number(p.First), number(p.Last)})
	}
	return t
}

// sentences are what it means.
func (f *ArmResult) sentences() []string {
	first, last := f.means()
	text := "nothing was learned in time: give it more --seconds"
	if first-last == first-last { // not NaN
		text = fmt.Sprintf("the tool was %.2f mm off before learning, %.2f mm after: %.1f times less", first, last,
			first/last)
	}
	return []string{text, fmt.Sprintf("%.0f s, %d bundles moved the arm, %d candidates were refused, the guard held "+
		"it %d times%s", f.Seconds, f.Moved, f.Refused, len(f.Trips), causes(f.Trips))}
}

// WriteText writes a table, and what it means.
func (f *ArmResult) WriteText(w io.Writer) error {
	if err := writeTables(w, f.table()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\nbundles are in %s\nreport: %s\nbag: %s\n", strings.Join(f.sentences(), "\n"),
		f.Bundles, f.Report, f.Bag)
	return err
}

// causes are why the guard held an arm.
func causes(trips []string) string {
	if len(trips) == 0 {
		return ""
	}
	return ": " + strings.Join(trips, "; ")
}
