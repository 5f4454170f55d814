package reference

import (
	"fmt"
	"math"

	"vnd/pkg/core/so3"
)

// Star flies the straight lines of a star polygon in a level plane over and over, resting for a moment at each tip.
type Star struct {
	Center       []float64 `param:"center" default:"0,0,1" min:"-10000" max:"10000" unit:"m" doc:"middle of the star: x, y, z in the world"`
	Radius       float64   `param:"radius" default:"1.0" min:"0.01" max:"1000" unit:"m" doc:"from the middle to a tip; the first tip lies along x"`
	Tips         int       `param:"tips" default:"5" min:"5" max:"15" doc:"number of tips, odd"`
	Speed        float64   `param:"max_speed" default:"1.5" min:"0.05" max:"20" unit:"m/s" doc:"greatest speed"`
	Acceleration float64   `param:"max_acceleration" default:"4.0" min:"0.05" max:"30" unit:"m/s²" doc:"greatest acceleration"`
	Yaw          float64   `param:"yaw" default:"0.0" min:"-6.3" max:"6.3" unit:"rad" doc:"heading of the body x axis"`
}

// Kind implements Spec.
func (*Star) Kind() string { return "star" }

// Build implements Spec.
func (s *Star) Build() (Reference, error) {
	c, err := point("center", s.Center)
	if err != nil {
		return nil, err
	}
	if s.Tips%2 == 0 {
		return nil, fmt.Errorf("parameter %q: %d is even, expected an odd number: one line joins all tips", "tips",
			s.Tips)
	}
	var ps []so3.Vec3
	for i := range s.Tips + 1 { // each line leads to the tip that is nearly opposite
		sin, cos := math.Sincos(2 * math.Pi * float64(i%s.Tips*(s.Tips/2)) / float64(s.Tips))
		ps = append(ps, c.Add(so3.Vec3{X: s.Radius * cos, Y: s.Radius * sin}))
	}
	spec := *s
	return newTrack(&spec, edges(ps, s.Speed, s.Acceleration), s.Yaw, true), nil
}
