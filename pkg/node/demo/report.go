package demo

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/so3"
	"vnd/pkg/viz/plot"
)

//go:embed report.html
var page string

// Names of what stays in Out.
const bagName, pageName = "bag", "report.html"

// keep makes Out of what the nodes wrote, with a report.
func (d *demo) keep(report func(io.Writer) error) error {
	bags, err := filepath.Glob(filepath.Join(d.dir, "bags", "rosbag2_*"))
	if err != nil {
		return err
	}
	if len(bags) != 1 {
		return d.fleet.complaint(recorder, fmt.Sprintf("left %d bags, expected one", len(bags)))
	}
	if err := os.Rename(bags[0], filepath.Join(d.dir, bagName)); err != nil {
		return err
	}
	for _, passing := range []string{"bags", "buffer", "collected"} {
		if err := os.RemoveAll(filepath.Join(d.dir, passing)); err != nil {
			return err
		}
	}
	if err := atomicfile.WriteFile(filepath.Join(d.dir, pageName), report); err != nil {
		return err
	}
	return d.replace()
}

// replace has the folder become Out.
func (d *demo) replace() error {
	if err := os.Chmod(d.dir, 0o755); err != nil { // a temporary folder is for us alone
		return err
	}
	if err := os.RemoveAll(d.Out); err != nil {
		return err
	}
	return os.Rename(d.dir, d.Out)
}

// picture of the report.
type picture struct {
	Name string
	Text string
	Data template.URL
}

// document is a report.
type document struct {
	Title, Intro  string
	Sentences     []string
	Pictures      []picture
	Tables        []table
	Measured, Bag string // how, and the folder with all topics
}

// write writes one HTML file that needs nothing else.
func (d *document) write(w io.Writer) error {
	t, err := template.New("report").Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, d)
}

// show adds a picture, unless there is nothing to draw.
func (d *document) show(name, text string, draw func(io.Writer) error) error {
	var b bytes.Buffer
	if err := draw(&b); errors.Is(err, errNothing) {
		return nil
	} else if err != nil {
		return err
	}
	d.Pictures = append(d.Pictures, picture{name, text,
		template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))})
	return nil
}

// measured is how the numbers of a flight were.
const measured = "Errors are distances of the true position from the reference at the stamps of the " +
	"controller's steps. T_rec is the time from a switch of the wind until the error stays within " +
	"the envelope of steady flight, the larger of the maxima in the 4 s before the switch and in " +
	"the last 4 s of the stay; with 2 cm more, small later peaks of a periodic reference do not " +
	"count. Data to flight is the time from the newest data of a round on disk to the first step " +
	"of its bundle. Latency is the time from a sample of motion capture published to the command " +
	"for it published, by the middleware's stamps."

// Report writes a report.
func (r *Record) Report(w io.Writer, f *Result) error {
	d := &document{Title: "Learning in flight", Sentences: f.sentences(), Tables: f.tables(), Measured: measured,
		Bag: f.Bag, Intro: fmt.Sprintf("A simulated quadrotor followed a reference for %.0f s (task %s) in %s, flown "+
			"over ROS 2 by nodes that are processes of their own. What they learned from the flight was gated and "+
			"swapped in while they flew.", f.Seconds, f.Task, filepath.Base(f.World))}
	rows := r.rows()
	for _, p := range []struct {
		name, text string
		draw       func(io.Writer, []row, *Result) error
	}{
		{"The flight", "Above, the distance from the reference, every tick; below, the latent that the policy " +
			"flew under, its first two principal " +
			"components. Grounds are winds, dashed lines swaps of the bundle: before the first there is no model, " +
			"so no latent.", r.timeline},
		{"Before and after", "Each wind the first time that it came, under the bundle trained in the nominal " +
			"simulator, and the last time.", r.compared},
		{"Latents", "The latents of the last bundle's flight in the plane of their first two principal " +
			"components: the wind is read from them, nobody tells it.", r.latents},
	} {
		if err := d.show(p.name, p.text, func(w io.Writer) error { return p.draw(w, rows, f) }); err != nil {
			return err
		}
	}
	return d.write(w)
}

// errNothing says that a picture would be empty.
var errNothing = errors.New("nothing to draw")

// timeline draws error and latent over time.
func (r *Record) timeline(w io.Writer, rows []row, f *Result) error {
	if len(rows) == 0 {
		return errNothing
	}
	t := plot.Timeline{Title: fmt.Sprintf("%s in %s", f.Task, filepath.Base(f.World))}
	for i := range rows {
		t.T, t.Error = append(t.T, rows[i].T), append(t.Error, rows[i].Error())
		t.Latents = append(t.Latents, rows[i].step.latent())
		if i > 0 && rows[i].step.Bundle != rows[i-1].step.Bundle {
			t.Marks = append(t.Marks, plot.Mark{T: rows[i].T, Name: fmt.Sprintf("%.4s", rows[i].step.Bundle)})
		}
	}
	for _, v := range f.Visits {
		t.Spans = append(t.Spans, plot.Span{From: v.Start, To: v.End, Name: v.Condition, Pale: v.Condition == Calm})
	}
	return t.Write(w)
}

// compared draws the winds before and after.
func (r *Record) compared(w io.Writer, rows []row, f *Result) error {
	var all []plot.Compared
	for _, wind := range f.Winds {
		c := plot.Compared{Name: wind.Condition}
		for _, v := range f.Visits {
			if v.Condition != wind.Condition || v.Number > 1 && v.Mean != wind.End {
				continue
			}
			flown, path := stay(rows, &v)
			if v.Number == 1 {
				c.Before, c.Reference = flown, path
			} else {
				c.After = flown
			}
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return errNothing
	}
	return plot.BeforeAfter(w, "Before and after learning", all)
}

// stay is one visit for a picture, with the reference.
func stay(rows []row, v *Visit) (f plot.Flown, path []so3.Vec3) {
	for i := range rows {
		if w := &rows[i]; w.T >= v.Start && w.T <= v.End {
			f.T, f.P, f.Error = append(f.T, w.T-v.Start), append(f.P, w.Truth.P), append(f.Error, w.Error())
			path = append(path, w.Reference.P)
		}
	}
	return f, path
}

// latents draws those of the bundle that flew last.
func (r *Record) latents(w io.Writer, rows []row, _ *Result) error {
	const every = 5 // ticks
	if len(rows) == 0 {
		return errNothing
	}
	last := rows[len(rows)-1].step.Bundle
	var groups []plot.LatentGroup
	for i := 0; i < len(rows); i += every {
		z := rows[i].step.latent()
		if rows[i].step.Bundle != last || len(z) < 2 {
			continue
		}
		g := slices.IndexFunc(groups, func(g plot.LatentGroup) bool { return g.Name == rows[i].Condition })
		if g < 0 {
			g = len(groups)
			groups = append(groups, plot.LatentGroup{Name: rows[i].Condition})
		}
		groups[g].Latents = append(groups[g].Latents, z)
	}
	if len(groups) == 0 {
		return errNothing
	}
	return plot.LatentPlane(w, fmt.Sprintf("Latents of bundle %.8s", last), groups)
}
