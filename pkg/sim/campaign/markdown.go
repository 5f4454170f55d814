package campaign

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the table for a page: a line for each row, with the worst failure; then the figures.
func (r *Report) WriteMarkdown(w io.Writer) error {
	fmt.Fprintln(w, "| # | injection | criterion | status | failed | by cell | worst: run, fault, what failed |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for i := range r.Rows {
		x := &r.Rows[i]
		count, worst := "", ""
		if x.Status != NotFlown {
			count = fmt.Sprintf("%d of %d", x.Failed, x.Runs)
		}
		if len(x.Worst) > 0 {
			f := &x.Worst[0]
			words := []string{f.Run}
			if f.Fault != "" {
				words = append(words, f.Fault)
			}
			worst = strings.Join(append(words, f.Failed...), "; ")
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", x.ID, x.Name, x.Pass, x.Status, count,
			x.byCell(), worst)
	}
	fmt.Fprintln(w, "\n| # | figure | runs | mean | median | p95 | max | never | unit |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for i := range r.Rows {
		for _, f := range r.Rows[i].Figures {
			fmt.Fprintf(w, "| %s | %s | %d | %s | %s | %s | %s | %d | %s |\n", r.Rows[i].ID, f.Name, f.N,
				short(f.Mean), short(f.Median), short(f.P95), short(f.Max), f.Never, f.Unit)
		}
	}
	_, err := fmt.Fprintf(w, "\n%d flights of %.1f h in %.0f s, %.0f a second.\n", r.Flights, r.Flown/3600, r.Seconds,
		r.Speed)
	return err
}

// short is a figure to three digits.
func short(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.3g", *x)
}
