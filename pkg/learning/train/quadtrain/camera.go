package quadtrain

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/nn/kernel"
)

// cameraModel is what the robots of a tile see of known points: relative features with
// the camera's noise, dropouts and delay. Rows have N·3 numbers.
type cameraModel[F kernel.Float] struct {
	camera *policy.Camera
	eye    *policy.Pinhole[F] // nil: the policy sees positions, and all here is empty
	B, row int
	marks  []F // [B][N][3] the points in the frame of the states
	faults []F // [H][B][N][3] noise of x and y; 0 where a frame misses the point, else 1
	seen   []F // [H][B][N][3] of the state of step h
	dseen  []F

	// Of a policy that is given no state:
	dt       float64
	width    int // of what it sees
	headings []F // [B][2]
	errors   []F // [H][B][4] image errors
	derrors  []F
	shown    []F // [H][B][width]
	dshown   []F // [B][width]
}

func newCameraModel[F kernel.Float](c *policy.Camera, eye *policy.Pinhole[F], dt float64, maxB,
	maxH int) *cameraModel[F] {
	s := &cameraModel[F]{camera: c, eye: eye, dt: dt}
	if s.eye == nil {
		return s
	}
	s.row = s.camera.Size()
	n := maxB * s.row
	s.marks, s.faults, s.seen, s.dseen = make([]F, n), make([]F, maxH*n), make([]F, maxH*n), make([]F, maxH*n)
	if c.StateFree {
		s.remember(maxB, maxH)
	}
	return s
}

// mark places the points of robot b around the place where it is to hover.
func (s *cameraModel[F]) mark(b int, place quad.Reference) {
	if s.eye != nil {
		policy.PlacePoints(&s.camera.Optics, place, s.marks[b*s.row:][:s.row])
	}
	if s.headings != nil {
		sin, cos := math.Sincos(place.Yaw)
		s.headings[2*b], s.headings[2*b+1] = F(cos), F(sin)
	}
}

// begin draws the faults of B robots' frames, whose gradients begin at 0.
func (s *cameraModel[F]) begin(B, H int, rng *rand.Rand) {
	s.B = B
	if s.eye == nil {
		return
	}
	clear(s.dseen[:H*B*s.row])
	clear(s.derrors)
	faults := s.faults[:H*B*s.row]
	for i := range faults {
		switch {
		case i%3 < 2:
			faults[i] = F(s.camera.Noise * rng.NormFloat64())
		case rng.Float64() < s.camera.Dropout:
			faults[i] = 0
		default:
			faults[i] = 1
		}
	}
}

// look takes the frames of the states of step h.
func (s *cameraModel[F]) look(h int, states []F, S int) {
	if s.eye == nil {
		return
	}
	for b := range s.B {
		at := (h*s.B + b) * s.row
		y, flaw := s.seen[at:][:s.row], s.faults[at:][:s.row]
		if s.headings != nil {
			s.eye.Level(states[b*S:], s.headings[2*b:], s.marks[b*s.row:], y)
		} else {
			s.eye.Project(states[b*S:], s.marks[b*s.row:], y)
		}
		for i := 0; i < len(y); i += 3 {
			y[i], y[i+1], y[i+2] = y[i]+flaw[i], y[i+1]+flaw[i+1], y[i+2]*flaw[i+2]
		}
		s.eye.Relative(y)
		if s.headings != nil {
			s.eye.Offset(y, s.headings[2*b:], s.of(s.errors, h, b))
		}
	}
}

// pull adds the gradients of the frames of step h, complete by then, to ds.
func (s *cameraModel[F]) pull(h int, states []F, S int, ds []F) {
	if s.eye == nil {
		return
	}
	for b := range s.B {
		at := (h*s.B + b) * s.row
		if s.headings != nil {
			s.eye.OffsetVJP(s.seen[at:][:s.row], s.headings[2*b:], s.of(s.derrors, h, b), s.dseen[at:])
			s.eye.PullLevel(states[b*S:], s.headings[2*b:], s.marks[b*s.row:], s.seen[at:][:s.row], s.dseen[at:],
				ds[b*S:])
			continue
		}
		s.eye.Pull(states[b*S:], s.marks[b*s.row:], s.seen[at:][:s.row], s.dseen[at:], ds[b*S:])
	}
}

// at returns what serves step h of the frames, and its gradient.
func (s *cameraModel[F]) at(h int) (seen, dseen []F) {
	if s.eye == nil {
		return nil, nil
	}
	if s.headings != nil {
		n := s.B * s.width
		return s.shown[h*n:][:n], s.dshown[:n]
	}
	n := s.B * s.row
	from := max(h-s.camera.Delay, 0) * n
	return s.seen[from:][:n], s.dseen[from:][:n]
}
