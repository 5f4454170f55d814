package armcontrol

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// pushing is a policy that commands joint 2 to be pushed by a torque, N·m, whatever it sees, and nothing else.
func pushing(t *testing.T, id string, torque float32) *Policy {
	t.Helper()
	half := make([]float32, arm.Joints)
	for j := range half {
		half[j] = 30
	}
	middle := make([]float32, arm.Joints)
	middle[1] = torque
	a, err := vnd.NewActor(arm.Observed+2*arm.Joints, 0, middle, half, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	p := &Policy{ID: id, Dt: dt, actor: a, tape: a.Net.NewTape(1, 1), x: make([]float32, a.Net.Inputs),
		u: make([]float32, arm.Joints), a: make([]float32, arm.Joints), past: make([]float32, 2*arm.Joints)}
	p.Forget()
	return p
}

// following is a bench that follows a circle by the law, and would by a policy.
func following(t *testing.T) *bench {
	b := newBench(t, 0)
	b.fly(1)
	if err := b.Follow(reference(t, "circle", 0.1), arm.Home); err != nil {
		t.Fatal(err)
	}
	b.fly(4)
	return b
}

// TestFaultAfterASwapRollsItBack: the law holds the arm, and after a reset the policy before commands again, or the law
// where there was none. A fault that is not the policy's rolls nothing back, nor does one a minute later.
func TestFaultAfterASwapRollsItBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		first bool // a policy commands before
		spoil func(*bench)
		want  string
	}{
		{"a push, the law before", false, func(b *bench) { b.Swap(pushing(t, "bad", 25)) }, ""},
		{"a push, a policy before", true, func(b *bench) { b.Swap(pushing(t, "bad", 25)) }, "good"},
		{"no number", true, func(b *bench) {
			p := pushing(t, "bad", 0)
			p.actor.Middle[1] = float32(math.NaN())
			b.Swap(p)
		}, "good"},
		{"the clock is set", true, func(b *bench) {
			b.Swap(pushing(t, "fine", 0))
			b.fly(dt)
			b.now += 15
		}, "fine"},
		{"states end", true, func(b *bench) {
			b.Swap(pushing(t, "fine", 0))
			b.fly(dt)
			b.Blind("nothing comes")
		}, "fine"},
		{"the one before is at fault", true, func(b *bench) {
			b.policy = pushing(t, "bad", 25)
			b.fly(0.1)
			b.config.Error = b.Distance() / 2
			b.Swap(pushing(t, "better", 0))
		}, "better"},
		{"a minute later", true, func(b *bench) {
			b.Swap(pushing(t, "late", 25))
			b.swapped -= probation
		}, "late"},
	} {
		b := following(t)
		if c.first {
			b.policy = pushing(t, "good", 0)
		}
		c.spoil(b)
		b.fly(1)
		got := ""
		if b.Policy() != nil {
			got = b.Policy().ID
		}
		if b.Fault() == "" || got != c.want {
			t.Errorf("%s: %q commands, expected %q; fault %q", c.name, got, c.want, b.Fault())
		}
		b.Reset()
		if b.Follow(nil, arm.Home) != nil || strings.Contains(b.Fault(), "policy") {
			t.Errorf("%s: %s", c.name, b.Fault())
		}
	}
}

// TestSwappedPolicyKnowsThePast: what it saw and commanded before is that of its predecessor, in its own ranges.
func TestSwappedPolicyKnowsThePast(t *testing.T) {
	model, err := vnd.New[float32](arm.Robot{Dt: dt, Steps: 20}.System(), nets.Config{Context: 3, Latent: 2,
		Encoder: nets.EncoderGRU, EncoderDense: 4, EncoderHidden: 4, Hidden: 4, Blocks: 1, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	known := func(id string, half float32) *Policy {
		p := pushing(t, id, 0)
		for j := range p.actor.Half {
			p.actor.Half[j] = half
		}
		p.read(model)
		return p
	}
	p, q := known("p", 30), known("q", 15)
	for k := range 5 {
		p.See(make([]float32, 2*arm.Joints))
		p.Push(&[arm.Joints]float64{float64(k)})
	}
	q.learnPast(p)
	q.See(make([]float32, 2*arm.Joints))
	if !q.Known() || q.past[0] != 2*p.past[0] || q.past[arm.Joints] != 2*p.past[arm.Joints] || q.past[0] == 0 {
		t.Errorf("known: %t, commanded %v, of the one before %v", q.Known(), q.past, p.past)
	}
}
