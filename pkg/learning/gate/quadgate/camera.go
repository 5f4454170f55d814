package quadgate

import (
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/robot/quadrotor"
)

// camera takes a frame at each tick of a shadow flight, with the noise, dropouts and delay of the policy's own.
type camera struct {
	*policy.Camera
	eye         *policy.Pinhole[float64]
	rng         *rand.Rand
	marks, seen []float64
	state       []float64
	frames      []frame // a ring of Delay + 1
	taken       int
}

type frame struct {
	t        float64 // s
	features []policy.Feature
}

// newCamera puts the points of a camera around the place to hover at.
func newCamera(c *policy.Camera, place quad.Reference, seed uint64) (*camera, error) {
	eye, err := policy.NewPinhole[float64](&c.Optics)
	if err != nil {
		return nil, err
	}
	const stream, measured = 0xcae5a, 10
	k := &camera{Camera: c, eye: eye, rng: rand.New(rand.NewPCG(seed, stream)), marks: make([]float64, c.Size()),
		seen: make([]float64, c.Size()), state: make([]float64, measured), frames: make([]frame, c.Delay+1)}
	for i := range k.frames {
		k.frames[i].features = make([]policy.Feature, c.Count())
	}
	policy.PlacePoints(&c.Optics, place, k.marks)
	return k, nil
}

// show takes a frame and hands over the one that is due.
func (c *camera) show(t float64, s *quad.State, to *policy.ClosedLoopRunner) {
	f := &c.frames[c.taken%len(c.frames)]
	f.t = t
	quadrotor.Measured(s, c.state)
	c.eye.Project(c.state, c.marks, c.seen)
	for i := range f.features {
		y := c.seen[3*i:][:3]
		f.features[i] = policy.Feature{X: y[0] + c.Noise*c.rng.NormFloat64(), Y: y[1] + c.Noise*c.rng.NormFloat64(),
			Visible: c.rng.Float64() >= c.Dropout && y[2] != 0}
	}
	if c.taken++; c.taken > c.Delay {
		due := &c.frames[(c.taken-1-c.Delay)%len(c.frames)]
		to.AddFrame(due.t, due.features)
	}
}
