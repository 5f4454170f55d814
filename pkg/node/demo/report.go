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

// keep makes Out of what the nodes wrote, with a report.
func (d *demo) keep(r *Record, f *Result) error {
	bags, err := filepath.Glob(filepath.Join(d.dir, "bags", "rosbag2_*"))
	if err != nil {
		return err
	}
	if len(bags) != 1 {
		return fmt.Errorf("%s left %d bags, expected one", recorder, len(bags))
	}
	const bag, report = "bag", "report.html"
	if err := os.Rename(bags[0], filepath.Join(d.dir, bag)); err != nil {
		return err
	}
	for _, passing := range []string{"bags", "buffer"} {
		if err := os.RemoveAll(filepath.Join(d.dir, passing)); err != nil {
			return err
		}
	}
	f.Bag, f.Report = filepath.Join(d.Out, bag), filepath.Join(d.Out, report)
	if err := atomicfile.WriteFile(filepath.Join(d.dir, report),
		func(w io.Writer) error { return r.Report(w, f) }); err != nil {
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

// Report writes a report as one HTML file that needs nothing else.
func (r *Record) Report(w io.Writer, f *Result) error {
	t, err := template.New("report").Parse(page)
	if err != nil {
		return err
	}
	pictures, err := r.pictures(f)
	if err != nil {
		return err
	}
	return t.Execute(w, map[string]any{"Flight": f, "Tables": f.tables(), "Sentences": f.sentences(),
		"Pictures": pictures, "World": filepath.Base(f.World)})
}

func (r *Record) pictures(f *Result) (out []picture, err error) {
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
		var b bytes.Buffer
		switch drawing := p.draw(&b, rows, f); {
		case errors.Is(drawing, errNothing):
			continue
		case drawing != nil:
			return nil, drawing
		}
		out = append(out, picture{p.name, p.text,
			template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))})
	}
	return out, nil
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
