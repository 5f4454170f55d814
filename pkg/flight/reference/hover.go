package reference

import (
	"vnd/pkg/core/quad"
)

// Hover stays at a point.
type Hover struct {
	Point []float64 `param:"point" default:"0,0,1" min:"-10000" max:"10000" unit:"m" doc:"where to be: x, y, z in the world"`
	Yaw   float64   `param:"yaw" default:"0.0" min:"-6.3" max:"6.3" unit:"rad" doc:"heading of the body x axis"`
}

type hover struct {
	spec Hover
	r    quad.Reference
}

// Kind implements Spec.
func (*Hover) Kind() string { return "hover" }

// Build implements Spec.
func (s *Hover) Build() (Reference, error) {
	p, err := point("point", s.Point)
	return &hover{*s, quad.Reference{P: p, Yaw: s.Yaw}}, err
}

func (h *hover) At(float64) quad.Reference { return h.r }
func (h *hover) Duration() float64         { return 0 }
func (h *hover) Horizon() float64          { return 0 }
func (h *hover) Spec() Spec                { s := h.spec; return &s }
