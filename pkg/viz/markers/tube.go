package markers

import (
	"math"

	geometrymsgs "vnd/msgs/geometry_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/core/so3"
	"vnd/pkg/viz/scene"
)

// ring of a tube: the largest error while the reference went on by Apart.
type ring struct {
	centre so3.Vec3
	radius float64
}

const (
	apart = .04 // m, between two rings
	sides = 8   // of a ring
)

// rings of the rows, oldest first.
func rings(rows []scene.TickRow) (out []ring) {
	for i := range rows {
		g, e := rows[i].Goal, rows[i].Error()
		if !finite(g) || e*0 != 0 || !rows[i].Stage.PolicyFlies() { // the guard does not follow the reference
			continue
		}
		if n := len(out); n > 0 && g.Sub(out[n-1].centre).Norm() < apart {
			out[n-1].radius = math.Max(out[n-1].radius, e)
			continue
		}
		out = append(out, ring{g, e})
	}
	return out
}

// Tube is the error around the reference: as wide as the vehicle was off there, in full colour from `full` m on. Where
// the reference stands still it is a ball.
func Tube(rows []scene.TickRow, frame string, stamp int64, full float64) *visualizationmsgs.MarkerArray {
	s := &sheet{header: Header(frame, stamp)}
	hue := func(e float64) stdmsgs.ColorRGBA {
		return between(colour(0x00, 0x9e, 0x73, .25), colour(0xd5, 0x5e, 0x00, .45), e/full)
	}
	switch all := rings(rows); len(all) {
	case 0:
	case 1:
		m := s.add("error tube", visualizationmsgs.MarkerSphere, hue(all[0].radius))
		d := max(2*all[0].radius, .002)
		m.Pose.Position, m.Scale = point(all[0].centre), geometrymsgs.Vector3{X: d, Y: d, Z: d}
	default:
		m := s.add("error tube", visualizationmsgs.MarkerTriangleList, hue(full))
		m.Scale = geometrymsgs.Vector3{X: 1, Y: 1, Z: 1}
		last := all[0].around(tangent(all, 0))
		for i := 1; i < len(all); i++ {
			next := all[i].around(tangent(all, i))
			a, b := hue(all[i-1].radius), hue(all[i].radius)
			for k := range sides {
				j := (k + 1) % sides
				m.Points = append(m.Points, last[k], last[j], next[k], next[k], last[j], next[j])
				m.Colors = append(m.Colors, a, a, b, b, a, b)
			}
			last = next
		}
	}
	return s.array()
}

func tangent(all []ring, i int) so3.Vec3 {
	return all[min(i+1, len(all)-1)].centre.Sub(all[max(i-1, 0)].centre)
}

// around are the corners of a ring, normal to t.
func (r ring) around(t so3.Vec3) (corners [sides]geometrymsgs.Point) {
	up := so3.Vec3{Z: 1}
	if t.Cross(up).Norm() < .1*t.Norm() { // the reference goes up or down
		up = so3.Vec3{X: 1}
	}
	u := t.Cross(up)
	n := u.Norm()
	if n == 0 { // back to where it came from
		u, n = so3.Vec3{Y: 1}, 1
		t = so3.Vec3{X: 1}
	}
	u = u.Scale(1 / n)
	v := t.Cross(u)
	v = v.Scale(1 / v.Norm())
	for k := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / sides)
		corners[k] = point(r.centre.Add(u.Scale(r.radius * cos)).Add(v.Scale(r.radius * sin)))
	}
	return corners
}
