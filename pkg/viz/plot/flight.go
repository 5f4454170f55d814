package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"vnd/pkg/core/so3"
)

// Flown is one flight for a picture.
type Flown struct {
	Name  string
	T     []float64  // s
	P     []so3.Vec3 // p_W, m
	Error []float64  // position error, m
}

// Flights writes a PNG of flights along one path: from above with the reference, and their errors over time with the
// moments at which something changed.
func Flights(w io.Writer, title string, reference []so3.Vec3, flights []Flown, changes []float64) error {
	return drawFlights(w, title, reference, flights, changes, nil)
}

// FlightsWithHeight is Flights with a panel for the height over time.
func FlightsWithHeight(w io.Writer, title string, reference []so3.Vec3, flights []Flown, changes []float64) error {
	height := newPanel("", "time, s", "height, m")
	return drawFlights(w, title, reference, flights, changes, height)
}

// drawFlights leaves the height out where that is nil.
func drawFlights(w io.Writer, title string, reference []so3.Vec3, flights []Flown, changes []float64,
	height *plot.Plot) error {
	if len(flights) == 0 {
		return fmt.Errorf("plot: no flights")
	}
	above, errors := newPanel("", "x, m", "y, m"), newPanel("", "time, s", "position error, m")
	ground := lineStyle(6)
	ground.Dashes = []vg.Length{4, 3}
	xy := func(p *plot.Plot, points []so3.Vec3) (x, y []float64) {
		for _, v := range points {
			x, y = append(x, v.X), append(y, v.Y)
		}
		return x, y
	}
	x, y := xy(above, reference)
	line(above, x, y, ground)
	entries := []entry{{"reference", lineMark(ground)}}
	top, end := 0., 0.
	for i, f := range flights {
		if len(f.T) == 0 || len(f.P) != len(f.T) || len(f.Error) != len(f.T) {
			return fmt.Errorf("plot: flight %s has %d times, %d positions, %d errors", f.Name, len(f.T), len(f.P),
				len(f.Error))
		}
		x, y := xy(above, f.P)
		line(above, x, y, lineStyle(i))
		line(errors, f.T, f.Error, lineStyle(i))
		if height != nil {
			z := make([]float64, len(f.P))
			for k, p := range f.P {
				z[k] = p.Z
			}
			line(height, f.T, z, lineStyle(i))
		}
		entries = append(entries, entry{f.Name, lineMark(lineStyle(i))})
		for _, e := range f.Error {
			top = max(top, e)
		}
		end = max(end, f.T[len(f.T)-1])
	}
	mark := lineStyle(6)
	mark.Width, mark.Color = vg.Points(0.8), soft
	for _, t := range changes {
		line(errors, []float64{t, t}, []float64{0, top}, mark)
	}
	square(above)
	errors.X.Min, errors.X.Max, errors.Y.Min = 0, end, 0
	panels := []*plot.Plot{above, errors}
	if height != nil {
		line(height, []float64{0, end}, []float64{0, 0}, mark)
		for _, t := range changes {
			line(height, []float64{t, t}, []float64{0, height.Y.Max}, mark)
		}
		height.X.Min, height.X.Max = 0, end
		panels = append(panels, height)
	}
	return write(w, title, entries, [][]*plot.Plot{panels}, vg.Points(300))
}

// square gives both axes of a map the same scale.
func square(p *plot.Plot) {
	half := max(p.X.Max-p.X.Min, p.Y.Max-p.Y.Min, 0.1) * 0.53
	x, y := (p.X.Min+p.X.Max)/2, (p.Y.Min+p.Y.Max)/2
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x-half, x+half, y-half, y+half
}
