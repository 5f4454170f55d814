package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/quick"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// swaying are turns of a robot that sways about, rad in a row of 20 ms.
func swaying(k int, rng *rand.Rand) so3.Vec3 {
	t := 0.02 * float64(k)
	return so3.Vec3{X: 0.01*math.Sin(4*t) + 0.004*rng.NormFloat64(), Y: 0.01 * math.Cos(3*t)}
}

// follow has turns follow those that the model expects so many rows later, with noise, rad.
func follow(l *lag, rows int, late, noise float64, rng *rand.Rand) {
	followOf(l, rows, late, noise, rng, func(k int) so3.Vec3 { return swaying(k, rng) })
}

// followOf is follow where the model expects what a function returns of a row; less than 0 is sooner.
func followOf(l *lag, rows int, late, noise float64, rng *rand.Rand, of func(k int) so3.Vec3) {
	var expected []so3.Vec3
	for k := range rows {
		for len(expected) <= k+soonRows {
			expected = append(expected, of(len(expected)))
		}
		at := max(float64(k)-late, 0)
		i := int(at)
		turn := expected[i].Add(expected[min(i+1, len(expected)-1)].Sub(expected[i]).Scale(at - float64(i)))
		for _, axis := range []*float64{&turn.X, &turn.Y} {
			*axis += noise * rng.NormFloat64()
		}
		l.add(turn, expected[k], 0.02)
	}
}

func TestLagOfTurnsThatFollowLate(t *testing.T) {
	for _, noise := range []float64{0.0003, 0.001, 0.003} {
		for _, late := range []float64{0, 1, 2.5, 4, 6} {
			t.Run(fmt.Sprintf("%g rows, %g rad of noise", late, noise), func(t *testing.T) {
				var l lag
				if follow(&l, 150, late, noise, rand.New(rand.NewPCG(1, 1))); math.Abs(l.mean()-late) > 0.5 {
					t.Errorf("%.2f rows late, expected %.2f", l.mean(), late)
				}
			})
		}
	}
}

// A robot that turns up to two rows sooner than the model expects is taken for prompt. Shaken at one rate it looks as
// if it were late by a period less.
func TestLagOfARobotThatIsSooner(t *testing.T) {
	for _, sooner := range []float64{0.5, 1, 1.5, 2} {
		for _, period := range []float64{5, 6, 7, 8, 9, 10, 20} {
			t.Run(fmt.Sprintf("%g rows, a shake of %g", sooner, period), func(t *testing.T) {
				var l lag
				shake := func(k int) so3.Vec3 {
					at := float64(k)
					return so3.Vec3{X: 0.05 * math.Sin(2*math.Pi/period*at), Y: 0.02 * math.Sin(5+at/9)}
				}
				followOf(&l, 300, -sooner, 0.001, rand.New(rand.NewPCG(1, 6)), shake)
				if l.mean() > 0.25 {
					t.Errorf("told to be %.2f rows late", l.mean())
				}
			})
		}
	}
}

// A link that becomes slow is known within a second, and forgotten as soon as it is quick again.
func TestLagFollowsAChange(t *testing.T) {
	var l lag
	rng := rand.New(rand.NewPCG(1, 2))
	for _, late := range []float64{0, 4, 0} {
		if follow(&l, 100, late, 0.003, rng); math.Abs(l.mean()-late) > 0.7 {
			t.Errorf("after 2 s %.2f rows late, expected %g", l.mean(), late)
		}
	}
}

// Where turns have nothing to do with commands nobody knows how late they would be. A robot that hardly turns is taken
// for one that is not.
func TestLagIsUnknown(t *testing.T) {
	for _, noise := range []float64{0, 1e-6, 0.003, 0.03, 0.3} {
		for _, commanded := range []float64{0, 0.01, 0.1} {
			t.Run(fmt.Sprintf("%g rad of noise, %g commanded", noise, commanded), func(t *testing.T) {
				least, most := span(noise, commanded)
				if quiet := noise < quietTurn; !(most <= unknownLag+0.1) || !quiet && least < unknownLag-0.1 {
					t.Errorf("told to be %.2f to %.2f rows late", least, most)
				}
			})
		}
	}
}

