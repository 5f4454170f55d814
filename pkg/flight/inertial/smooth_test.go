package inertial

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

// commanded is a flight of so many seconds along truthAt at 50 Hz, whose commands are off by noise and biases that
// walk.
func commanded(n Noise, seconds float64, seed uint64) (readings []Reading, truth []quad.State) {
	const dt = 0.02
	rng := rand.New(rand.NewPCG(seed, 2))
	normal := func(s float64) so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(s)
	}
	gyro, accel := normal(0.05), normal(0.5)
	for k := range int(seconds / dt) {
		// Δv and turn over a row are those of the truth at its ends, as the smoother carries them on.
		a, b := truthAt(float64(k)*dt), truthAt(float64(k+1)*dt)
		turn := so3.Log(a.Q.Conj().Mul(b.Q))
		halfway := a.Q.Mul(so3.Exp(turn.Scale(0.5)))
		push := halfway.Conj().Rotate(b.V.Sub(a.V).Scale(1 / dt).Add(so3.Vec3{Z: quad.Gravity}))
		gyro, accel = gyro.Add(normal(n.GyroWalk*math.Sqrt(dt))), accel.Add(normal(n.AccelWalk*math.Sqrt(dt)))
		readings = append(readings, Reading{
			Pose:  Pose{T: float64(k) * dt, P: a.P.Add(normal(n.Position)), Q: a.Q.Mul(so3.Exp(normal(n.Attitude)))},
			Rates: turn.Scale(1 / dt).Add(gyro).Add(normal(n.Gyro / math.Sqrt(dt))),
			Force: push.Add(accel).Add(normal(n.Accel / math.Sqrt(dt)))})
		truth = append(truth, a)
	}
	return readings, truth
}

// TestMissedPosesCorrectNothing: whatever stands in the place of a pose that was not measured, states are as without.
func TestMissedPosesCorrectNothing(t *testing.T) {
	readings, truth := commanded(rough, 6, 1)
	run := func(at so3.Vec3) []Smoothed {
		for k := range readings {
			if readings[k].Missed = k%5 == 4; readings[k].Missed {
				readings[k].P = at
			}
		}
		s := Smoother{Noise: rough, Gate: 30}
		return s.Run(readings, times(readings), truth[0].V)
	}
	near, far := run(so3.Vec3{}), run(so3.Vec3{X: 100})
	for k := range near {
		if near[k] != far[k] || near[k].Cut || near[k].Believed == readings[k].Missed {
			t.Fatalf("row %d is %+v, and %+v with another guess", k, near[k], far[k])
		}
	}
	if v, _, _, _ := smoothErrors(near, truth); v > 0.06 {
		t.Errorf("velocities err by %.3f m/s where every fifth pose is missed", v)
	}
}

// rough is what commands say: rates to 0.1 rad/s, forces to 1 m/s², at 50 Hz.
var rough = Noise{Gyro: 0.015, Accel: 0.15, GyroWalk: 0.02, AccelWalk: 0.3, Position: 0.003, Attitude: 0.02}

func times(readings []Reading) (at []float64) {
	for i := range readings {
		at = append(at, readings[i].T)
	}
	return at
}

// smoothErrors are the RMS errors of velocities and attitudes, a second away from the ends, and the mean of their
// squares over the variances that the smoother gives.
func smoothErrors(out []Smoothed, truth []quad.State) (velocity, turn, velocityRatio, turnRatio float64) {
	n := 0.
	for k := 50; k < len(out)-50; k++ {
		v := out[k].V.Sub(truth[k].V).Norm()
		r := so3.Log(out[k].Q.Conj().Mul(truth[k].Q)).Norm()
		velocity, turn, n = velocity+v*v, turn+r*r, n+1
		velocityRatio, turnRatio = velocityRatio+v*v/(3*out[k].Velocity), turnRatio+r*r/(3*out[k].Turn)
	}
	return math.Sqrt(velocity / n), math.Sqrt(turn / n), velocityRatio / n, turnRatio / n
}

