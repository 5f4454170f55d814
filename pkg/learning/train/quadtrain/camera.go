package quadtrain

import (
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
}

func newCameraModel[F kernel.Float](c *policy.Camera, eye *policy.Pinhole[F], maxB, maxH int) *cameraModel[F] {
	s := &cameraModel[F]{camera: c, eye: eye}
	if s.eye == nil {
		return s
	}
	s.row = s.camera.Size()
	n := maxB * s.row
	s.marks, s.faults, s.seen, s.dseen = make([]F, n), make([]F, maxH*n), make([]F, maxH*n), make([]F, maxH*n)
	return s
}

// mark places the points of robot b around the place where it is to hover.
func (s *cameraModel[F]) mark(b int, place quad.Reference) {
	if s.eye != nil {
		policy.PlacePoints(s.camera, place, s.marks[b*s.row:][:s.row])
	}
}

// begin draws the faults of B robots' frames, whose gradients begin at 0.
func (s *cameraModel[F]) begin(B, H int, rng *rand.Rand) {
	s.B = B
	if s.eye == nil {
		return
	}
	clear(s.dseen[:H*B*s.row])
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
		s.eye.Project(states[b*S:], s.marks[b*s.row:], y)
		for i := 0; i < len(y); i += 3 {
			y[i], y[i+1], y[i+2] = y[i]+flaw[i], y[i+1]+flaw[i+1], y[i+2]*flaw[i+2]
		}
		s.eye.Relative(y)
	}
}

// pull adds the gradients of the frames of step h, complete by then, to ds.
func (s *cameraModel[F]) pull(h int, states []F, S int, ds []F) {
	if s.eye == nil {
		return
	}
	for b := range s.B {
		at := (h*s.B + b) * s.row
		s.eye.Pull(states[b*S:], s.marks[b*s.row:], s.seen[at:][:s.row], s.dseen[at:], ds[b*S:])
	}
}

// at returns the frames that serve step h, and their gradients.
func (s *cameraModel[F]) at(h int) (seen, dseen []F) {
	if s.eye == nil {
		return nil, nil
	}
	n := s.B * s.row
	from := max(h-s.camera.Delay, 0) * n
	return s.seen[from:][:n], s.dseen[from:][:n]
}
