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
var referenceNames = []string{"hover", "eight_2.3", "eight_4", "eight_6", "race", "steps", "landing"}

// References reads names with commas between: hover, figure-eights by their greatest speed in m/s, a race that takes a
// thrust of 2 g, steps of 1 m along x, landings. The figure-eight of 6 m/s and the race are twice as large as the
// others, for the thrust that there is.
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
		case "race":
			path, err = race(6, 2*quad.Gravity)
		case "landing":
			path, err = reference.OfTask("land")
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

// race is a figure-eight of a width, m, at the speed at which its greatest thrust is most, m/s².
func race(width, most float64) (path reference.Reference, err error) {
	lo, hi := 1., 20.
	for hi-lo > 1e-6 {
		speed := (lo + hi) / 2
		if path, err = eight(width, speed); err != nil {
			return nil, err
		}
		if greatestThrust(path) < most {
			lo = speed
		} else {
			hi = speed
		}
	}
	return path, nil
}

// greatestThrust is that of a path that repeats within 10 s, m/s²: gravity, and what its accelerations take.
func greatestThrust(path reference.Reference) (most float64) {
	const begun = 10 // s
	for k := range 2000 {
		a := path.At(begun + 0.005*float64(k)).A
		most = max(most, a.Add(so3.Vec3{Z: quad.Gravity}).Norm())
	}
	return most
}

// steps jump by 1 m along x, to and fro.
type steps struct{ reference.Reference }

const hold = 3 // s, of a step

// Horizon implements reference.Reference: one to, one fro.
func (s steps) Horizon() float64 { return 2 * hold }

// At implements reference.Reference, but for the velocity, which is not continuous.
func (s steps) At(t float64) quad.Reference {
	r := s.Reference.At(t)
	side := 0.5
	if math.Mod(max(t, 0), 2*hold) >= hold {
		side = -side
	}
	r.P = r.P.Add(so3.Vec3{X: side})
	return r
}
