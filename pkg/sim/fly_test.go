package sim

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// law is a plain geometric controller: acceleration from the errors of position and velocity, attitude from the
// acceleration, body rates from the error of attitude. It knows no world.
func law(s quad.State, p, v, a so3.Vec3) quad.Command {
	want := p.Sub(s.P).Scale(6).Add(v.Sub(s.V).Scale(4)).Add(a).Add(so3.Vec3{Z: gravity})
	z := want.Scale(1 / want.Norm())
	y := z.Cross(so3.Vec3{X: 1})
	y = y.Scale(1 / y.Norm())
	x := y.Cross(z)
	q := so3.FromMat3(so3.Mat3{{x.X, y.X, z.X}, {x.Y, y.Y, z.Y}, {x.Z, y.Z, z.Z}})
	return quad.Command{Thrust: want.Dot(s.Q.ZAxis()), Rates: so3.Log(s.Q.Conj().Mul(q)).Scale(8)}
}

// hover flies the law to a place at 50 Hz and returns the mean distance from it over the second half.
func hover(t testing.TB, s *Simulator, at so3.Vec3, seconds float64) float64 {
	t.Helper()
	n := int(seconds * 50)
	sum := 0.
	for k := range n {
		s.Step(law(s.State(), at, so3.Vec3{}, so3.Vec3{}), .02)
		if s.Crashed() {
			t.Fatalf("in condition %q: %s", s.Condition(), s.Crash())
		}
		if k >= n/2 {
			sum += s.State().P.Sub(at).Norm()
		}
	}
	return sum / float64(n-n/2)
}

func mustNew(t testing.TB, w World) *Simulator {
	t.Helper()
	s, err := New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ideal is a world without ground near, drag, delay, map error or idling.
func ideal() World {
	w := Default()
	w.Ground.Height = -1000
	w.Drag.Rotor, w.Drag.Body = []float64{0, 0, 0}, []float64{0, 0, 0}
	w.Link.Delay, w.Motor.Gain, w.Motor.Idle = 0, 1, 0
	return w
}

// everything is a world with all that there is.
func everything() World {
	w := Default()
	w.Battery.Enabled = true
	w.Gusts.Wind = 4
	w.Fans = Fans{[]float64{-2, 0}, []float64{0, -2}, []float64{1, 1}, []float64{0, 1.57}, []float64{0, 0},
		[]float64{5, 4}, []float64{.4, .3}}
	w.Neighbour.Mass = .1
	w.Mocap.Dropout.Every, w.Mocap.Jump.Every = 2, 3
	w.Conditions = Conditions{
		Name: []string{"whole", "hurt"}, WindX: []float64{.7, -.7}, Payload: []float64{0, .03},
		PayloadX: []float64{0, .01}, Cable: []float64{0, .5}, CutAlso: []int{0, 3},
		CutRotor: []int{0, 2}, CutThrust: []float64{1, .85}, CutTorque: []float64{1, .9},
		CutImbalance: []float64{0, 1e-7},
	}
	w.Schedule = Schedule{[]string{"whole", "hurt"}, []float64{0, 2}, 4}
	return w
}

func benchmarkFlight(b *testing.B, w World) {
	s := mustNew(b, w)
	at := so3.Vec3{Z: 1}
	b.ReportAllocs()
	for b.Loop() {
		if s.Time() > 60 { // before the battery is empty
			s.Reset(quad.State{P: at, Q: so3.Identity()}, 1)
		}
		s.Step(law(s.State(), at, so3.Vec3{}, so3.Vec3{}), .02)
		s.Mocap()
	}
	if s.Crashed() {
		b.Fatal(s.Crash())
	}
	b.ReportMetric(.02*float64(b.N)/b.Elapsed().Seconds(), "×real-time")
}

func BenchmarkCalm(b *testing.B) { benchmarkFlight(b, Default()) }

func BenchmarkEverything(b *testing.B) { benchmarkFlight(b, everything()) }
