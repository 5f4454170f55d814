package gatestudy

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Report is what a study came to.
type Report struct {
	Build   string  `json:"build,omitempty"` // of the program that judged
	Seed    uint64  `json:"seed"`
	Flights int     `json:"flights"` // of a policy on the true robot
	Blind   bool    `json:"blind"`
	Classes []Count `json:"classes"`
	// Flyable counts the robots that a policy of the study flies, with crashes in 10 % of flights at most.
	Flyable int     `json:"flyable"`
	Flown   []Flown `json:"robots"`
}

// Continues reports whether a study goes on with what a report holds: whole robots of its own draw.
func (r *Report) Continues(o *Options) bool {
	strange := func(f Flown) bool {
		n := f.Robot.Number
		return n < 0 || n >= o.Robots || len(f.Policies) == 0 || len(f.Judged) == 0
	}
	return !slices.ContainsFunc(r.Flown, strange) && r.Build == o.Build &&
		r.Seed == o.Seed && r.Flights == o.Flights && r.Blind == o.Blind
}

// Count is of the pairs of a class.
type Count struct {
	Class    Class   `json:"class"`
	Pairs    int     `json:"pairs"`
	Promoted int     `json:"promoted"`
	Refused  float64 `json:"refused"` // share
}

// NewReport sums a study up.
func NewReport(o *Options, flown []Flown) *Report {
	r := &Report{Build: o.Build, Seed: o.Seed, Flights: o.Flights, Blind: o.Blind, Flown: flown}
	for _, c := range Classes {
		n := Count{Class: c}
		for i := range flown {
			n.add(flown[i].Judged)
		}
		n.Refused = 1 - float64(n.Promoted)/float64(max(1, n.Pairs))
		r.Classes = append(r.Classes, n)
	}
	for i := range flown {
		if best := flown[i].best(); 10*best.Crashes <= o.Flights {
			r.Flyable++
		}
	}
	return r
}

// add counts the pairs of its class.
func (n *Count) add(judged []Judged) {
	for i := range judged {
		if judged[i].Class != n.Class {
			continue
		}
		n.Pairs++
		if judged[i].Pass {
			n.Promoted++
		}
	}
}

// best is the policy that errs least.
func (f *Flown) best() Truth {
	return slices.MinFunc(slices.Collect(maps.Values(f.Policies)), func(a, b Truth) int {
		return cmp.Compare(a.Error, b.Error)
	})
}

// wrong reports whether the gate is wrong about a pair.
func (j *Judged) wrong() bool {
	return j.Pass == (j.Class == SlightWorse || j.Class == Worse) && j.Class != Alike && j.Class != Crashing
}

// WriteText writes the table of classes, and one of what the gate is wrong about, in Markdown.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d robots, seed %d, %d true flights of each policy. A policy of the study flies %d of them.\n\n",
		len(r.Flown), r.Seed, r.Flights, r.Flyable)
	fmt.Fprintln(&b, "| candidate, by true flights | pairs | promoted | refused |\n|---|---|---|---|")
	for _, c := range r.Classes {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% |\n", c.Class, c.Pairs, c.Promoted, 100*c.Refused)
	}
	fmt.Fprintln(&b, "\n| robot | candidate, error | current, error | wrongly | because |\n|---|---|---|---|---|")
	for i := range r.Flown {
		f := &r.Flown[i]
		for k := range f.Judged {
			j := &f.Judged[k]
			if !j.wrong() {
				continue
			}
			verdict := "refused"
			if j.Pass {
				verdict = "promoted"
			}
			fmt.Fprintf(&b, "| %d: %v | %s, %.3f m | %s, %.3f m | %s | %s |\n", j.Robot, f.Robot, j.Candidate,
				j.True[0].Error, j.Current, j.True[1].Error, verdict, strings.Join(j.Reasons, "; "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
