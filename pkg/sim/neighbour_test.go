package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/so3"
)

// TestWakeCarriesTheNeighbour: far below it the momentum of the wake is that of a jet whose nozzle carries the weight:
// in a Gaussian jet ρ·∫u² dA is nearly the weight at every height.
func TestWakeCarriesTheNeighbour(t *testing.T) {
	w := Default()
	w.Neighbour.Mass = .192
	n := newNeighbour(&w)
	for _, below := range []float64{.8, 1.5, 3} {
		const dr, density = .001, 1.225
		momentum := 0.
		for r := dr / 2; r < 2; r += dr {
			u := n.air(0, so3.Vec3{X: r, Z: 1.8 - below}).Z
			momentum += density * u * u * 2 * math.Pi * r * dr
		}
		if ratio := momentum / (.192 * gravity); ratio < .85 || ratio > 1.15 {
			t.Errorf("%.1f m below, the wake carries %.2f of the weight", below, ratio)
		}
	}
	if up := n.air(0, so3.Vec3{Z: 2}); up != (so3.Vec3{}) {
		t.Errorf("air above it moves by %v", up)
	}
}

// TestNeighbourPasses: it pushes down what is below while it is above, and comes back.
func TestNeighbourPasses(t *testing.T) {
	w := shipped(t, "downwash")
	n := newNeighbour(&w)
	here := so3.Vec3{Z: 1}
	over, later := n.air(0, here), n.air(n.Period/4, here)
	if over.Z > -3 || over.X != 0 || later.Norm() > .01*over.Norm() {
		t.Errorf("air of %v below it and %v after it has passed", over, later)
	}
	if gap := n.at(.3).Sub(n.at(.3 + n.Period)).Norm(); gap > 1e-9 {
		t.Errorf("after a period it is %.1e m off", gap)
	}
	w.Conditions, w.Schedule = Conditions{Name: []string{"off"}, Downwash: []float64{0}}, Schedule{}
	if air := mustNew(t, w).blown(0, here); air != (so3.Vec3{}) {
		t.Errorf("switched off it blows %v", air)
	}
}

// TestTwoRotorsAreCut: both lose the same.
func TestTwoRotorsAreCut(t *testing.T) {
	m := mustNew(t, ideal()).motion
	h := m.rotors.hover
	whole := loadAt(&m, 0, [4]float64{h, h, h, h})
	m.rotors.cut = cut{rotor: 1, also: 2, thrust: .85, torque: .85}
	l := loadAt(&m, 0, [4]float64{h, h, h, h})
	if got, want := l.force.Z/whole.force.Z, (2+2*.85)/4; math.Abs(got-want) > 1e-12 {
		t.Errorf("thrust of %.4f of the whole, expected %.4f", got, want)
	}
	if math.Abs(l.torque.X)+math.Abs(l.torque.Y) > 1e-12 || l.torque.Z <= 0 {
		t.Errorf("torque %v of two rotors across, expected yaw alone", l.torque)
	}
}
