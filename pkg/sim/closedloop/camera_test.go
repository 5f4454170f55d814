package closedloop

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim"
)

// watcher hovers and notes what it is shown.
type watcher struct {
	taken []float64 // s
	seen  [][]policy.Feature
}

func (w *watcher) Reset() {}

func (w *watcher) AddFrame(t float64, features []policy.Feature) {
	w.taken, w.seen = append(w.taken, t), append(w.seen, append([]policy.Feature(nil), features...))
}

func (w *watcher) Command(float64, *quad.State) quad.Command {
	return quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{Z: 1}}
}

type still struct{ r quad.Reference }

func (s still) At(float64) quad.Reference { return s.r }

// watched is a flight that turns under a camera.
func watched(t *testing.T, c Camera) (*watcher, *Trace, error) {
	t.Helper()
	s := Setup{World: sim.Default(), Seed: 3, Path: still{quad.Reference{P: so3.Vec3{X: 1, Y: 2, Z: 1}, Yaw: 0.5}},
		Seconds: 2, Tick: 0.02,
		Estimate: estimator.DefaultParams(), Camera: &c}
	param.Default(&s.Limits)
	w := &watcher{}
	trace, err := Fly(&s, w)
	return w, trace, err
}

func cameraOfTwo() (c Camera) {
	param.Default(&c.Optics)
	c.Points = []float64{2, 0.6, 0.1, 3, 0, -0.2}
	c.Rate, c.Latency = 50, 0.04
	return c
}

// TestCameraShowsWhatWas: features are those of the true state when their frame
// was taken, one latency ago, and points go out of view as the robot turns.
func TestCameraShowsWhatWas(t *testing.T) {
	c := cameraOfTwo()
	c.Noise, c.Dropout = 0, 0
	w, trace, err := watched(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(trace.Rows); len(w.seen) != n-2 {
		t.Fatalf("%d frames in %d ticks, want one each but for two under way", len(w.seen), n)
	}
	hidden := 0
	for k, f := range w.seen {
		s := trace.Rows[k].Truth
		if math.Abs(w.taken[k]-trace.Rows[k].T) > 1e-9 {
			t.Fatalf("frame %d is of %g s, want %g", k, w.taken[k], trace.Rows[k].T)
		}
		for i := range f {
			p := so3.FromEuler(0, 0, 0.5).Rotate(so3.Vec3{X: c.Points[3*i], Y: c.Points[3*i+1],
				Z: c.Points[3*i+2]}).Add(so3.Vec3{X: 1, Y: 2, Z: 1})
			b := s.Q.Conj().Rotate(p.Sub(s.P)).Sub(so3.Vec3{X: c.Place[0]})
			want := policy.Feature{X: -b.Y / b.X, Y: -b.Z / b.X, Visible: true}
			if b.X < 0 || math.Abs(math.Atan(want.X)) > c.Width/2 || math.Abs(math.Atan(want.Y)) > c.Height/2 {
				hidden++
				want = policy.Feature{}
			}
			if got := f[i]; got.Visible != want.Visible || got.Visible &&
				math.Abs(got.X-want.X)+math.Abs(got.Y-want.Y) > 1e-9 {
				t.Fatalf("frame %d, point %d: %+v, want %+v", k, i, got, want)
			}
		}
	}
	if hidden == 0 || hidden == 2*len(w.seen) {
		t.Errorf("%d of %d features hidden: the test wants some", hidden, 2*len(w.seen))
	}
}

// TestCameraNoiseAndDropouts: noise has its size, dropouts their share, and fewer frames
// come at a lower rate.
func TestCameraNoiseAndDropouts(t *testing.T) {
	clean := cameraOfTwo()
	clean.Noise, clean.Dropout, clean.Width, clean.Height = 0, 0, 3, 3
	flawed := clean
	flawed.Noise, flawed.Dropout = 0.02, 0.3
	a, _, err := watched(t, clean)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := watched(t, flawed)
	if err != nil {
		t.Fatal(err)
	}
	n, lost, square := 0, 0, 0.
	for k := range a.seen {
		for i, want := range a.seen[k] {
			got := b.seen[k][i]
			switch {
			case want.Visible && got.Visible:
				n++
				square += (got.X-want.X)*(got.X-want.X) + (got.Y-want.Y)*(got.Y-want.Y)
			case want.Visible:
				lost++
			}
		}
	}
	if sigma := math.Sqrt(square / float64(2*n)); math.Abs(sigma-0.02) > 0.004 {
		t.Errorf("noise %g, want 0.02", sigma)
	}
	if share := float64(lost) / float64(n+lost); math.Abs(share-0.3) > 0.12 {
		t.Errorf("%g of the features lost, want 0.3", share)
	}
	slow := clean
	slow.Rate = 10
	c, _, err := watched(t, slow)
	if err != nil {
		t.Fatal(err)
	}
	if k := len(c.seen); k < 19 || k > 20 {
		t.Errorf("%d frames in 2 s at 10 Hz", k)
	}
}

// TestCameraOutages: there are times without frames, and between them all come.
func TestCameraOutages(t *testing.T) {
	c := cameraOfTwo()
	c.Outage = sim.Outage{Every: 0.3, Length: 0.2}
	w, trace, err := watched(t, c)
	if err != nil {
		t.Fatal(err)
	}
	gap, next := 0., 0
	for k := 1; k < len(w.taken); k++ {
		d := w.taken[k] - w.taken[k-1]
		gap = max(gap, d)
		if d < 0.021 {
			next++
		}
	}
	if n := len(w.taken); n > len(trace.Rows)*9/10 || n < len(trace.Rows)/5 || gap < 0.06 || next < n/2 {
		t.Errorf("%d frames in %d ticks, %d of them right after another, and none for %.2f s", n, len(trace.Rows), next,
			gap)
	}
}

// TestBadCamera is refused in words.
func TestBadCamera(t *testing.T) {
	for want, damage := range map[string]func(c *Camera){
		"frames per second":  func(c *Camera) { c.Rate = math.NaN() },
		"after 2 s":          func(c *Camera) { c.Latency = 2 },
		"expected three for": func(c *Camera) { c.Points = c.Points[1:] },
	} {
		c := cameraOfTwo()
		damage(&c)
		if _, _, err := watched(t, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