// TestSmoothedStatesAreBetter: velocities are at least four times as good as a causal fit's, attitudes twice as good as
// measured ones, and the errors are as large as the variances say.
func TestSmoothedStatesAreBetter(t *testing.T) {
	readings, truth := commanded(rough, 40, 1)
	s := Smoother{Noise: rough, Gate: 30}
	out := s.Run(readings, times(readings), truth[0].V)
	e, err := estimator.New(estimator.DefaultParams())
	if err != nil {
		t.Fatal(err)
	}
	causal := make([]Smoothed, len(out))
	for k := range readings {
		z := &readings[k]
		causal[k].State, _ = e.Add(estimator.Pose{T: z.T, P: z.P, Q: z.Q})
		causal[k].Velocity, causal[k].Turn = 1, 1
	}
	v, r, vs, rs := smoothErrors(out, truth)
	v0, r0, _, _ := smoothErrors(causal, truth)
	t.Logf("velocity %.4f m/s, causal %.4f; attitude %.4f rad, measured %.4f; squares over variances %.2f, %.2f", v, v0,
		r, r0, vs, rs)
	if v > v0/4 || r > r0/2 {
		t.Error("that is not better")
	}
	if vs < 0.7 || vs > 1.4 || rs < 0.7 || rs > 1.4 {
		t.Error("the variances are not those of the errors")
	}
}

// TestNoiseIsFound: from a start that is off by factors of two to ten, noise of poses is found to a tenth, in attitude
// to a fifth. With what is found velocities are nearly as good as with what is true.
func TestNoiseIsFound(t *testing.T) {
	readings, truth := commanded(rough, 20, 1)
	s := Smoother{Gate: 30, Noise: Noise{Gyro: 0.03, Accel: 0.3, GyroWalk: 0.1, AccelWalk: 1, Position: 0.001,
		Attitude: 0.005}}
	velocity := func() float64 {
		v, _, _, _ := smoothErrors(s.Run(readings, times(readings), truth[0].V), truth)
		return v
	}
	before := velocity()
	s.FindNoise([]Flight{{readings[:400], truth[0].V}}, 8)
	found := s.Noise
	after := velocity()
	s.Noise = rough
	best := velocity()
	t.Logf("%+v; velocity %.4f m/s before, %.4f with it, %.4f with what is true", found, before, after, best)
	if math.Abs(found.Position/rough.Position-1) > 0.1 || math.Abs(found.Attitude/rough.Attitude-1) > 0.2 {
		t.Errorf("poses err by %.4f m and %.4f rad, found are %.4f and %.4f", rough.Position, rough.Attitude,
			found.Position, found.Attitude)
	}
	if after > 1.15*best || after > 0.8*before {
		t.Error("what was found does not help")
	}
}

// TestQuietTurnsAreFound: gyroscopes that err by far less than was thought at first are found in a few steps, though
// poses say little of them. Then turns are smooth.
func TestQuietTurnsAreFound(t *testing.T) {
	quiet := rough
	quiet.Gyro, quiet.GyroWalk, quiet.Attitude = 0.002, 0.002, 0.02
	readings, truth := commanded(quiet, 20, 1)
	s := Smoother{Gate: 30, Noise: Noise{Gyro: 0.03, Accel: 0.1, GyroWalk: 0.1, AccelWalk: 1, Position: 0.001,
		Attitude: 0.005}}
	s.FindNoise([]Flight{{readings, truth[0].V}}, 12)
	t.Logf("%+v", s.Noise)
	if s.Noise.Gyro > 6*quiet.Gyro || s.Noise.GyroWalk > 15*quiet.GyroWalk {
		t.Errorf("found %.4f rad/s/√Hz and %.4f, of %.4f and %.4f", s.Noise.Gyro, s.Noise.GyroWalk, quiet.Gyro,
			quiet.GyroWalk)
	}
}

