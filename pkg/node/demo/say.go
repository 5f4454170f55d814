package demo

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// reportNow says every few seconds how the flight is, until ctx is done.
func (l *listener) reportNow(ctx context.Context) {
	const every = 5 * time.Second
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.mu.Lock()
			if line := l.present(every.Seconds()); line != "" {
				l.report("%s", line)
			}
			l.mu.Unlock()
		}
	}
}

// present is one line: wind, bundle, mean error of the last seconds, latent, what the learner does.
func (l *listener) present(seconds float64) string {
	r := &l.r
	doing := l.newest.Phase
	if l.share > 0 && l.share < 1 {
		doing += fmt.Sprintf(" %.0f %%", 100*l.share)
	}
	switch {
	case len(r.Bundles) == 0 && doing != "":
		return "learner: " + doing
	case len(r.Steps) == 0 || len(r.Winds) == 0:
		return ""
	}
	last := &r.Steps[len(r.Steps)-1]
	sum, n := 0., 0
	for i := len(r.Steps) - 1; i >= 0 && float64(last.Stamp-r.Steps[i].Stamp) < seconds*1e9; i-- {
		if p, ok := r.at(r.Steps[i].Stamp); ok {
			sum += p.Sub(r.Steps[i].Reference).Norm()
			n++
		}
	}
	return fmt.Sprintf("%-6s bundle %.8s  error %.3f m  latent %s  learner: %s", r.Winds[len(r.Winds)-1].Name,
		last.Bundle, sum/float64(max(n, 1)), numbers(last.latent()), doing)
}

// numbers are the first few of a latent.
func numbers(z []float64) string {
	const most = 4
	var b strings.Builder
	for i, x := range z {
		if i == most {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %+.1f", x)
	}
	if b.Len() == 0 {
		return "(prior mean)"
	}
	return "(" + b.String()[1:] + ")"
}

// WriteText prints the flight's tables.
func (f *Result) WriteText(w io.Writer) error {
	if err := writeTables(w, f.tables()...); err != nil {
		return err
	}
	for _, line := range f.sentences() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// writeTables writes tables as text, with a free line behind each.
func writeTables(w io.Writer, all ...table) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, table := range all {
		for _, line := range append([][]string{table.Head}, table.Rows...) {
			fmt.Fprintln(t, strings.Join(line, "\t")+"\t")
		}
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return nil
}

// table of text.
type table struct {
	Name string
	Head []string
	Rows [][]string
}

// tables are what the report and the terminal show.
func (f *Result) tables() []table {
	stays := table{Name: "Every stay of a wind",
		Head: []string{"from s", "wind", "time", "bundle", "mean m", "95 % m", "max m", "T_rec s", "T_rec 2 cm s"}}
	for i := range f.Visits {
		v := &f.Visits[i]
		bundles := make([]string, len(v.Bundles))
		for k, id := range v.Bundles {
			bundles[k] = fmt.Sprintf("%.8s", id)
		}
		line := []string{fmt.Sprintf("%.0f", v.Start), v.Condition, fmt.Sprint(v.Number), strings.Join(bundles, " → "),
			fmt.Sprintf("%.4f", v.Mean), fmt.Sprintf("%.4f", v.P95), fmt.Sprintf("%.4f", v.Max), "–", "–"}
		if v.Recovery != nil {
			line[7], line[8] = recovery(v.Recovery.Literal), recovery(v.Recovery.Wide)
		}
		if v.Guarded {
			line[3] += " (guard)"
		}
		stays.Rows = append(stays.Rows, line)
	}
	versions := table{Name: "Bundles", Head: []string{"bundle", "follows", "data to flight s", "flew s", "mean m"}}
	for _, v := range f.Bundles {
		line := []string{v.ID, v.Parent, "–", fmt.Sprintf("%.1f", v.Seconds), fmt.Sprintf("%.4f", v.Mean)}
		if v.Data > 0 {
			line[2] = fmt.Sprintf("%.1f", v.Data)
		}
		if !v.Flew {
			line[3], line[4] = "not", "–"
		}
		versions.Rows = append(versions.Rows, line)
	}
	return []table{stays, versions}
}

func recovery(s float64) string {
	if s == math.MaxFloat64 {
		return "not"
	}
	return fmt.Sprintf("%.2f", s)
}

// sentences sum up.
func (f *Result) sentences() (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(f.Winds) > 0 {
		say("error in winds that came back, mean: %.4f m before, %.4f m in the end: %.1f × smaller", f.Base, f.End,
			f.Factor)
	} else {
		say("no wind came back under a learned bundle")
	}
	for _, w := range f.Late {
		say("%s, which the first bundle never met: %.4f m the first time, %.4f m the last", w.Condition, w.Base, w.End)
	}
	if c := &f.Recover; c.Returns > 0 {
		say("recovery at %d returns of a wind: median %s s, worst %s s to within 2 cm of the steady envelope; "+
			"median %s s to within the envelope itself",
			c.Returns, recovery(c.Wide.Median), recovery(c.Wide.Worst), recovery(c.Literal.Median))
	}
	learned := 0
	for _, v := range f.Bundles {
		if v.Data > 0 {
			learned++
		}
	}
	say("bundles learned and swapped in flight: %d; candidates that the gate kept back: %d", learned, f.Refused)
	if l := &f.Latency; l.Ticks > 0 {
		say("mocap sample published to command published, %d ticks: median %.2f ms, 99 %% %.2f ms, 99.9 %% %.2f "+
			"ms, worst %.1f ms", l.Ticks, l.P50, l.P99, l.P999, l.Max)
	}
	lost := ""
	for _, l := range f.Losses {
		if l.Count > 0 {
			lost += fmt.Sprintf("; %d %s", l.Count, l.What)
		}
	}
	if lost == "" {
		lost = "; none of " + fmt.Sprint(len(f.Losses)) + " counters counted anything"
	}
	say("lost: %s", lost[2:])
	for _, t := range f.Trips {
		say("the guard tripped at %s", t)
	}
	return append(out, "bag: "+f.Bag, "report: "+f.Report)
}
