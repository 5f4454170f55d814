package reference

import (
	"math"
	"sort"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// piece is one polynomial in space.
type piece struct {
	duration float64 // s
	c        [3]polynomial
}

// track is a row of pieces from rest to rest, flown once or over and over.
type track struct {
	spec   Spec
	pieces []piece
	begins []float64 // of each piece, and the end of the last, s
	yaw    float64
	repeat bool
}

func newTrack(s Spec, pieces []piece, yaw float64, repeat bool) *track {
	t := &track{spec: s, pieces: pieces, begins: make([]float64, len(pieces)+1), yaw: yaw, repeat: repeat}
	for i, p := range pieces {
		t.begins[i+1] = t.begins[i] + p.duration
	}
	return t
}

// edges returns straight lines from point to point, each from rest to rest by a quintic.
func edges(ps []so3.Vec3, speed, acceleration float64) []piece {
	out := make([]piece, len(ps)-1)
	for i := range out {
		from, to := ps[i], ps[i+1]
		h := legDuration(to.Sub(from).Norm(), 0, speed, acceleration)
		out[i] = piece{h, [3]polynomial{newQuintic(from.X, 0, to.X, h).c, newQuintic(from.Y, 0, to.Y, h).c,
			newQuintic(from.Z, 0, to.Z, h).c}}
	}
	return out
}

// At implements Reference.
func (k *track) At(t float64) quad.Reference {
	end := k.begins[len(k.pieces)]
	t = max(t, 0)
	if k.repeat {
		t = math.Mod(t, end)
	}
	t = min(t, end)
	i := min(sort.SearchFloat64s(k.begins[1:], t), len(k.pieces)-1)
	p := &k.pieces[i]
	u := (t - k.begins[i]) / p.duration
	var x, v, a [3]float64
	for j := range 3 {
		x[j], v[j], a[j] = p.c[j].at(u, p.duration)
	}
	if t == end && !k.repeat {
		v, a = [3]float64{}, [3]float64{}
	}
	return quad.Reference{P: vec(x), V: vec(v), A: vec(a), Yaw: k.yaw}
}

func (k *track) Duration() float64 {
	if k.repeat {
		return 0
	}
	return k.Horizon()
}

func (k *track) Horizon() float64 { return k.begins[len(k.pieces)] }
func (k *track) Spec() Spec       { return k.spec }