// TestJumpsOfPosesAreFound: poses of another place for a tenth of a second are passed over; where they stay, the flight
// is cut at the row.
func TestJumpsOfPosesAreFound(t *testing.T) {
	readings, truth := commanded(rough, 20, 1)
	for k := 300; k < 305; k++ {
		readings[k].P.X += 0.05
	}
	for k := 600; k < len(readings); k++ {
		readings[k].P.Y -= 0.1
	}
	s := Smoother{Noise: rough, Gate: 30}
	out := s.Run(readings, times(readings), truth[0].V)
	for k := range out {
		if want := k == 600; out[k].Cut != want {
			t.Errorf("row %d: cut %v", k, out[k].Cut)
		}
		if e := out[k].P.Sub(truth[k].P); k < 600 && e.Norm() > 0.012 {
			t.Errorf("row %d: off by %.3f m", k, e.Norm())
		}
		if k >= 300 && k < 305 && out[k].Believed {
			t.Errorf("row %d is believed", k)
		}
	}
	if spread := out[302].Position; !(spread > 1.3*out[200].Position) {
		t.Errorf("without poses the variance is %.3g m², with them %.3g", spread, out[200].Position)
	}
}

// TestJumpsAreFoundInUntoldTurns: a camera closes a loop while the robot turns as no command tells.
func TestJumpsAreFoundInUntoldTurns(t *testing.T) {
	readings, truth := commanded(rough, 10, 1)
	for k := 250; k < len(readings); k++ {
		if readings[k].P.X += 0.07; k < 260 {
			readings[k].Rates.Y += 0.8
		}
	}
	s := Smoother{Noise: rough, Gate: 30}
	for k, x := range s.Run(readings, times(readings), truth[0].V) {
		if want := k == 250; x.Cut != want {
			t.Errorf("row %d: cut %v", k, x.Cut)
		}
	}
}

// TestUntoldTurnsAreNoJumps: a robot turns for 0.3 s as no command tells. Its poses go on, so they are no other place,
// and they are what is known of it.
func TestUntoldTurnsAreNoJumps(t *testing.T) {
	exact := Noise{Gyro: 0.01, Accel: 0.1, GyroWalk: 0.02, AccelWalk: 0.3, Position: 0.0005, Attitude: 0.002}
	readings, truth := commanded(exact, 10, 1)
	for k := 200; k < 215; k++ {
		readings[k].Rates.X += 8
	}
	s := Smoother{Noise: exact, Gate: 30}
	for k, x := range s.Run(readings, times(readings), truth[0].V) {
		if x.Cut {
			t.Errorf("row %d: a jump", k)
		}
		v, r := x.V.Sub(truth[k].V).Norm(), so3.Log(x.Q.Conj().Mul(truth[k].Q)).Norm()
		if k > 220 && k < 480 && (v > 0.2 || r > 0.02) || r > 0.3 {
			t.Errorf("row %d: off by %.3f m/s and %.3f rad", k, v, r)
		}
	}
}

// TestRowsAreMovedToTheirTimes: poses that were taken late or early within their rows make states at the rows' times.
func TestRowsAreMovedToTheirTimes(t *testing.T) {
	readings, truth := commanded(rough, 20, 1)
	at := times(readings)
	rng := rand.New(rand.NewPCG(5, 5))
	for k := range readings {
		late := 0.005 * (rng.Float64() - 0.5)
		x := truthAt(at[k] + late)
		readings[k].T += late
		readings[k].P, readings[k].Q = readings[k].P.Add(x.P.Sub(truth[k].P)), x.Q
	}
	s := Smoother{Noise: rough, Gate: 30}
	sum := 0.
	for k, x := range s.Run(readings, at, truth[0].V) {
		sum += x.P.Sub(truth[k].P).Dot(x.P.Sub(truth[k].P)) / float64(len(at))
	}
	if e := math.Sqrt(sum); e > 0.0035 {
		t.Errorf("positions are off by %.4f m", e)
	}
}

func BenchmarkSmooth(b *testing.B) {
	readings, truth := commanded(rough, 20, 1)
	s := Smoother{Noise: rough, Gate: 30}
	at := times(readings)
	for b.Loop() {
		s.Run(readings, at, truth[0].V)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(at)), "µs/row")
}
