package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"vnd/pkg/viz/plot"
)

// PushResult is what a demo of a pushed box came to.
type PushResult struct {
	Pushes  int       `json:"pushes"`
	Boxes   []PushBox `json:"boxes"`
	Moved   int       `json:"bundles"` // that pushed
	Refused int       `json:"refused"` // candidates that the gate kept back
	Bundles string    `json:"folder"`  // of the bundles
	Bag     string    `json:"bag"`
	Report  string    `json:"report"`
}

// PushBox is a box, and how it was pushed by the first bundle and by the newest that was learned.
type PushBox struct {
	Mass     float64    `json:"mass_kg"`
	Friction float64    `json:"friction"`
	First    PushScores `json:"first"`
	Last     PushScores `json:"last"`
}

// PushScores are those of the pushes of one box by one bundle.
type PushScores struct {
	Pushes  int     `json:"pushes"`
	There   int     `json:"at_goal"`
	Seconds float64 `json:"mean_s"` // of those
}

func (s *PushScores) add(p *pushed) {
	if s.Pushes++; p.there {
		s.There++
		s.Seconds += (p.seconds - s.Seconds) / float64(s.There)
	}
}

func (s *PushScores) String() string {
	switch {
	case s.Pushes == 0:
		return "-"
	case s.There == 0:
		return fmt.Sprintf("0 of %d", s.Pushes)
	}
	return fmt.Sprintf("%d of %d, %.1f s", s.There, s.Pushes, s.Seconds)
}

func boxName(number int) string {
	return fmt.Sprintf("%g kg, friction %g", boxes[number][0], boxes[number][1])
}

// bundlesOf are those that pushed, oldest first.
func bundlesOf(all []pushed) (ids []string) {
	for i := range all {
		if !slices.Contains(ids, all[i].bundle) {
			ids = append(ids, all[i].bundle)
		}
	}
	return ids
}

// result counts.
func (w *pushWatch) result() *PushResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := bundlesOf(w.all)
	f := &PushResult{Pushes: w.ended, Moved: len(ids), Refused: w.refused}
	for number, b := range boxes {
		out := PushBox{Mass: b[0], Friction: b[1]}
		for i := range w.all {
			switch p := &w.all[i]; {
			case p.box != number:
			case p.bundle == ids[0]:
				out.First.add(p)
			case p.bundle == ids[len(ids)-1]:
				out.Last.add(p)
			}
		}
		f.Boxes = append(f.Boxes, out)
	}
	return f
}

// shares are those of all pushes that ended at their goals, %, and how many there were.
func (f *PushResult) shares() (first, last float64, before, after int) {
	var a, b PushScores
	for _, x := range f.Boxes {
		a.Pushes, a.There = a.Pushes+x.First.Pushes, a.There+x.First.There
		b.Pushes, b.There = b.Pushes+x.Last.Pushes, b.There+x.Last.There
	}
	return a.share(), b.share(), a.Pushes, b.Pushes
}

func (s *PushScores) share() float64 { return 100 * float64(s.There) / float64(max(s.Pushes, 1)) }

// table has the boxes.
func (f *PushResult) table() table {
	t := table{Name: "Boxes", Head: []string{"box", "first bundle", "newest bundle"}}
	for i := range f.Boxes {
		t.Rows = append(t.Rows, []string{boxName(i), f.Boxes[i].First.String(), f.Boxes[i].Last.String()})
	}
	return t
}

// bars draws success by box.
func (f *PushResult) bars(out io.Writer) error {
	if f.Pushes == 0 {
		return errNothing
	}
	var names []string
	first, last := plot.Series{Name: "first bundle"}, plot.Series{Name: "newest bundle"}
	for i := range f.Boxes {
		names = append(names, boxName(i))
		first.Values = append(first.Values, f.Boxes[i].First.share())
		last.Values = append(last.Values, f.Boxes[i].Last.share())
	}
	return plot.Bars(out, "pushes that ended at their goals, %", names, []plot.Series{first, last})
}

// sentences are what it means.
func (f *PushResult) sentences() []string {
	first, last, before, after := f.shares()
	text := "nothing was learned in time: give it more --seconds"
	if after > 0 {
		text = fmt.Sprintf("%.0f %% of %d pushes ended at their goals before learning, %.0f %% of %d after", first,
			before, last, after)
	}
	return []string{text, fmt.Sprintf("%d pushes, %d bundles pushed, %d candidates were refused", f.Pushes, f.Moved,
		f.Refused)}
}

// WriteText writes a table, and what it means.
func (f *PushResult) WriteText(w io.Writer) error {
	if err := writeTables(w, f.table()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\nbundles are in %s\nreport: %s\nbag: %s\n", strings.Join(f.sentences(), "\n"),
		f.Bundles, f.Report, f.Bag)
	return err
}
