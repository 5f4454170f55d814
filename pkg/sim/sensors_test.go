package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestSensorsAtRest: the accelerometer feels the weight, the gyroscope nothing, each within offset and noise; and the
// spread over time is that of the noise.
func TestSensorsAtRest(t *testing.T) {
	var s Sensors
	s.Reset(1)
	const dt, n = 0.002, 5000
	rest := quad.State{Q: so3.FromEuler(0.3, -0.2, 1)}
	weight := rest.Q.Conj().Rotate(so3.Vec3{Z: gravity})
	var turned, pushed so3.Vec3
	spread := 0.0
	for range n {
		turn, push := s.Inertial(&rest, &rest, dt)
		turned, pushed = turned.Add(turn), pushed.Add(push)
		off := turn.X - s.gyroOffset.X*dt
		spread += off * off
	}
	if w := turned.Scale(1 / (n * dt)); w.Norm() > 4*gyroBias {
		t.Errorf("turns at %v rad/s", w)
	}
	if off := pushed.Scale(1 / (n * dt)).Sub(weight).Norm(); off > 4*accelBias {
		t.Errorf("the weight is off by %.3f m/s²", off)
	}
	if sigma, want := math.Sqrt(spread/n), gyroNoise*math.Sqrt(dt); math.Abs(sigma/want-1) > 0.1 {
		t.Errorf("noise of %.2g rad, want %.2g", sigma, want)
	}
}

// TestSensorsHaveStreamsOfTheirOwn: reading one sensor shifts no other.
func TestSensorsHaveStreamsOfTheirOwn(t *testing.T) {
	var a, b Sensors
	a.Reset(7)
	b.Reset(7)
	rest := quad.State{Q: so3.Identity()}
	for i := range 100 {
		a.Height(float64(i), 1)
	}
	at, ap := a.Inertial(&rest, &rest, 0.002)
	bt, bp := b.Inertial(&rest, &rest, 0.002)
	if at != bt || ap != bp {
		t.Error("the barometer shifted the inertial sensors")
	}
	b.Reset(8)
	if other, _ := b.Inertial(&rest, &rest, 0.002); other == bt {
		t.Error("two seeds give the same noise")
	}
}

// TestBarometer: it is read at its rate, and is off by decimetres at most.
func TestBarometer(t *testing.T) {
	var s Sensors
	s.Reset(1)
	n := 0
	for i := range 5000 {
		h, due := s.Height(float64(i)*0.002, 1)
		if !due {
			continue
		}
		n++
		if math.Abs(h-1) > 6*baroNoise+4*baroDrift*math.Sqrt(10) {
			t.Fatalf("%.2f m", h)
		}
	}
	if n != 10*baroRate {
		t.Errorf("read %d times in 10 s, want %d", n, 10*baroRate)
	}
}
