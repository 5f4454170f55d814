package fit

import (
	"math"
	"slices"
	"testing"

	"vnd/pkg/vnd"
)

// TestWiden: a channel of which flights in calm hover say hardly anything keeps a spread, one that is off stays off,
// and one that varies is left alone.
func TestWiden(t *testing.T) {
	spans := slices.Clone(vehicle.System().InputSpans()[:3]) // position, velocity, attitude, here of fewer channels
	for i, hi := range []int{1, 3, 5} {
		spans[i].Lo, spans[i].Hi = max(0, hi-2), hi
	}
	m := newMoments(5)
	for i := range 1000 {
		x := math.Sin(float64(i))
		m.add([]float32{float32(1e-3 * x), float32(0.03 * x), float32(1.5 * x), 1, float32(1 + 5e-4*x)})
	}
	n := m.norm()
	was := n.Scale[2]
	widen(spans, n.Scale)
	for j, want := range []float32{n.Scale[0], 1 / float32(0.2), was, 0, 1 / float32(0.05)} {
		if n.Scale[j] != want {
			t.Errorf("channel %d: scale %v, expected %v", j, n.Scale[j], want)
		}
	}
	if n.Scale[0] < 1000 {
		t.Errorf("position, which has no least spread, has scale %v", n.Scale[0])
	}
}

// TestNormalisersFollow: channels that have left what they were normalised to follow, others stay to the bit, and one
// that varies less stays, too.
func TestNormalisersFollow(t *testing.T) {
	norm := func(mean, scale []float32) *vnd.Norm[float32] { return &vnd.Norm[float32]{Mean: mean, Scale: scale} }
	was := norm([]float32{0, 0, 0, 0, 0, 0}, []float32{1, 1, 1, 1, 0, 1})
	is := norm([]float32{0.5, 0.1, 3, 0, 7, 5}, []float32{0.8, 0.3, 2, 3, 4, 0})
	got := followed(was, is)
	want := norm([]float32{0, 0.1, 3, 0, 7, 0}, []float32{1, 0.3, 1, 1, 4, 1})
	if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Scale, want.Scale) {
		t.Errorf("%v, expected %v", got, want)
	}
	if u := grown([]float32{1, 1, 0}, []float32{1.9, 2.5, 3}); !slices.Equal(u, []float32{1, 2.5, 0}) {
		t.Errorf("units %v", u)
	}
}

// TestWarmStartInFasterFlights: a model of slow flights goes on with flights three times as fast. It begins as it was,
// and its inputs are no longer many deviations away.
func TestWarmStartInFasterFlights(t *testing.T) {
	cfg := quick()
	first, err := Run(t.Context(), cfg, flown(recorded(5, 100)), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	fast := recorded(5, 100)
	dim := vehicle.System().Dims()
	for i := range fast {
		for k := range fast[i].Actions {
			if k%dim.Action > 0 {
				fast[i].Actions[k] *= 5
			}
		}
	}
	tr, err := newTrainer(&cfg, &Recorded{Robot: vehicle, Recordings: fast}, Options{Seed: 1, From: first})
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for j, s := range tr.model.Inputs.Scale {
		switch was := first.Model.Inputs.Scale[j]; {
		case s == was:
			same++
		case s > was/left:
			t.Errorf("input %d: scale %v, before %v", j, s, was)
		}
	}
	if same == len(first.Model.Inputs.Scale) || same == 0 {
		t.Errorf("%d of %d inputs keep their normaliser", same, len(first.Model.Inputs.Scale))
	}
	old := *tr.model
	old.Net, old.Context, old.Inputs, old.Output = first.Model.Net, first.Model.Context, first.Model.Inputs,
		first.Model.Output
	w := tr.data.segments[0]
	var z [2][]float32
	for i, m := range []*vnd.Model[float32]{&old, tr.model} {
		win := m.NewWindows(1)
		win.Reset(1)
		win.Set(0, w.Measured[:(m.Net.Context+1)*dim.Measured], w.Actions[:m.Net.Context*dim.Action])
		z[i] = make([]float32, m.Net.Latent)
		m.Net.Encode(m.Net.NewEncoderTape(1), 1, win.Features, z[i])
	}
	for j := range z[0] {
		if math.Abs(float64(z[0][j]-z[1][j])) > 1e-3 {
			t.Errorf("latents %v of before, %v now", z[0], z[1])
			break
		}
	}
}
