package markers

import (
	"fmt"

	geometrymsgs "vnd/msgs/geometry_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/core/so3"
	"vnd/pkg/viz/scene"
)

// Map lies flat in the world with its middle at `at`: one of the plane's units is Unit.
const Unit = .25 // m

// Latents is the map of the rows' latents in their plane, known ones in blue, new ones in vermilion, the newest as a
// ball.
func Latents(rows []scene.TickRow, p *scene.Plane, at so3.Vec3, frame string,
	stamp int64) *visualizationmsgs.MarkerArray {
	s := &sheet{header: Header(frame, stamp)}
	if p == nil {
		return s.array()
	}
	place := func(r *scene.TickRow) (so3.Vec3, bool) {
		if r.Bundle != p.Bundle || r.Z != len(p.Mean) {
			return so3.Vec3{}, false
		}
		x, y := p.Project(r.Latent[:r.Z])
		v := at.Add(so3.Vec3{X: Unit * x, Y: Unit * y})
		return v, finite(v)
	}
	dots := s.add("latents", visualizationmsgs.MarkerPoints, white)
	dots.Scale = geometrymsgs.Vector3{X: .02, Y: .02}
	for i := range rows {
		if v, ok := place(&rows[i]); ok {
			dots.Points = append(dots.Points, point(v))
			dots.Colors = append(dots.Colors, between(blue, vermilion, float64(rows[i].Novelty)))
		}
	}
	if n := len(rows); n > 0 {
		if v, ok := place(&rows[n-1]); ok {
			now := s.add("latent now", visualizationmsgs.MarkerSphere, orange)
			now.Pose.Position, now.Scale = point(v), geometrymsgs.Vector3{X: .07, Y: .07, Z: .07}
		}
	}
	t := s.add("latents", visualizationmsgs.MarkerTextViewFacing, white)
	t.Pose.Position, t.Scale.Z = point(at.Add(so3.Vec3{Y: -4 * Unit})), .12
	t.Text = fmt.Sprintf("latents: %.0f %% and %.0f %% of their variance", 100*p.Share[0], 100*p.Share[1])
	return s.array()
}
