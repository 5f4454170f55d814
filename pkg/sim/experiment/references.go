package experiment

import (
	"fmt"
	"math"
	"strings"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
)

// Reference is a path of the table of opponents, by name.
type Reference struct {
	Name string
	Path reference.Reference
}

// referenceNames are those of References, in the order of the table.
var referenceNames = []string{"hover", "eight_2.3", "eight_4", "eight_6", "steps"}

// References reads names with commas between: hover, figure-eights by their greatest speed in m/s, steps of 1 m along
// x. The figure-eight of 6 m/s is twice as large as the others, for the thrust that there is.
func References(names string) (out []Reference, err error) {
	for name := range strings.SplitSeq(names, ",") {
		var path reference.Reference
		switch name {
		case "hover", "steps":
			path, err = reference.OfTask("hover")
			if name == "steps" {
				path = steps{path}
			}
		case "eight_2.3":
			path, err = reference.OfTask("track")
		case "eight_4":
			path, err = eight(3, 4)
		case "eight_6":
			path, err = eight(6, 6)
		default:
			err = fmt.Errorf("reference %q, expected some of %s", name, strings.Join(referenceNames, ", "))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Reference{name, path})
	}
	return out, nil
}

// eight is a figure-eight of a width, m, and a greatest speed, m/s.
func eight(width, speed float64) (reference.Reference, error) {
	s := new(reference.FigureEight)
	param.Default(s)
	s.Width, s.Depth = width, width/3
	s.Period = 2 * math.Pi / speed * math.Hypot(s.Width/2, s.Depth)
	return reference.New(s)
}

// steps jump by 1 m along x, to and fro.
type steps struct{ reference.Reference }

// At implements reference.Reference, but for the velocity, which is not continuous.
func (s steps) At(t float64) quad.Reference {
	const hold = 3 // s
	r := s.Reference.At(t)
	side := 0.5
	if math.Mod(max(t, 0), 2*hold) >= hold {
		side = -side
	}
	r.P = r.P.Add(so3.Vec3{X: side})
	return r
}
