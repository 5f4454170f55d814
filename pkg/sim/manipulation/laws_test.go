package manipulation

import (
	"math"
	"testing"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/robot/arm"
)

// ours is the arm that is flown.
var ours = NewOwn[float32]()

// Laws at gains that are good in ours.
var (
	computedTorque = ByLaw("computed torque", func() Law { return armcontrol.NewComputedTorque(armcontrol.Pole, Dt) })
	adaptive       = ByLaw("adaptive", func() Law { return NewAdaptive(40, 40, 10) })
)

func circle(t *testing.T) *arm.Reference {
	t.Helper()
	r, err := arm.NewReference("circle", 0.25, Dt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLawsCarryPayloads: with an integral, or an estimate, the tool comes back to the reference under a payload.
func TestLawsCarryPayloads(t *testing.T) {
	r := circle(t)
	alone := ByLaw("without an integral", func() Law { return NewAdaptive(20, 20, 0) })
	sinks, crash := alone.Fly(ours, 3, r)
	if crash != "" || sinks < 0.003 {
		t.Errorf("without an integral it is off by %g m %s", sinks, crash)
	}
	for _, m := range []Method{computedTorque, adaptive} {
		if off, crash := m.Fly(ours, 3, r); crash != "" || !(off < sinks/4) {
			t.Errorf("%s is off by %g m, without an integral by %g m %s", m.Name, off, sinks, crash)
		}
	}
}

// TestAdaptiveFindsThePayload: its estimates carry what hangs there.
func TestAdaptiveFindsThePayload(t *testing.T) {
	law := NewAdaptive(30, 30, 3)
	m := ByLaw("adaptive", func() Law { return law })
	if _, crash := m.Fly(ours, 2, circle(t)); crash != "" {
		t.Fatal(crash)
	}
	var mass float64
	for _, x := range law.estimate[:arm.Masses] {
		mass += x
	}
	if math.Abs(mass-2) > 0.4 {
		t.Errorf("2 kg are taken for %g kg", mass)
	}
}

// TestBestLawErrsLeast of those whose flights are not lost.
func TestBestLawErrsLeast(t *testing.T) {
	weak := ByLaw("weak", func() Law { return armcontrol.NewComputedTorque(15, Dt) })
	lost := ByLaw("limp", func() Law { return limp{} })
	if got := best(ours, []*arm.Reference{circle(t)}, []Method{lost, weak, computedTorque, adaptive}); got.Name !=
		computedTorque.Name {
		t.Errorf("the best of four is %q", got.Name)
	}
	if got := best(ours, []*arm.Reference{circle(t)}, []Method{lost}); got.Name != lost.Name {
		t.Errorf("where all are lost the best is %q", got.Name)
	}
}

// TestLostFlightsEnd: a flight that leaves its reference is no figure.
func TestLostFlightsEnd(t *testing.T) {
	m := ByLaw("limp", func() Law { return limp{} })
	if off, crash := m.Fly(ours, 3, circle(t)); crash == "" || off == off {
		t.Errorf("off by %g m: %q", off, crash)
	}
}

// limp does nothing.
type limp struct{}

func (limp) Torque(_ *arm.Seen, tau *[arm.Joints]float64) { *tau = [arm.Joints]float64{} }
