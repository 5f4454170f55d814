package policy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd/bundle"
)

var motors = rotors.Limits{Least: .1, Most: .7, Hover: .4, Full: 1}

// drawn is a policy that commands motors, with random weights.
func drawn(t testing.TB) *Policy[float32] {
	t.Helper()
	o, _ := defaults(t)
	p, err := NewRotors[float32](o, motors, 3, []int{8})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	hover := p.Hover()
	p.Net.Init(rng, hover[:])
	for i := range p.Net.Params {
		p.Net.Params[i] += float32(.1 * rng.NormFloat64())
	}
	return p
}

// packed is a bundle of a policy, written and read.
func packed(t testing.TB, robot string, p *Policy[float32]) *bundle.Bundle {
	t.Helper()
	b := &bundle.Bundle{Robot: robot, Dt: .02}
	if err := Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = bundle.Decode("b", data); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRotorPolicyComesBackFromItsBundle(t *testing.T) {
	p := drawn(t)
	back, err := RotorsFromBundle(packed(t, rotors.Name, p))
	if err != nil || !reflect.DeepEqual(back.Motors, p.Motors) || !back.Observation.BodyRates ||
		!slices.Equal(back.Net.Params, p.Net.Params) {
		t.Errorf("%+v came back with the error %v", back, err)
	}
}

// TestRotorPolicyFliesNothingElse: what would take motor commands for thrust and body rates, or the other way round,
// refuses the bundle.
func TestRotorPolicyFliesNothingElse(t *testing.T) {
	of, thrust := drawn(t), somePolicy(t, 3)
	for name, refuse := range map[string]func() error{
		"four rotors, expected": func() error { _, err := Load(packed(t, rotors.Name, of)); return err },
		"four rotors, expected a": func() error {
			return TryOut(packed(t, rotors.Name, of))
		},
		"rotors, expected a policy": func() error { _, err := FromBundle(packed(t, rotors.Name, of)); return err },
		"another's commands":        func() error { _, err := Load(packed(t, "quadrotor", of)); return err },
		"robot \"rotors\" and": func() error {
			_, err := NewRotorRunner(packed(t, rotors.Name, thrust), circle)
			return err
		},
		"vnd train --robot rotors": func() error {
			_, err := NewRotorRunner(packed(t, "quadrotor", thrust), circle)
			return err
		},
		"hovering takes": func() error {
			bad := *of
			bad.Motors = &rotors.Limits{Least: .5, Most: .7, Hover: .4, Full: 1}
			_, err := RotorsFromBundle(packed(t, rotors.Name, &bad))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := refuse(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestMotorsStayWithinTheirLimits: in any state. Body rates make a difference.
func TestMotorsStayWithinTheirLimits(t *testing.T) {
	r, err := NewRotorRunner(packed(t, rotors.Name, drawn(t)), circle)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	vector := func(scale float64) so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(scale)
	}
	for k := range 200 {
		s := rotors.State{State: quad.State{P: vector(10), Q: so3.Exp(vector(1)), V: vector(20)}, W: vector(5)}
		r.Reset()
		m := r.Motors(float64(k), &s)
		for _, x := range m {
			if !(x >= motors.Least && x <= motors.Most) {
				t.Fatalf("motors %v, want %g to %g", m, motors.Least, motors.Most)
			}
		}
	}
	at := circle(0)
	s := rotors.State{State: quad.State{P: at.P, Q: so3.Identity(), V: at.V}}
	r.Reset()
	still := r.Motors(0, &s)
	s.W = vector(.1)
	r.Reset()
	if r.Motors(0, &s) == still {
		t.Errorf("other body rates leave motors at %v", still)
	}
	nowhere := rotors.State{State: quad.State{P: so3.Vec3{X: math.NaN()}, Q: so3.Identity()}}
	if m := r.Motors(0, &nowhere); m[0] == m[0] {
		t.Errorf("motors %v without a place", m)
	}
}

func TestRotorTickAllocatesNothing(t *testing.T) {
	r, err := NewRotorRunner(packed(t, rotors.Name, drawn(t)), circle)
	if err != nil {
		t.Fatal(err)
	}
	s, k := rotors.State{State: quad.State{Q: so3.Identity()}}, 0.
	if n := testing.AllocsPerRun(100, func() { r.Motors(k, &s); k += .02 }); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
}

// TestTrimTakesASteadyCommandOver: within some of its time, up to its limit, and from numbers alone.
func TestTrimTakesASteadyCommandOver(t *testing.T) {
	const dt = .02
	fly := func(seconds float64, needed func(k int) [nA]float64) (k trim, left [nA]float64) {
		k.at = math.NaN()
		for i := range int(seconds / dt) {
			for j, n := range needed(i) { // the policy commands what is needed beside the trim
				left[j] = n - k.each[j]
			}
			k.step(float64(i)*dt, &left, &motors)
		}
		return k, left
	}
	worn := [nA]float64{.46, .4, .38, .4}
	for name, c := range map[string]struct {
		needed func(k int) [nA]float64
		want   [nA]float64 // commands in the end
	}{
		"hover":            {func(int) [nA]float64 { return [nA]float64{.4, .4, .4, .4} }, [nA]float64{.4, .4, .4, .4}},
		"a worn propeller": {func(int) [nA]float64 { return worn }, [nA]float64{.4, .4, .4, .4}},
		"more than the limit": {func(int) [nA]float64 { return [nA]float64{.6, .4, .4, .4} },
			[nA]float64{.6 - trimShare*.4, .4, .4, .4}},
		"lost for a while": {func(k int) [nA]float64 {
			if k == 100 {
				return [nA]float64{math.NaN(), math.Inf(1), .4, .4}
			}
			return worn
		}, [nA]float64{.4, .4, .4, .4}},
	} {
		t.Run(name, func(t *testing.T) {
			_, left := fly(10*trimTime, c.needed)
			for j, x := range left {
				if math.Abs(x-c.want[j]) > 1e-3 {
					t.Errorf("commands %.4g, want %.4g", left, c.want)
					break
				}
			}
		})
	}
	k, _ := fly(2, func(int) [nA]float64 { return worn })
	before := k
	if k.step(1000, &worn, &motors); math.Abs(k.each[0]-before.each[0]) > longestTick/trimTime*.06+1e-9 {
		t.Errorf("a gap takes the trim from %g to %g", before.each[0], k.each[0])
	}
}
