package reference

import (
	"slices"

	"vnd/pkg/core/so3"
)

// ZigZag flies straight lines from side to side along x in a level plane, resting for a moment at each corner; then,
// unless it ends there, the same way back, over and over.
type ZigZag struct {
	Center       []float64 `param:"center" default:"0,0,1" min:"-10000" max:"10000" unit:"m" doc:"middle: x, y, z in the world"`
	Length       float64   `param:"length" default:"3.0" min:"0.01" max:"1000" unit:"m" doc:"extent along x"`
	Width        float64   `param:"width" default:"1.0" min:"0.01" max:"1000" unit:"m" doc:"extent along y"`
	Legs         int       `param:"legs" default:"6" min:"1" max:"100" doc:"number of lines"`
	Speed        float64   `param:"max_speed" default:"1.5" min:"0.05" max:"20" unit:"m/s" doc:"greatest speed"`
	Acceleration float64   `param:"max_acceleration" default:"4.0" min:"0.05" max:"30" unit:"m/s²" doc:"greatest acceleration"`
	Yaw          float64   `param:"yaw" default:"0.0" min:"-6.3" max:"6.3" unit:"rad" doc:"heading of the body x axis"`
	Repeat       bool      `param:"repeat" default:"true" doc:"fly back and forth; false stays at the end"`
}

// Kind implements Spec.
func (*ZigZag) Kind() string { return "zig_zag" }

// Build implements Spec.
func (s *ZigZag) Build() (Reference, error) {
	c, err := point("center", s.Center)
	if err != nil {
		return nil, err
	}
	var ps []so3.Vec3
	for i := range s.Legs + 1 {
		side := float64(i%2) - 0.5
		ps = append(ps, c.Add(so3.Vec3{X: s.Length * (float64(i)/float64(s.Legs) - 0.5), Y: s.Width * side}))
	}
	if s.Repeat {
		back := slices.Clone(ps[:s.Legs])
		slices.Reverse(back)
		ps = append(ps, back...)
	}
	spec := *s
	return newTrack(&spec, edges(ps, s.Speed, s.Acceleration), s.Yaw, s.Repeat), nil
}
