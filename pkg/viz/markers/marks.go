// Package markers draws a live scene as messages that rviz and Foxglove show: the flown path, the vehicle with its
// thrust and the acceleration that nothing explains, the error as a tube around the reference, what the model imagined,
// the latents.
//
// All of it is in the frame of the steps. Accelerations are drawn in m per g: one of 9.81 m/s² is Arrow long.
package markers

import (
	"fmt"
	"math"

	builtininterfaces "vnd/msgs/builtin_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/viz/scene"
)

// Arrow is the length of an arrow of 1 g, m.
const Arrow = 0.5

// Colours are M. Okabe's and K. Ito's, as in package plot.
var (
	blue      = colour(0x00, 0x72, 0xb2, 1)
	orange    = colour(0xe6, 0x9f, 0x00, 1)
	green     = colour(0x00, 0x9e, 0x73, 1)
	vermilion = colour(0xd5, 0x5e, 0x00, 1)
	purple    = colour(0xcc, 0x79, 0xa7, 1)
	grey      = colour(0x99, 0x99, 0x99, .8)
	white     = colour(0xf2, 0xf2, 0xf2, 1)
)

func colour(r, g, b uint8, a float32) stdmsgs.ColorRGBA {
	return stdmsgs.ColorRGBA{R: float32(r) / 255, G: float32(g) / 255, B: float32(b) / 255, A: a}
}

// between mixes two colours: 0 is a, 1 and what is no number b.
func between(a, b stdmsgs.ColorRGBA, share float64) stdmsgs.ColorRGBA {
	if share != share {
		return b
	}
	s := float32(min(max(share, 0), 1))
	return stdmsgs.ColorRGBA{R: a.R + s*(b.R-a.R), G: a.G + s*(b.G-a.G), B: a.B + s*(b.B-a.B), A: a.A + s*(b.A-a.A)}
}

// Header of what is drawn at a stamp, ns.
func Header(frame string, stamp int64) stdmsgs.Header {
	return stdmsgs.Header{Stamp: bridge.Time(stamp), FrameID: frame}
}

// Transform is that of the body of a row, in frame.
func Transform(r *scene.TickRow, frame, body string) *tf2msgs.TFMessage {
	t := geometrymsgs.TransformStamped{Header: Header(frame, r.Stamp), ChildFrameID: body}
	p, q := r.State.P, r.State.Q
	t.Transform.Translation = geometrymsgs.Vector3{X: p.X, Y: p.Y, Z: p.Z}
	t.Transform.Rotation = geometrymsgs.Quaternion{X: q.X, Y: q.Y, Z: q.Z, W: q.W}
	return &tf2msgs.TFMessage{Transforms: []geometrymsgs.TransformStamped{t}}
}

// Flown is the path of rows, oldest first.
func Flown(rows []scene.TickRow, frame string) *navmsgs.Path {
	m := &navmsgs.Path{Poses: make([]geometrymsgs.PoseStamped, len(rows))}
	for i := range rows {
		bridge.PutPoseStamped(&m.Poses[i], rows[i].Stamp, frame, rows[i].State)
		m.Header = m.Poses[i].Header
	}
	return m
}

// sheet is a MarkerArray that is being drawn. What is not drawn again disappears after a while.
type sheet struct {
	header  stdmsgs.Header
	markers []visualizationmsgs.Marker
}

// lifetime of a marker: where nothing comes any more nothing is shown.
var lifetime = builtininterfaces.Duration{Sec: 3}

// add adds a marker; it is valid until the next one.
func (s *sheet) add(ns string, kind int32, c stdmsgs.ColorRGBA) *visualizationmsgs.Marker {
	m := visualizationmsgs.NewMarker()
	m.Header, m.Ns, m.Type, m.Color, m.Lifetime = s.header, ns, kind, c, lifetime
	for i := range s.markers {
		if s.markers[i].Ns == ns {
			m.ID++
		}
	}
	m.Pose.Orientation.W = 1
	s.markers = append(s.markers, *m)
	return &s.markers[len(s.markers)-1]
}

func (s *sheet) array() *visualizationmsgs.MarkerArray {
	return &visualizationmsgs.MarkerArray{Markers: s.markers}
}

func point(v so3.Vec3) geometrymsgs.Point { return geometrymsgs.Point{X: v.X, Y: v.Y, Z: v.Z} }

func finite(v so3.Vec3) bool { return v.Sub(v).Norm() == 0 }

// strip adds a line through points.
func (s *sheet) strip(ns string, points []so3.Vec3, width float64, c stdmsgs.ColorRGBA) {
	m := s.add(ns, visualizationmsgs.MarkerLineStrip, c)
	m.Scale.X = width
	for _, p := range points {
		if finite(p) {
			m.Points = append(m.Points, point(p))
		}
	}
	if len(m.Points) < 2 { // rviz refuses it
		s.markers = s.markers[:len(s.markers)-1]
	}
}

