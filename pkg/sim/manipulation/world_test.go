package manipulation

import (
	"errors"
	"math"
	"strings"
	"testing"

	"vnd/pkg/robot/arm"
	"vnd/pkg/sim/mujoco"
)

// simulators are the names of all.
var simulators = []string{"", MuJoCo}

// inEach tests each simulator that is there.
func inEach(t *testing.T, test func(t *testing.T, simulator string)) {
	for _, simulator := range simulators {
		t.Run(simulator, func(t *testing.T) { test(t, simulator) })
	}
}

// skipWithout skips a test where the simulator is not there.
func skipWithout(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, mujoco.ErrMissing) || err != nil && strings.Contains(err.Error(), "without C") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld makes one, or skips the test.
func newWorld(t *testing.T, simulator string, truth arm.Robot) World[float64] {
	t.Helper()
	w, err := NewWorld[float64](simulator)
	skipWithout(t, err)
	t.Cleanup(w.Close)
	if err := w.Set(truth); err != nil {
		t.Fatal(err)
	}
	return w
}

// swing has an arm swing for half a second under torques that are no answer to what it does.
func swing(t *testing.T, simulator string, truth arm.Robot) (s [2 * arm.Joints]float64) {
	t.Helper()
	w, tau := newWorld(t, simulator, truth), make([]float64, arm.Joints)
	copy(s[:], arm.Home[:])
	for k := range 25 {
		for j := range tau {
			tau[j] = math.Sin(6*float64(k)*Dt + float64(j))
			if j < 4 {
				tau[j] *= 4
			}
		}
		if err := w.Step(s[:], tau); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// apart are the greatest differences of angles and of rates.
func apart(a, b [2 * arm.Joints]float64) (angle, rate float64) {
	for j := range arm.Joints {
		angle, rate = max(angle, math.Abs(a[j]-b[j])), max(rate, math.Abs(a[arm.Joints+j]-b[arm.Joints+j]))
	}
	return angle, rate
}

// TestWorldsAgreeToTheirIntegrators: without friction ours and MuJoCo part by what their steps are worth, which is half
// as much of half the steps. Without steps they would be the same.
func TestWorldsAgreeToTheirIntegrators(t *testing.T) {
	truth := Truth(1)
	truth.Friction = 0
	var coarse, fine [2]([2 * arm.Joints]float64)
	for i, simulator := range simulators {
		truth.Steps = 20
		coarse[i] = swing(t, simulator, truth)
		truth.Steps = 40
		fine[i] = swing(t, simulator, truth)
	}
	wide, _ := apart(coarse[0], coarse[1])
	half, _ := apart(fine[0], fine[1])
	var none [2][2 * arm.Joints]float64
	for i := range none {
		for j := range none[i] {
			none[i][j] = 2*fine[i][j] - coarse[i][j]
		}
	}
	if angle, rate := apart(none[0], none[1]); !(wide < 0.002 && math.Abs(wide/half-2) < 0.05 && angle < 1e-5 &&
		rate < 1e-4) {
		t.Errorf("apart by %g rad, by %g of half the step, and of none by %g rad, %g rad/s", wide, half, angle, rate)
	}
}

// TestFrictionOfWorldsIsAlike: friction that turns joints by a tenth of a radian less leaves ours and MuJoCo within a
// fifth of that, although at low rates they have other laws.
func TestFrictionOfWorldsIsAlike(t *testing.T) {
	truth := Truth(1)
	a, b := swing(t, "", truth), swing(t, MuJoCo, truth)
	truth.Friction = 0
	less, _ := apart(a, swing(t, "", truth))
	if angle, rate := apart(a, b); !(less > 0.1 && angle < less/5 && rate < 0.12) {
		t.Errorf("apart by %g rad, %g rad/s; friction turns it by %g rad less", angle, rate, less)
	}
}

// TestJointsStickInMuJoCo: a torque below a joint's friction does not turn it, as one beyond that does.
func TestJointsStickInMuJoCo(t *testing.T) {
	for torque, moves := range map[float64]bool{0.4: false, -0.4: false, 0.7: true} {
		w, tau, s := newWorld(t, MuJoCo, Truth(0)), make([]float64, arm.Joints), make([]float64, 2*arm.Joints)
		copy(s, arm.Home[:])
		tau[6] = torque
		for range 25 {
			if err := w.Step(s, tau); err != nil {
				t.Fatal(err)
			}
		}
		if turned := math.Abs(s[6] - arm.Home[6]); turned > 0.05 != moves || !moves && turned > 0.003 {
			t.Errorf("%g N·m turn joint 7, which has 0.5 N·m of friction, by %g rad", torque, turned)
		}
	}
}

// energy of an arm that carries its own weight, J.
func energy(truth arm.Robot, s []float64) (sum float64) {
	c := truth.Chain()
	d, m := arm.NewDynamics(c), make([]float64, arm.Joints*arm.Joints)
	d.Place(s[:arm.Joints])
	d.Mass(m)
	for i, v := range s[arm.Joints:] {
		for j, u := range s[arm.Joints:] {
			sum += v * u * m[arm.Joints*i+j] / 2
		}
	}
	return sum + 9.81*truth.Payload*d.Tool.Add(d.Turn.MulVec(truth.At)).Z
}

// TestEnergyIsKept where nothing takes it away, and is lost where friction does.
func TestEnergyIsKept(t *testing.T) {
	inEach(t, func(t *testing.T, simulator string) {
		for _, rough := range []bool{false, true} {
			truth, s := Truth(2), make([]float64, 2*arm.Joints)
			if !rough {
				truth.Friction, truth.Damping = 0, 0
			}
			w := newWorld(t, simulator, truth)
			copy(s, arm.Home[:])
			copy(s[arm.Joints:], []float64{1, 0.5, -1, 0.5, 1, -0.5, 1})
			begin := energy(truth, s)
			for range 20 {
				if err := w.Step(s, make([]float64, arm.Joints)); err != nil {
					t.Fatal(err)
				}
			}
			if lost := begin - energy(truth, s); math.Abs(lost) > 0.02 != rough || lost < -0.02 {
				t.Errorf("%g J of %g J are lost, with friction: %t", lost, begin, rough)
			}
		}
	})
}

// says checks that an error is one line, with a text.
func says(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestWorldsRefuse what is none.
func TestWorldsRefuse(t *testing.T) {
	_, err := NewWorld[float64]("gazebo")
	says(t, err, `no simulator "gazebo" of an arm, expected "mujoco" or none`)
	inEach(t, func(t *testing.T, simulator string) {
		w := newWorld(t, simulator, Truth(0))
		says(t, w.Set(Truth(99)), "payload is 99, expected 0 to 3")
		says(t, w.Set(Truth(-1)), "payload is -1, expected 0 to 3")
		says(t, w.Set(Truth(math.NaN())), "payload is NaN, expected 0 to 3")
		tau, s := make([]float64, arm.Joints), make([]float64, 2*arm.Joints)
		copy(s, arm.Home[:])
		for text, torque := range map[string]float64{"NaN": math.NaN(), "-Inf": math.Inf(-1)} {
			tau[2] = torque
			says(t, w.Step(s, tau), "the torque of joint 3 is "+text+" N·m, expected a finite number")
		}
		if tau[2] = 0; w.Step(s, tau) != nil || s[0] != s[0] {
			t.Errorf("after a torque that was refused it is at %v", s)
		}
		s[1] = math.Inf(1)
		says(t, w.Step(s, tau), "without bounds")
		clear(s)
		copy(s, arm.Home[:])
		if err := errors.Join(w.Set(Truth(1)), w.Step(s, tau)); err != nil || s[1] != s[1] {
			t.Errorf("it does not begin anew: %v, at %v", err, s)
		}
	})
}

// TestMissingMuJoCoIsSaid in one line: what to install.
func TestMissingMuJoCoIsSaid(t *testing.T) {
	t.Setenv("VND_SIMULATORS", t.TempDir())
	if _, err := NewWorld[float32](MuJoCo); err == nil || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "make simulators") && !strings.Contains(err.Error(), "without C") {
		t.Error(err)
	}
}