// TestLagOfAWeakRotor: it leaves .0055 rad of each turn in hover, which tells nothing of a lag.
func TestLagOfAWeakRotor(t *testing.T) {
	var l lag
	rng, most := rand.New(rand.NewPCG(1, 4)), 0.0
	for i := range 1000 {
		l.add(so3.Vec3{X: 0.0039 * rng.NormFloat64(), Y: 0.0039 * rng.NormFloat64()}, so3.Vec3{}, 0.02)
		if i > 150 {
			most = max(most, l.mean())
		}
	}
	if most > 0.5 {
		t.Errorf("told to be up to %.2f rows late", most)
	}
}

// span is how late a robot is told to be in 10 s of turns and commands that are random, rad, in rows.
func span(noise, commanded float64) (least, most float64) {
	var l lag
	rng := rand.New(rand.NewPCG(1, 3))
	random := func(size float64) so3.Vec3 {
		return so3.Vec3{X: size * rng.NormFloat64(), Y: size * rng.NormFloat64()}
	}
	least = lagRows
	for range 500 {
		l.add(random(noise), random(commanded), 0.02)
		least, most = min(least, l.mean()), max(most, l.mean())
	}
	return least, most
}

// An attitude that jumps once and comes back tells nothing of a lag, and hides it for less than half a second.
func TestLagAfterAJump(t *testing.T) {
	for _, jump := range []float64{0.1, 0.5, 3} {
		var l lag
		rng := rand.New(rand.NewPCG(1, 5))
		follow(&l, 200, 4, 0.001, rng)
		l.add(so3.Vec3{X: jump}, so3.Vec3{}, 0.02)
		l.add(so3.Vec3{X: -jump}, so3.Vec3{}, 0.02)
		if follow(&l, 30, 4, 0.001, rng); math.Abs(l.mean()-4) > 0.7 {
			t.Errorf("after a jump of %g rad %.2f rows late, expected 4", jump, l.mean())
		}
	}
}

// A guard that flew for a while leaves the link as late as it was; a flight that is over tells nothing of the next.
func TestLagOutlivesTheGuard(t *testing.T) {
	l, f := slowLink(t, 4)
	before, unknown := f.lag(), unknownLag*l.Dt
	if f.ResetActions(); f.lag() != before || before == unknown {
		t.Errorf("a link that was late by %.3f s is late by %.3f s after the guard flew", before, f.lag())
	}
	if f.Reset(); f.lag() != unknown {
		t.Errorf("a lag of %.3f s of a flight that is over", f.lag())
	}
}

// Whatever turns are, a lag is between none and the longest that is told.
func TestLagIsBounded(t *testing.T) {
	values := []float64{0, 1, -3, 1e300, math.Inf(1), math.NaN(), 1e-300}
	if err := quick.Check(func(seed uint64) bool {
		var l lag
		rng := rand.New(rand.NewPCG(seed, 4))
		any := func() float64 { return values[rng.IntN(len(values))] }
		for range 60 {
			l.add(so3.Vec3{X: any(), Y: any()}, so3.Vec3{X: any(), Y: any()}, 0.02*rng.Float64())
			if r := l.mean(); !(r >= 0 && r <= lagRows-1) {
				return false
			}
		}
		follow(&l, 500, 4, 0.003, rng)
		return math.Abs(l.mean()-4) < 0.7
	}, nil); err != nil {
		t.Error(err)
	}
}

// slowLink has flown a policy that sees lags along a path while commands arrived so many rows late: not for long, for
// it knows no such link.
func slowLink(t *testing.T, late int) (*LoadedBundle, *Runner) {
	t.Helper()
	l := hoverer(t)
	var err error
	if l.Policy, err = l.Policy.WithMeasured(1, 0.04); err != nil {
		t.Fatal(err)
	}
	f, w := NewRunnerOf(l.NewBuffers(), l.Dt, func(t float64) quad.Reference {
		return quad.Reference{P: so3.Vec3{X: 0.2 * math.Sin(3*t), Y: 0.2 * math.Cos(2*t)}}
	}), newPushed(l)
	var sent []quad.Command
	for k := range 80 {
		at, s := float64(k)*w.dt, w.state()
		c := f.Command(at, &s)
		sent = append(sent, c)
		arrived := sent[max(0, k-late)]
		w.step(&arrived, so3.Vec3{})
	}
	return l, f
}