func (s *sheet) arrow(ns string, from, along so3.Vec3, c stdmsgs.ColorRGBA) {
	const shaft, head, thick = .02, .06, .05 // m
	if !finite(from) || !finite(along) || along.Norm() < thick {
		return
	}
	m := s.add(ns, visualizationmsgs.MarkerArrow, c)
	m.Scale = geometrymsgs.Vector3{X: shaft, Y: thick, Z: head}
	m.Points = []geometrymsgs.Point{point(from), point(from.Add(along))}
}

// Vehicle is the body with its accelerations, where it is to be, and who is in charge.
func Vehicle(r *scene.TickRow, frame, task string) *visualizationmsgs.MarkerArray {
	s := &sheet{header: Header(frame, r.Stamp)}
	if !finite(r.State.P) || !finite(so3.Vec3{X: r.State.Q.X, Y: r.State.Q.Y, Z: r.State.Q.Z}) {
		return s.array()
	}
	s.frame(r)
	const perG = Arrow / quad.Gravity
	s.arrow("thrust", r.State.P, r.State.Q.ZAxis().Scale(r.Sent.Thrust*perG), green)
	s.arrow("residual acceleration", r.State.P, r.Residual.Scale(perG), purple)
	s.aim(r.State.P, r.Goal, .06)
	text := fmt.Sprintf("%s · %v", task, r.Stage)
	if e := r.Error(); e == e {
		text += fmt.Sprintf(" · %.0f mm", 1000*e)
	}
	s.caption(r.State.P, .12, text)
	return s.array()
}

// Tool is where an arm's tool is to be, with the error from where it is, and what moves it.
func Tool(is, to so3.Vec3, frame string, stamp int64, by string) *visualizationmsgs.MarkerArray {
	s := &sheet{header: Header(frame, stamp)}
	if finite(is) && finite(to) {
		s.aim(is, to, .02)
		s.caption(is, .04, fmt.Sprintf("%s · %.1f mm", by, 1000*is.Sub(to).Norm()))
	}
	return s.array()
}

// aim draws a ball where something is to be, and the line to it from where that is.
func (s *sheet) aim(is, to so3.Vec3, size float64) {
	if !finite(to) {
		return
	}
	g := s.add("reference", visualizationmsgs.MarkerSphere, blue)
	g.Pose.Position, g.Scale = point(to), geometrymsgs.Vector3{X: size, Y: size, Z: size}
	s.strip("error", []so3.Vec3{is, to}, size/5, vermilion)
}

// caption writes letters of a size above a place.
func (s *sheet) caption(at so3.Vec3, size float64, text string) {
	t := s.add("state", visualizationmsgs.MarkerTextViewFacing, white)
	t.Pose.Position, t.Scale.Z, t.Text = point(at.Add(so3.Vec3{Z: 3 * size})), size, text
}

// Arm is half the diagonal of the drawn frame, m.
const Arm = .17

// frame draws two arms, the front ends in orange, and four rotors.
func (s *sheet) frame(r *scene.TickRow) {
	arms := s.add("body", visualizationmsgs.MarkerLineList, white)
	arms.Scale.X = .025
	d := Arm / math.Sqrt2
	for _, c := range []so3.Vec3{{X: d, Y: d}, {X: -d, Y: -d}, {X: d, Y: -d}, {X: -d, Y: d}} {
		end := r.State.P.Add(r.State.Q.Rotate(c))
		c1 := white
		if c.X > 0 {
			c1 = orange
		}
		arms.Points = append(arms.Points, point(r.State.P), point(end))
		arms.Colors = append(arms.Colors, c1, c1)
	}
	for _, c := range []so3.Vec3{{X: d, Y: d}, {X: -d, Y: -d}, {X: d, Y: -d}, {X: -d, Y: d}} {
		rotor := s.add("body", visualizationmsgs.MarkerCylinder, colour(0xf2, 0xf2, 0xf2, .35))
		rotor.Pose.Position = point(r.State.P.Add(r.State.Q.Rotate(c)))
		q := r.State.Q
		rotor.Pose.Orientation = geometrymsgs.Quaternion{X: q.X, Y: q.Y, Z: q.Z, W: q.W}
		rotor.Scale = geometrymsgs.Vector3{X: 1.1 * Arm, Y: 1.1 * Arm, Z: .01}
	}
}

// Rollouts are the newest of what was imagined, under the model and under its physics alone.
func Rollouts(imagined []scene.Prediction, frame string, stamp int64) *visualizationmsgs.MarkerArray {
	const most = 5
	s := &sheet{header: Header(frame, stamp)}
	for _, i := range imagined[max(len(imagined)-most, 0):] {
		s.strip("model", i.Model, .02, orange)
		s.strip("physics", i.Physics, .012, grey)
	}
	return s.array()
}
