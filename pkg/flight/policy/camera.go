package policy

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
)

// Optics are a camera on the body and the known points in its view. A point of the optical frame (x right, y down, z
// ahead) is seen at x/z, y/z.
type Optics struct {
	Points  []float64 `param:"points" default:"" min:"-1000" max:"1000" unit:"m" doc:"known points in the frame of the place to hover at (x along the heading there, z up), three coordinates each; empty: those of the task features, and other tasks see positions"`
	Place   []float64 `param:"place" default:"0.05,0,0" min:"-10" max:"10" unit:"m" doc:"place of the camera in the body: x, y, z"`
	Pitch   float64   `param:"pitch" default:"0.0" min:"-1.6" max:"1.6" unit:"rad" doc:"angle of the camera's optical axis below the body's x axis"`
	Yaw     float64   `param:"yaw" default:"0.0" min:"-3.2" max:"3.2" unit:"rad" doc:"angle of the camera's optical axis about the body's z axis"`
	Width   float64   `param:"width" default:"1.75" min:"0.1" max:"3.0" unit:"rad" doc:"field of view from left to right"`
	Height  float64   `param:"height" default:"1.4" min:"0.1" max:"3.0" unit:"rad" doc:"field of view from top to bottom"`
	Noise   float64   `param:"noise" default:"0.003" min:"0" max:"1" doc:"standard deviation of a seen coordinate, in focal lengths; 1.2 pixels where the focal length is 400"`
	Dropout float64   `param:"dropout" default:"0.05" min:"0" max:"1" doc:"share of the points in view that a frame misses"`
}

// Camera is what a policy sees instead of positions (paper, "Landing and perceptive hovering").
type Camera struct {
	Optics
	Delay int     `param:"delay" default:"1" min:"0" max:"10" unit:"steps" doc:"time from a camera's frame to the command that it serves"`
	Stale float64 `param:"stale" default:"0.2" min:"0.01" max:"10" unit:"s" doc:"age from which a camera's frame no longer counts in flight: its points are taken as hidden"`

	StateFree bool `param:"state_free" json:",omitempty" default:"false" doc:"the policy reads the attitude alone of the state"`
}

// Feature is a known point as a frame has it: x/z and y/z of the optical frame.
type Feature struct {
	X, Y    float64
	Visible bool // seen in this frame; X and Y are nothing otherwise
}

// Of a row of features each has three numbers: x, y, and 1 where it is visible.
const perFeature = 3

// same reports whether frames of one camera serve a policy of the other.
func (c *Camera) same(o *Camera) bool {
	return slices.Equal(c.Points, o.Points) && slices.Equal(c.Place, o.Place) && c.Pitch == o.Pitch && c.Yaw == o.Yaw &&
		c.Width == o.Width && c.Height == o.Height && c.Noise == o.Noise && c.Dropout == o.Dropout &&
		c.Delay == o.Delay && c.Stale == o.Stale && c.StateFree == o.StateFree
}

// check refuses what no policy is trained for.
func (c *Camera) check() error {
	if !(c.Delay >= 0 && c.Delay <= maxDelay && c.Stale > 0) {
		return fmt.Errorf("camera with delay %d, stale %g, expected a delay of 0 to %d, and some time", c.Delay,
			c.Stale, maxDelay)
	}
	return nil
}

// Size is the length of a row of features, 0 without points.
func (c *Optics) Size() int { return perFeature * c.Count() }

// Count is the number of points.
func (c *Optics) Count() int { return len(c.Points) / 3 }

// PlacePoints writes the points [N][3] as they stand in the world around the reference
// of the place to hover at.
func PlacePoints[F kernel.Float](c *Optics, r quad.Reference, marks []F) {
	sin, cos := math.Sincos(r.Yaw)
	for i := range c.Count() {
		x, y, z := c.Points[3*i], c.Points[3*i+1], c.Points[3*i+2]
		marks[3*i], marks[3*i+1], marks[3*i+2] = F(r.P.X+cos*x-sin*y), F(r.P.Y+sin*x+cos*y), F(r.P.Z+z)
	}
}

// Pinhole projects the points of a camera.
type Pinhole[F kernel.Float] struct {
	n           int
	place       [3]F
	axes        [9]F // R_CB, row by row: right, down and ahead in the body
	wide, high  F    // tangents of half the field of view
	undisturbed []F  // [N][3] what the place to hover at shows
	slopes      []F  // [N][2][3] how that changes with the robot's place
}

