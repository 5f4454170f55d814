package experiment

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/smooth"
	"vnd/pkg/robot/quadrotor"
)

// TestPictureOfState draws seconds of a flight with all faults of the state: what was true, what was believed in
// flight, and what was found afterwards within two standard deviations. VND_PICTURE names the file.
func TestPictureOfState(t *testing.T) {
	file := os.Getenv("VND_PICTURE")
	if file == "" {
		t.Skip("draws a picture: VND_PICTURE=state.svg")
	}
	c := hovering(t, 1)
	base, err := c.BasePolicy(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	traces, flight, err := c.Record(base, in(winds(t), "all")[1], c.Tasks[0], 1, 20)
	if err != nil {
		t.Fatal(err)
	}
	const dt = 0.02
	segments := dataset.Join(dt, dataset.FromFlights([]quad.Flight{flight}))
	a, err := quadrotor.Identify(t.Context(), dt, [][]quad.Row{segments[0].QuadRows()})
	if err == nil {
		err = smooth.Fill(t.Context(), dt, a, segments)
	}
	if err != nil {
		t.Fatal(err)
	}
	longest := slices.MaxFunc(segments, func(a, b dataset.Segment) int { return len(a.Rows) - len(b.Rows) })
	p := picture{from: longest.Rows[0].T}
	var truth, found, sure, at, believed []point
	for _, r := range traces[0].Rows {
		truth = append(truth, point{r.T, r.Truth.V.X})
	}
	for k, x := range longest.Smoothed {
		now := longest.Rows[k].T
		if !longest.Rows[k].Missed {
			believed = append(believed, point{now, longest.Rows[k].State.V.X})
		}
		found, at = append(found, point{now, x.V.X}), append(at, point{now, x.V.X + 2*math.Sqrt(x.Velocity)})
		sure = append(sure, point{now, x.V.X - 2*math.Sqrt(x.Velocity)})
	}
	slices.Reverse(sure)
	p.line(append(at, sure...), `fill="#9ecae1" stroke="none"`)
	p.line(believed, `fill="none" stroke="#aaa"`)
	p.line(found, `fill="none" stroke="#08519c" stroke-width="1.5"`)
	p.line(truth, `fill="none" stroke="#d95f02" stroke-width="1.5" stroke-dasharray="5 3"`)
	if err := os.WriteFile(file, []byte(p.svg("velocity along x, m/s")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// point is a number at a time.
type point struct{ t, x float64 }

// Of the picture.
const (
	pictured = 5.0   // s
	across   = 160.0 // pixels per s
	up       = 160.0 // pixels per unit
)

// picture is what is drawn, from a time on.
type picture struct {
	lines strings.Builder
	from  float64
}

// line adds one through points.
func (p *picture) line(points []point, style string) {
	p.lines.WriteString(`<polyline points="`)
	for _, x := range points {
		if s := x.t - p.from; s >= 0 && s <= pictured {
			fmt.Fprintf(&p.lines, "%.1f,%.1f ", 60+across*s, 180-up*x.x)
		}
	}
	fmt.Fprintf(&p.lines, "\" %s/>\n", style)
}

// svg is the whole, with axes.
func (p *picture) svg(label string) string {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 390" font-family="sans-serif" ` +
		`font-size="13">` + "\n" + `<rect width="880" height="390" fill="white"/>` + "\n")
	for x := -1.0; x <= 1; x += 0.5 {
		fmt.Fprintf(&b, `<path d="M60 %.0fh800" stroke="#ddd"/><text x="52" y="%.0f" text-anchor="end">%g</text>`+"\n",
			180-up*x, 184-up*x, x)
	}
	for s := range int(pictured) + 1 {
		fmt.Fprintf(&b, `<text x="%.0f" y="362" text-anchor="middle">%d s</text>`+"\n", 60+across*float64(s), s)
	}
	fmt.Fprintf(&b, `<text x="60" y="14">%s: true (dashed), believed in flight (grey), found afterwards ± 2 σ (blue)`+
		"</text>\n%s</svg>\n", label, p.lines.String())
	return b.String()
}
