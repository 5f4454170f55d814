package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ResidualAcceleration writes a PNG of what the physics prior misses over time, one panel for each world
// axis: as measured, and as the model predicts it. t is in s; measured[axis] and predicted[axis] are in
// m/s², of t's length; NaN leaves a gap.
func ResidualAcceleration(w io.Writer, title string, t []float64, measured, predicted [3][]float64) error {
	if len(t) < 2 {
		return fmt.Errorf("plot: %d times of residual acceleration, want at least 2", len(t))
	}
	styles := []draw.LineStyle{
		{Color: color.Gray{Y: 0xa0}, Width: vg.Points(0.8)},
		{Color: palette[0], Width: vg.Points(1.4)},
	}
	var panels [][]*plot.Plot
	for axis, name := range []string{"x (east)", "y (north)", "z (up)"} {
		m, p := measured[axis], predicted[axis]
		if len(m) != len(t) || len(p) != len(t) {
			return fmt.Errorf("plot: %d measured and %d predicted accelerations along %s, want %d", len(m), len(p),
				name, len(t))
		}
		rms, left := rmsOf(m, nil), rmsOf(m, p)
		panel := newPanel(fmt.Sprintf("RMS %.2f m/s² measured, %.2f m/s² left over", rms, left), "", name+", m/s²")
		panel.X.Tick.Marker = linearTicks(10)
		if axis == 2 {
			panel.X.Label.Text = "time, s"
		}
		line(panel, t, m, styles[0])
		line(panel, t, p, styles[1])
		panel.X.Min, panel.X.Max = t[0], t[len(t)-1]
		panel.Y.Min, panel.Y.Max = widened(panel.Y.Min, panel.Y.Max)
		panels = append(panels, []*plot.Plot{panel})
	}
	entries := []entry{{"measured", lineMark(styles[0])}, {"predicted", lineMark(styles[1])}}
	return write(w, title, entries, panels, vg.Points(150))
}

// rmsOf is the root mean square of a, or of a − b, over where it is finite; NaN where it never is.
func rmsOf(a, b []float64) float64 {
	sum, n := 0.0, 0
	for i, x := range a {
		if b != nil {
			x -= b[i]
		}
		if x*0 == 0 {
			sum += x * x
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}
