package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// watch hovers for some seconds and returns every sample and, at the index of its nominal time, the truth.
func watch(t *testing.T, w World, seconds float64, seed uint64) ([]Sample, func(float64) quad.State) {
	t.Helper()
	s, err := New(w, seed)
	if err != nil {
		t.Fatal(err)
	}
	truth := []quad.State{s.State()}
	var all []Sample
	for s.Time() < seconds-1e-9 {
		s.Step(law(s.State(), so3.Vec3{X: math.Sin(s.Time()), Z: 1}, so3.Vec3{X: math.Cos(s.Time())}, so3.Vec3{}), .001)
		truth = append(truth, s.State())
		for _, m := range s.Mocap() {
			if m.Arrival > s.Time() || m.Arrival < s.Time()-.001-1e-9 {
				t.Fatalf("a sample that arrives at %v is handed out at %v", m.Arrival, s.Time())
			}
			all = append(all, m)
		}
	}
	return all, func(at float64) quad.State { return truth[int(math.Round(at*1000))] }
}

// TestMocapExact: without noise a sample is the truth at its stamp.
func TestMocapExact(t *testing.T) {
	w := Default()
	w.Mocap = Mocap{Rate: 125, Latency: .012, Dropout: Outage{0, .1}, Jump: Jump{0, .1, .3, .5}}
	all, truth := watch(t, w, 3, 1)
	if len(all) != 374 { // 0, 8, … 2984 ms have arrived
		t.Errorf("%d samples, expected 374", len(all))
	}
	for i, m := range all {
		s := truth(m.Stamp)
		if math.Abs(m.Stamp-float64(i)/125) > 1e-12 || math.Abs(m.Arrival-m.Stamp-.012) > 1e-12 {
			t.Fatalf("sample %d is of %v and arrives at %v", i, m.Stamp, m.Arrival)
		}
		if gap := m.P.Sub(s.P).Norm() + so3.Log(s.Q.Conj().Mul(m.Q)).Norm(); i > 0 && gap > 1e-12 {
			t.Fatalf("sample %d is %.1e off the truth", i, gap)
		}
	}
}

// TestMocapBetweenSteps: a rate that no integration step meets is sampled at its own times.
func TestMocapBetweenSteps(t *testing.T) {
	w := Default()
	w.Mocap = Mocap{Rate: 240, Latency: .001}
	w.Mocap.Dropout.Length, w.Mocap.Jump.Length = 1, 1
	all, truth := watch(t, w, 2, 1)
	for _, m := range all[1:] {
		i := math.Floor(m.Stamp*1000) / 1000
		a, b := truth(i), truth(i+.001)
		x := (m.Stamp - i) / .001
		want := a.P.Scale(1 - x).Add(b.P.Scale(x))
		if gap := m.P.Sub(want).Norm(); gap > 1e-5 { // ½·a·h² between the two
			t.Fatalf("at %v s a sample is %.1e m off", m.Stamp, gap)
		}
	}
}

// TestMocapNoise measures what the parameters say.
func TestMocapNoise(t *testing.T) {
	w := Default()
	w.Mocap.Rate, w.Mocap.Position, w.Mocap.Attitude = 500, .002, .01
	w.Mocap.Latency, w.Mocap.Jitter, w.Mocap.Stamp = .02, .0003, .0002
	all, truth := watch(t, w, 20, 1)
	var p, q, stamp, late float64
	for i, m := range all {
		at := float64(i) / 500
		s := truth(at)
		d, r := m.P.Sub(s.P), so3.Log(s.Q.Conj().Mul(m.Q))
		p, q = p+d.Dot(d)/3, q+r.Dot(r)/3
		stamp += math.Pow(m.Stamp-at, 2)
		late += m.Arrival - at - .02
		if i > 0 && m.Arrival < all[i-1].Arrival {
			t.Fatalf("sample %d overtakes", i)
		}
	}
	n := float64(len(all))
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"position", math.Sqrt(p / n), .002}, {"attitude", math.Sqrt(q / n), .01},
		{"stamp", math.Sqrt(stamp / n), .0002}, {"jitter", late / n, .0003},
	} {
		if math.Abs(c.got-c.want) > .05*c.want {
			t.Errorf("%s: %v, expected %v", c.name, c.got, c.want)
		}
	}
}

// TestMocapFaults measures shares of time and sizes of dropouts and jumps.
func TestMocapFaults(t *testing.T) {
	w := Default()
	w.Mocap = Mocap{Rate: 100, Dropout: Outage{.8, .2}, Jump: Jump{.6, .1, .3, .5}}
	all, truth := watch(t, w, 200, 4)
	if share := 1 - float64(len(all))/20000; share < .15 || share > .25 {
		t.Errorf("%.3f of the samples are gone, expected about 0.2", share)
	}
	jumped := 0.
	for _, m := range all[1:] {
		s := truth(m.Stamp)
		d, r := m.P.Sub(s.P).Norm(), so3.Log(s.Q.Conj().Mul(m.Q)).Norm()
		if d < 1e-9 && r < 1e-9 {
			continue
		}
		jumped++
		if math.Abs(d-.3) > 1e-9 || math.Abs(r-.5) > 1e-9 {
			t.Fatalf("a jump by %v m and %v rad, expected 0.3 and 0.5", d, r)
		}
	}
	if share := jumped / float64(len(all)); share < .1 || share > .19 {
		t.Errorf("%.3f of the samples have jumped, expected about 0.143", share)
	}
}

// TestMocapForgotten: samples that nobody asks for lose the oldest.
func TestMocapForgotten(t *testing.T) {
	w := ideal()
	w.Mocap.Jitter, w.Mocap.Stamp = 0, 0
	s := mustNew(t, w)
	s.Step(quad.Command{Thrust: gravity}, 10)
	all := s.Mocap()
	if len(all) != 1023 || math.Abs(all[1022].Stamp-9.995) > 1e-9 {
		t.Errorf("%d samples up to %v s, expected up to 9.995 the 1023 that came last (and one on its way)", len(all),
			all[len(all)-1].Stamp)
	}
	if again := s.Mocap(); len(again) != 0 {
		t.Errorf("%d samples twice", len(again))
	}
}