func TestPolicySeesTheLag(t *testing.T) {
	for _, late := range []int{0, 2, 4} {
		t.Run(fmt.Sprintf("%d rows", late), func(t *testing.T) {
			l, f := slowLink(t, late)
			seen := 0.04 * float64(f.Inputs()[f.policy.Observation.Size()-1])
			if want := float64(late) * l.Dt; math.Abs(seen-want) > 0.01 || math.Abs(seen-f.lag()) > 1e-6 {
				t.Errorf("a lag of %.3f s is seen as %.3f s, and kept as %.3f s", want, seen, f.lag())
			}
			if before := f.lag(); before > 0 {
				if f.Swap(l.NewBuffers(), l.Dt); f.lag() != before {
					t.Errorf("a swap changes the lag from %.3f to %.3f s", before, f.lag())
				}
			}
		})
	}
}

// Rows of another length tell nothing of how late those of a bundle are.
func TestLagIsForgottenWhereRowsAreOfAnotherLength(t *testing.T) {
	l, f := slowLink(t, 3)
	before := f.lag()
	l.Dt *= 2
	if f.Swap(l.NewBuffers(), l.Dt); before == 0 || f.lag() != unknownLag*l.Dt {
		t.Errorf("a lag of %.3f s in rows of %g s is one of %.3f s in rows of %g s", before, l.Dt/2, f.lag(), l.Dt)
	}
}

// Nobody measures a lag for a policy that sees features or commands motors, so that it sees none.
func TestWhoSeesNoLag(t *testing.T) {
	o, limits := defaults(t)
	o.Push, o.Lag = 1, 0.04
	byMotors, err := NewRotors[float32](o, motors, 0, []int{8})
	if err != nil {
		t.Fatal(err)
	}
	o.Camera = someCamera()
	for name, p := range map[string]*Policy[float32]{"features": policyThatSees(t, o, limits, 0), "motors": byMotors} {
		if n := p.Observation.MeasuredSize(); n != 0 {
			t.Errorf("%s: %d numbers of a push and a lag", name, n)
		}
	}
}

// A policy that begins to see lags keeps what it knows of pushes, and the other way about.
func TestMeasuredInputsAreKept(t *testing.T) {
	p, err := policyOf(t)
	if err != nil {
		t.Fatal(err)
	}
	grown := func(p *Policy[float32], push, lag float64) *Policy[float32] {
		t.Helper()
		c, err := p.WithMeasured(push, lag)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := func(p *Policy[float32], input int) []float32 {
		tensor := p.Net.Tensors()[0]
		return p.Net.Params[tensor.Offset+input*p.Net.Hidden[0]:][:p.Net.Hidden[0]]
	}
	both := grown(p, 1, 0.04)
	n := both.Size()
	for i := n - both.Observation.MeasuredSize(); i < n; i++ {
		for k := range first(both, i) {
			if first(both, i)[k] != 0 {
				t.Fatalf("input %d is heeded before anything was learned", i)
			}
			first(both, i)[k] = float32(i)
		}
		if both.Norm.Scale[i] != 1 || both.Norm.Mean[i] != 0 {
			t.Errorf("input %d is normalised", i)
		}
	}
	latent := first(both, n)[0]
	for _, c := range []struct {
		push, lag float64
		want      []float32 // of the measured inputs
	}{{1, 0.04, []float32{float32(n - 4), float32(n - 3), float32(n - 2), float32(n - 1)}},
		{1, 0, []float32{float32(n - 4), float32(n - 3), float32(n - 2)}}, {0, 0.04, []float32{float32(n - 1)}},
		{2, 0.04, []float32{0, 0, 0, float32(n - 1)}}, {1, 0.02, []float32{float32(n - 4), float32(n - 3),
			float32(n - 2), 0}}, {0, 0, nil}} {
		q := grown(both, c.push, c.lag)
		begin := q.Size() - q.Observation.MeasuredSize()
		for i, want := range c.want {
			if got := first(q, begin+i)[0]; got != want {
				t.Errorf("push %g, lag %g: input %d weighs %g, want %g", c.push, c.lag, i, got, want)
			}
		}
		if got := first(q, q.Size())[0]; got != latent || len(c.want) != q.Observation.MeasuredSize() {
			t.Errorf("push %g, lag %g: the latent weighs %g, want %g", c.push, c.lag, got, latent)
		}
	}
}