// NewPinhole refuses a camera that does not see all its points from the place to
// hover at, level and along the heading there.
func NewPinhole[F kernel.Float](c *Optics) (*Pinhole[F], error) {
	switch {
	case len(c.Points) == 0 || len(c.Points)%3 != 0:
		return nil, fmt.Errorf("camera.points has %d numbers, expected three for each point", len(c.Points))
	case len(c.Place) != 3:
		return nil, fmt.Errorf("camera.place has %d numbers, expected x, y, z", len(c.Place))
	case !(c.Width > 0 && c.Width < math.Pi && c.Height > 0 && c.Height < math.Pi):
		return nil, fmt.Errorf("camera.width %g and camera.height %g rad, expected more than 0 and less than π",
			c.Width, c.Height)
	case !(c.Noise >= 0 && c.Dropout >= 0 && c.Dropout <= 1):
		return nil, fmt.Errorf("camera with noise %g, dropout %g, expected none below 0, and a dropout up to 1",
			c.Noise, c.Dropout)
	}
	p := &Pinhole[F]{n: c.Count(), wide: F(math.Tan(c.Width / 2)), high: F(math.Tan(c.Height / 2))}
	sinP, cosP := math.Sincos(c.Pitch)
	sinY, cosY := math.Sincos(c.Yaw)
	for j, v := range [9]float64{sinY, -cosY, 0, -sinP * cosY, -sinP * sinY, -cosP, cosP * cosY, cosP * sinY, -sinP} {
		p.axes[j] = F(v)
	}
	for j, v := range c.Place {
		p.place[j] = F(v)
	}
	marks, rest := make([]F, c.Size()), [statePart]F{3: 1}
	PlacePoints(c, quad.Reference{}, marks)
	p.undisturbed, p.slopes = make([]F, c.Size()), make([]F, 6*p.n)
	p.Project(rest[:], marks, p.undisturbed)
	var level [attitude]F
	quadrotor.Rotation(rest[3:7], level[:])
	for i := range p.n {
		p.slope(i, p.undisturbed[perFeature*i:], p.optical(&level, rest[:], marks[3*i:][:3])[2])
		if p.undisturbed[perFeature*i+2] == 0 {
			return nil, fmt.Errorf("camera.points: point %d, %v m, is not in view from the place to hover at", i+1,
				c.Points[3*i:3*i+3])
		}
	}
	return p, nil
}

const (
	maxDelay = 10
	nearest  = 0.05 // m ahead of the camera; nothing nearer is seen
)

// Project writes the features y[N][3] of the points marks[N][3] as the camera of a
// robot in state s (p, q, v; in the frame of marks) sees them. Hidden ones are 0.
func (c *Pinhole[F]) Project(s, marks, y []F) {
	var r [attitude]F
	quadrotor.Rotation(s[3:7], r[:])
	for i := range c.n {
		x, f := c.optical(&r, s, marks[3*i:][:3]), y[perFeature*i:][:perFeature]
		f[0], f[1], f[2] = x[0]/x[2], x[1]/x[2], 1
		if !(x[2] > nearest && f[0] <= c.wide && f[0] >= -c.wide && f[1] <= c.high && f[1] >= -c.high) {
			f[0], f[1], f[2] = 0, 0, 0
		}
	}
}

// Pull adds the pullback of dy[N][3] through Project to ds. y tells which
// features are visible; the gradient of hidden ones, and of the flags, is 0.
func (c *Pinhole[F]) Pull(s, marks, y, dy, ds []F) {
	var r, dr [attitude]F
	quadrotor.Rotation(s[3:7], r[:])
	for i := range c.n {
		if y[perFeature*i+2] == 0 {
			continue
		}
		m := marks[3*i:][:3]
		x, du, dv := c.optical(&r, s, m), dy[perFeature*i], dy[perFeature*i+1]
		dx := [3]F{du / x[2], dv / x[2], -(du*x[0] + dv*x[1]) / (x[2] * x[2])}
		for j := range 3 {
			db := c.axes[j]*dx[0] + c.axes[3+j]*dx[1] + c.axes[6+j]*dx[2]
			for k := range 3 {
				ds[k] -= r[3*k+j] * db
				dr[3*k+j] += (m[k] - s[k]) * db
			}
		}
	}
	quadrotor.RotationVJP(s[3:7], dr[:], ds[3:7])
}

// optical is a point in the optical frame: R_CB (R_WBᵀ (m − p) − place).
func (c *Pinhole[F]) optical(r *[attitude]F, s, m []F) (x [3]F) {
	for j := range 3 {
		b := r[j]*(m[0]-s[0]) + r[3+j]*(m[1]-s[1]) + r[6+j]*(m[2]-s[2]) - c.place[j]
		for k := range 3 {
			x[k] += c.axes[3*k+j] * b
		}
	}
	return x
}

// Relative turns features into what a policy sees of them: their distance from
// where the place to hover at would show them, 0 where they are hidden.
func (c *Pinhole[F]) Relative(y []F) {
	for i := range c.n {
		f, at := y[perFeature*i:][:perFeature], c.undisturbed[perFeature*i:]
		if f[2] == 0 {
			f[0], f[1] = 0, 0
			continue
		}
		f[0], f[1] = f[0]-at[0], f[1]-at[1]
	}
}
