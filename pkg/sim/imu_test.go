package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// felt flies a circle for some seconds, and returns the samples and the true states at the ends of their times.
func felt(t *testing.T, w World, seconds float64, seed uint64) (all []Inertial, truth []quad.State) {
	t.Helper()
	s, err := New(w, seed)
	if err != nil {
		t.Fatal(err)
	}
	truth = []quad.State{s.State()}
	for s.Time() < seconds-1e-9 {
		s.Step(law(s.State(), so3.Vec3{X: math.Sin(s.Time()), Z: 1}, so3.Vec3{X: math.Cos(s.Time())}, so3.Vec3{}), .001)
		for _, m := range s.Inertial() {
			if math.Abs(m.Stamp-s.Time()) > 1e-9 {
				t.Fatalf("a sample of %v is handed out at %v", m.Stamp, s.Time())
			}
			all, truth = append(all, m), append(truth, s.State())
		}
	}
	return all, truth
}

// TestImuExact: without noise rates and specific force carry attitude and velocity on as they were.
func TestImuExact(t *testing.T) {
	w := Default()
	w.Imu = Imu{Rate: 250}
	all, truth := felt(t, w, 2, 1)
	if len(all) != 500 {
		t.Fatalf("%d samples, expected 500", len(all))
	}
	for i, m := range all {
		a, b, dt := truth[i], truth[i+1], 1/250.
		q := a.Q.Mul(so3.Exp(m.Rates.Scale(dt)))
		v := a.V.Add(a.Q.Mul(so3.Exp(m.Rates.Scale(dt / 2))).Rotate(m.Force).Sub(so3.Vec3{Z: gravity}).Scale(dt))
		if off := so3.Log(q.Conj().Mul(b.Q)).Norm() + v.Sub(b.V).Norm(); off > 1e-12 {
			t.Fatalf("sample %d is %.1e off", i, off)
		}
	}
}

// TestImuNoise measures what the parameters say: densities, and the walk of the biases.
func TestImuNoise(t *testing.T) {
	w := Default()
	w.Imu.Rate, w.Imu.GyroBias, w.Imu.AccelBias = 200, 0, 0
	w.Imu.GyroWalk, w.Imu.AccelWalk = 0, 0
	exact := w
	exact.Imu = Imu{Rate: 200}
	all, _ := felt(t, w, 20, 1)
	bare, _ := felt(t, exact, 20, 1)
	var gyro, accel float64
	for i := range all {
		r, f := all[i].Rates.Sub(bare[i].Rates), all[i].Force.Sub(bare[i].Force)
		gyro, accel = gyro+r.Dot(r)/3, accel+f.Dot(f)/3
	}
	n := float64(len(all)) * 200
	g, a := math.Sqrt(gyro/n), math.Sqrt(accel/n)
	if math.Abs(g/w.Imu.Gyro-1) > .03 || math.Abs(a/w.Imu.Accel-1) > .03 {
		t.Errorf("densities %.3g and %.3g, expected %.3g and %.3g", g, a, w.Imu.Gyro, w.Imu.Accel)
	}
	walk := exact
	walk.Imu.AccelWalk = 0.01
	sum := 0.
	for seed := range uint64(40) {
		walked, _ := felt(t, walk, 1, seed)
		still, _ := felt(t, exact, 1, seed)
		d := walked[199].Force.Sub(still[199].Force)
		sum += d.Dot(d) / 3 / 40
	}
	if got := math.Sqrt(sum); math.Abs(got/.01-1) > .25 {
		t.Errorf("a bias walked by %.4f m/s² in a second, expected 0.01", got)
	}
}

// TestOdometryErrs measures drift, scale and loop closures.
func TestOdometryErrs(t *testing.T) {
	w := Default()
	w.Mocap = Mocap{Rate: 50, Dropout: Outage{0, .1}, Jump: Jump{0, .1, .3, .5}}
	w.Mocap.Odometry = Odometry{Drift: .01, Least: .05, Most: .2}
	sum := 0.
	for seed := range uint64(20) {
		all, truth := watch(t, w, 4, seed)
		last := all[len(all)-1]
		d := last.P.Sub(truth(last.Stamp).P)
		sum += d.Dot(d) / 3 / 20
	}
	if got := math.Sqrt(sum); math.Abs(got/.02-1) > .25 {
		t.Errorf("drifted by %.4f m in 4 s, expected 0.02", got)
	}
	w.Mocap.Odometry = Odometry{Scale: .1, Closures: 2, Least: .05, Most: .2}
	all, truth := watch(t, w, 60, 3)
	jumps, before := 0, so3.Vec3{}
	for i, m := range all {
		d := m.P.Sub(truth(m.Stamp).P.Sub(so3.Vec3{Z: 1}).Scale(1.1)).Sub(so3.Vec3{Z: 1})
		if i > 0 {
			if step := d.Sub(before).Norm(); step > 1e-6 {
				jumps++
				if step < .05-1e-6 || step > .4 {
					t.Errorf("a jump by %.3f m", step)
				}
			}
		}
		before = d
	}
	if jumps < 18 || jumps > 45 {
		t.Errorf("%d jumps in 60 s, expected about 30", jumps)
	}
}

// TestLostSamples: the share of samples that do not come.
func TestLostSamples(t *testing.T) {
	w := Default()
	w.Mocap.Lost = .2
	all, _ := watch(t, w, 20, 1)
	if share := 1 - float64(len(all))/4000; math.Abs(share-.2) > .03 {
		t.Errorf("%.3f of the samples are lost, expected 0.2", share)
	}
}
