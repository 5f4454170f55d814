package demo

import (
	"fmt"
	"io"
	"slices"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/viz/plot"
)

// armTick is one of arm_controller under which a policy commanded.
type armTick struct {
	t, off  float64 // s; of the tool from its reference, m
	payload float64 // kg
	bundle  string
	latent  []float64
}

// onTick keeps what the report draws.
func (w *armWatch) onTick(m *msgs.ArmStep, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !m.Policy || w.begun == 0 {
		return
	}
	x := armTick{t: float64(bridge.Nanoseconds(m.Header.Stamp)-w.begun) / 1e9, payload: w.payload, bundle: m.BundleID,
		off: so3.Vec3(m.Tool).Sub(so3.Vec3(m.Reference)).Norm()}
	for _, z := range m.Latent {
		x.latent = append(x.latent, float64(z))
	}
	w.ticks = append(w.ticks, x)
}

// writeReport writes a page with pictures.
func (w *armWatch) writeReport(out io.Writer, f *ArmResult) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &document{Title: "Learning while an arm moves", Sentences: f.sentences(), Tables: []table{f.table()},
		Bag: f.Bag, Intro: fmt.Sprintf("A simulated Panda had its tool follow a circle for %.0f s, moved over ROS 2 "+
			"by nodes that are processes of their own. Payloads came that nobody told them of. What was learned was "+
			"gated and swapped in while the arm moved.", f.Seconds),
		Measured: fmt.Sprintf("Errors are distances of the tool from its reference by the joints' angles. Those of "+
			"the table are means from %g s after a swap of payloads or bundles on.", settles)}
	err := d.show("The movement", "Above, the distance of the tool from its reference, every tick; below, the "+
		"latent, its first two principal components. Grounds are payloads, dashed lines swaps of the bundle: before "+
		"the first there is no model, so no latent.", w.timeline)
	if err == nil {
		err = d.show("Latents", "The latents under the last bundle in the plane of their first two principal "+
			"components: the payload is read from them, nobody tells it.", w.latents)
	}
	if err != nil {
		return err
	}
	return d.write(out)
}

// timeline draws error and latent over time.
func (w *armWatch) timeline(out io.Writer) error {
	if len(w.ticks) == 0 {
		return errNothing
	}
	p := plot.Timeline{Title: "a circle at 0.25 m/s"}
	for i, x := range w.ticks {
		p.T, p.Error, p.Latents = append(p.T, x.t), append(p.Error, x.off), append(p.Latents, x.latent)
		if i > 0 && x.bundle != w.ticks[i-1].bundle {
			p.Marks = append(p.Marks, plot.Mark{T: x.t, Name: fmt.Sprintf("%.4s", x.bundle)})
		}
		n := len(p.Spans)
		if n == 0 || p.Spans[n-1].Name != kilograms(x.payload) {
			p.Spans = append(p.Spans, plot.Span{From: x.t, Name: kilograms(x.payload), Pale: x.payload == 0})
			n++
		}
		p.Spans[n-1].To = x.t
	}
	return p.Write(out)
}

func kilograms(x float64) string { return fmt.Sprintf("%g kg", x) }

// latents draws those of the bundle that commanded last.
func (w *armWatch) latents(out io.Writer) error {
	const every = 5 // ticks
	if len(w.ticks) == 0 {
		return errNothing
	}
	last := w.ticks[len(w.ticks)-1].bundle
	var groups []plot.LatentGroup
	for i := 0; i < len(w.ticks); i += every {
		x := &w.ticks[i]
		if x.bundle != last || len(x.latent) < 2 {
			continue
		}
		g := slices.IndexFunc(groups, func(g plot.LatentGroup) bool { return g.Name == kilograms(x.payload) })
		if g < 0 {
			g = len(groups)
			groups = append(groups, plot.LatentGroup{Name: kilograms(x.payload)})
		}
		groups[g].Latents = append(groups[g].Latents, x.latent)
	}
	if len(groups) == 0 {
		return errNothing
	}
	return plot.LatentPlane(out, fmt.Sprintf("Latents of bundle %.8s", last), groups)
}
