package closedloop

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
)

// FrameReceiver is a controller that takes the features of a camera's frames, t in s since
// the flight's start. The slice holds until the call returns.
type FrameReceiver interface {
	AddFrame(t float64, features []policy.Feature)
}

var (
	_ FrameReceiver = (*policy.Runner)(nil)
	_ Observer      = (*policy.ClosedLoopRunner)(nil)
)

// Camera is the simulated camera of a flight: the true projections of its points
// with its noise and dropouts. Frames are taken at ticks.
type Camera struct {
	policy.Optics
	Rate    float64    // frames per second, at most one a tick
	Latency float64    // s, from a frame to its features
	Outage  sim.Outage // times without frames
}

// CameraOf is a camera as a policy was trained for, at steps of dt seconds; nil where the policy sees positions.
func CameraOf(p *policy.Policy[float32], dt float64) *Camera {
	if p.Pinhole == nil {
		return nil
	}
	c := p.Observation.Camera
	return &Camera{Optics: c.Optics, Rate: 1 / dt, Latency: float64(c.Delay) * dt}
}

// frame is on its way to the controller.
type frame struct {
	taken, due float64
	features   []policy.Feature
}

// FrameSource takes the frames of one flight. It is for one goroutine.
type FrameSource struct {
	Camera
	gone        sim.Outages
	eye         *policy.Pinhole[float64]
	rng         *rand.Rand
	marks, seen []float64
	state       []float64
	frames      []frame // a ring; the oldest that was not delivered is first
	first, n    int
	next        float64
}

// NewFrameSource puts the points of a camera around the place to hover at. Ticks are tick s apart at least.
func NewFrameSource(c *Camera, place quad.Reference, tick float64, seed uint64) (*FrameSource, error) {
	if !(c.Rate > 0 && c.Latency >= 0 && c.Latency <= 1) {
		return nil, fmt.Errorf("a camera of %g frames per second after %g s, want more than none and up to 1 s", c.Rate,
			c.Latency)
	}
	eye, err := policy.NewPinhole[float64](&c.Optics)
	if err != nil {
		return nil, err
	}
	const stream = 0xcae5a
	k := &FrameSource{Camera: *c, eye: eye, rng: rand.New(rand.NewPCG(seed, stream)),
		marks: make([]float64, c.Size()), seen: make([]float64, c.Size()), state: make([]float64, 10),
		frames: make([]frame, 2+int(c.Latency/tick))}
	for i := range k.frames {
		k.frames[i].features = make([]policy.Feature, c.Count())
	}
	k.gone.Start(c.Outage, seed, "camera outage")
	policy.PlacePoints(&c.Optics, place, k.marks)
	return k, nil
}

// rounding of ticks, s.
const rounding = 1e-9

// Tick takes a frame at t s since the start when one is due, and hands over those that are ready.
func (c *FrameSource) Tick(t float64, truth *quad.State, s FrameReceiver) {
	if t >= c.next-rounding {
		if c.next = math.Max(c.next+1/c.Rate, t); !c.gone.On(t) {
			c.take(t, truth)
		}
	}
	for c.n > 0 && c.frames[c.first].due <= t+rounding {
		f := &c.frames[c.first]
		s.AddFrame(f.taken, f.features)
		c.first, c.n = (c.first+1)%len(c.frames), c.n-1
	}
}

func (c *FrameSource) take(t float64, truth *quad.State) {
	f := &c.frames[(c.first+c.n)%len(c.frames)]
	c.n++
	f.taken, f.due = t, t+c.Latency
	quadrotor.Measured(truth, c.state)
	c.eye.Project(c.state, c.marks, c.seen)
	for i := range f.features {
		y := c.seen[3*i:][:3]
		x := policy.Feature{X: y[0] + c.Noise*c.rng.NormFloat64(), Y: y[1] + c.Noise*c.rng.NormFloat64()}
		x.Visible = c.rng.Float64() >= c.Dropout && y[2] != 0
		f.features[i] = x
	}
}
