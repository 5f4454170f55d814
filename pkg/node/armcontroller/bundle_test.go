package armcontroller

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"vnd/msgs"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// message is one with a bundle whose policy commands each period, s, and may be spoilt.
func message(t *testing.T, period float64, seed uint64, spoil ...func(*vnd.Actor[float32])) *msgs.Bundle {
	t.Helper()
	robot := arm.Robot{Dt: period, Steps: int(period / 0.001)}
	m, err := vnd.New[float32](robot.System(), nets.Config{Context: 3, Latent: 2, Encoder: nets.EncoderGRU,
		EncoderDense: 4, EncoderHidden: 4, Hidden: 4, Blocks: 1, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	half := make([]float32, arm.Joints)
	for j := range half {
		half[j] = 5
	}
	a, err := vnd.NewActor(arm.Observed, 2, make([]float32, arm.Joints), half, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range spoil {
		f(a)
	}
	m.Net.Init(rand.New(rand.NewPCG(seed, 1)))
	b, err := vnd.Pack(m, robot, a, "track_pose")
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = bundle.Decode("test", data); err != nil {
		t.Fatal(err)
	}
	return &msgs.Bundle{ID: b.ID, Robot: b.Robot, Task: b.Task, Data: data, Sha256: sha256.Sum256(data)}
}

// TestBundlesAreTriedOut: one that commands what no joint has, that ends in no numbers, or that pushes the tool off the
// reference is refused with a line before it commands, and what commanded goes on.
func TestBundlesAreTriedOut(t *testing.T) {
	r := newRig(t)
	r.addStates(r.states(), ros.Info{})
	first := message(t, 0.02, 1)
	r.addBundle(first, ros.Info{})
	refused := func(want string, spoil func(*vnd.Actor[float32])) {
		t.Helper()
		r.addBundle(message(t, 0.02, 1, spoil), ros.Info{})
		if n := r.logged(want); n != 1 || r.loop.Policy() == nil || r.loop.Policy().ID != first.ID {
			t.Errorf("%q is logged %d times: %s", want, n, r.log.String())
		}
	}
	refused("commands up to 205 N·m of joint 2, expected at most 87",
		func(a *vnd.Actor[float32]) { a.Middle[1] = 200 })
	refused("tried out, its policy commands NaN N·m of joint 1, expected a finite number",
		func(a *vnd.Actor[float32]) { a.Middle[1] = 60 })
	if err := r.setTask("track_pose", `{"kind": "circle"}`); err != nil {
		t.Fatal(err)
	}
	refused("tried out on the reference without a payload, the tool is 0.",
		func(a *vnd.Actor[float32]) { a.Middle[1] = 1 })
}

// TestBundlesComeByTopic: one is taken up while the controller moves the arm; another period, a message that is not
// what it says and a missing signature are refused with a line, and the policy before goes on.
func TestBundlesComeByTopic(t *testing.T) {
	r := newRig(t)
	r.addStates(r.states(), ros.Info{})
	first := message(t, 0.02, 1)
	r.addBundle(first, ros.Info{})
	r.addBundle(first, ros.Info{})
	if p := r.loop.Policy(); p == nil || p.ID != first.ID || r.logged("bundle "+first.ID) != 1 {
		t.Fatalf("the policy is %v: %s", p, r.log.String())
	}
	other := message(t, 0.02, 2)
	other.Sha256[0]++
	r.addBundle(other, ros.Info{})
	r.addBundle(message(t, 0.01, 3), ros.Info{})
	r.trust.Key = make([]byte, 32)
	r.addBundle(message(t, 0.02, 4), ros.Info{})
	for _, want := range []string{"the message says", "commands each 0.01 s, expected 0.02", "is not signed"} {
		if r.logged(want) != 1 {
			t.Errorf("%q is not logged once: %s", want, r.log.String())
		}
	}
	if r.loop.Policy().ID != first.ID {
		t.Errorf("the policy of bundle %s commands", r.loop.Policy().ID)
	}
}
