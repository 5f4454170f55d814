package encoder

import (
	"context"
	"crypto/sha256"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/vnd/bundle"
)

const long = 30 * time.Second

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func read(t testing.TB, name string) *bundle.Bundle {
	t.Helper()
	return must(bundle.Read(filepath.Join("..", "..", "flight", "control", "testdata", name)))(t)
}

// harness is the node in a process of its own, and a test that sends steps and hears latents.
type harness struct {
	t       *testing.T
	e       *Encoder
	n       *ros.Node
	steps   *ros.Publisher[msgs.Step]
	latents chan msgs.Latent
	tick    control.TickRecord
	m       msgs.Step
}

func newHarness(t *testing.T, args ...string) *harness {
	t.Helper()
	d := inproc.NewDomain()
	join := func(args ...string) *ros.Context {
		c := must(ros.NewContext(ros.Options{Args: append([]string{"--ros-args", "--disable-external-lib-logs"},
			args...),
			Backend: ros.InProcess(d), Getenv: func(string) string { return "" }, Stderr: io.Discard}))(t)
		rostest.Spin(t, c, 2)
		return c
	}
	h := &harness{t: t, latents: make(chan msgs.Latent, 100)}
	h.e = must(New(join(args...)))(t)
	n := must(join().NewNode("tester"))(t)
	h.n = n
	received := must(ros.NewSubscription(n, "latent", node.LatentQoS(), func(m *msgs.Latent, _ ros.Info) {
		z := *m
		z.Mean = slices.Clone(m.Mean)
		h.latents <- z
	}))(t)
	h.steps = must(ros.NewPublisher[msgs.Step](n, "step", node.StepQoS()))(t)
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	if err := ros.WaitForMatched(ctx, h.steps, 1); err != nil {
		t.Fatal(err)
	}
	if err := ros.WaitForMatched(ctx, received, 1); err != nil {
		t.Fatal(err)
	}
	h.tick = control.TickRecord{Stamp: 1_700_000_000_000_000_000, State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()},
		Sent: quad.Command{Thrust: 9.9}}
	return h
}

// step sends one step under a bundle, and returns the latent that answers it.
func (h *harness) step(id string) msgs.Latent {
	h.t.Helper()
	h.send(id)
	select {
	case z := <-h.latents:
		if z.Header.Stamp != h.m.Header.Stamp || z.BundleID != id {
			h.t.Fatalf("latent %+v for a step of %v under %s", z, h.m.Header.Stamp, id)
		}
		return z
	case <-time.After(long):
		h.t.Fatalf("no latent for step %d under %s", h.tick.Seq, id)
		panic("not reached")
	}
}

func (h *harness) send(id string) {
	h.t.Helper()
	h.tick.Bundle = id
	bridge.PutStep(&h.m, &h.tick, "world")
	if err := h.steps.Publish(&h.m); err != nil {
		h.t.Fatal(err)
	}
	h.tick.Seq++
	h.tick.Stamp += 2e7
	h.tick.State.V.X += 0.01
}

// publish sends a bundle on the topic.
func (h *harness) publish(b *bundle.Bundle) {
	h.t.Helper()
	data := must(b.Encode())(h.t)
	m := &msgs.Bundle{ID: b.ID, Parent: b.Parent, Robot: b.Robot, Task: b.Task, Data: data, Sha256: sha256.Sum256(data)}
	pub := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(h.t)
	if err := pub.Publish(m); err != nil {
		h.t.Fatal(err)
	}
}

func zero(z []float32) bool { return !slices.ContainsFunc(z, func(x float32) bool { return x != 0 }) }

// The encoder is that of the bundle that flies: the window is whole after its 21 rows and outlives a swap; of a bundle
// that never came nothing is said.
func TestFollowsTheBundleThatFlies(t *testing.T) {
	a, b := read(t, "a.vnd"), read(t, "b.vnd")
	h := newHarness(t, "-p", "bundle_file:="+filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	window := a.Dimensions["context"] + 1
	for k := range window + 5 {
		z := h.step(a.ID)
		if whole := k >= window-1; len(z.Mean) != 4 || zero(z.Mean) == whole || (z.Novelty == 1) == whole &&
			z.Novelty == 1 {
			t.Fatalf("step %d: %+v", k, z)
		}
	}
	if err := h.e.prepare(b); err != nil {
		t.Fatal(err)
	}
	if z := h.step(a.ID); zero(z.Mean) {
		t.Error("a bundle that does not fly yet changes the encoder")
	}
	if z := h.step(b.ID); zero(z.Mean) {
		t.Error("the window did not outlive the swap")
	}
	for range 6 { // beyond the age of a latent: fewer are bridged
		h.send("0123456789ab")
	}
	if z := h.step(a.ID); !zero(z.Mean) || z.Novelty != 1 {
		t.Errorf("after steps that nobody read the window is whole: %+v", z)
	}
	for range window {
		h.step(a.ID)
	}
	h.tick.Stage = guard.NotOffboard
	h.send(a.ID)
	h.tick.Stage = guard.Policy
	if z := h.step(a.ID); !zero(z.Mean) { // the step before has no latent, or this one would not be its own
		t.Errorf("the window holds a command that nobody followed: %+v", z)
	}
	if h.e.lost.Load() != 0 {
		t.Errorf("%d steps lost", h.e.lost.Load())
	}
	h.tick.Seq += 3
	h.step(a.ID)
	if h.e.lost.Load() != 3 {
		t.Errorf("%d steps lost, expected 3", h.e.lost.Load())
	}
}

func TestRefuses(t *testing.T) {
	h := newHarness(t)
	b := read(t, "a.vnd")
	b.Robot = "arm"
	if err := h.e.prepare(b); err == nil || !strings.Contains(err.Error(), `is of robot "arm", expected "`+quadrotor.Name) {
		t.Error(err)
	}
	h.publish(b)
	want := `topic bundle: bundle ` + b.ID + ` is of robot "arm", expected "quadrotor"`
	for end := time.Now().Add(long); h.e.trouble.Load() == nil ||
		*h.e.trouble.Load() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the trouble is %v, expected %s", h.e.trouble.Load(), want)
		}
	}
	b = read(t, "a.vnd")
	b.Dt = 0.03
	if err := h.e.prepare(b); err == nil || !strings.Contains(err.Error(), "rate is 50 Hz, expected a multiple") {
		t.Error(err)
	}
	var p Params
	if err := param.Check(&p); err != nil {
		t.Error(err)
	}
}

// listening has a harness hear of the node's health: the function waits until a task says words.
func (h *harness) listening() (says func(task string, level diagnostics.Level, words string)) {
	h.t.Helper()
	said := make(chan diagnosticmsgs.DiagnosticStatus, 100)
	must(ros.NewSubscription(h.n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			for _, s := range m.Status {
				select {
				case said <- s:
				default:
				}
			}
		}))(h.t)
	return func(task string, level diagnostics.Level, words string) {
		h.t.Helper()
		deadline := time.After(long)
		for {
			select {
			case s := <-said:
				if s.Name == Name+": "+task && s.Level == uint8(level) && strings.Contains(s.Message, words) {
					return
				}
			case <-deadline:
				h.t.Fatalf("%s does not say %q", task, words)
			}
		}
	}
}

// A first bundle without a model is no fault: there are no latents to be had, and the health of the node says so.
func TestBareBundle(t *testing.T) {
	h := newHarness(t, "-p", "diagnostic_updater.period:=0.05")
	says := h.listening()
	h.e.bare.Store(&bare{"bare", "has no model"})
	h.send("bare")
	says("latent", diagnostics.OK, "bundle bare has no model")
	says("rate", diagnostics.OK, "no latents")
	h.send("other")
	says("latent", diagnostics.Warn, "bundle other flies, which did not come")
}

// For a policy that is given no state none is made of states.
func TestNoLatentsWithoutState(t *testing.T) {
	h := newHarness(t, "-p", "diagnostic_updater.period:=0.05", "-p",
		"bundle_file:="+filepath.Join("..", "..", "flight", "control", "testdata", "features.vnd"))
	says := h.listening()
	for range 50 {
		h.send(read(t, "features.vnd").ID)
	}
	says("latent", diagnostics.OK, "has a policy that is given no state")
	says("rate", diagnostics.OK, "no latents")
	if len(h.latents) > 0 {
		t.Error("there is a latent")
	}
}

// While commands are not followed there are no latents either, of a bundle that has a model, and that is no fault.
func TestHealthNotOffboard(t *testing.T) {
	h := newHarness(t, "-p", "diagnostic_updater.period:=0.05", "-p",
		"bundle_file:="+filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	a, says := read(t, "a.vnd").ID, h.listening()
	h.step(a)
	h.tick.Stage = guard.NotOffboard
	h.send(a)
	for _, task := range []string{"rate", "latency"} {
		says(task, diagnostics.OK, "no latents: commands are not followed")
	}
	h.tick.Stage = guard.Policy
	h.step(a)
	if h.e.notOffboard.Load() {
		t.Error("it is not told that commands are followed again")
	}
}

// A bundle that comes by file and by topic is ready, and stays so when another one comes.
func TestBundleByFileAndByTopicIsReady(t *testing.T) {
	a, b := read(t, "a.vnd"), read(t, "b.vnd")
	h := newHarness(t, "-p", "bundle_file:="+filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	for _, c := range []struct {
		bundle *bundle.Bundle
		b      bool // whether b is ready, too
	}{{a, false}, {b, true}, {b, true}, {a, true}} {
		if err := h.e.prepare(c.bundle); err != nil {
			t.Fatal(err)
		}
		ready := make(chan [2]bool, 1)
		h.e.steps.Post(func() { ready <- [2]bool{h.e.latents.Has(a.ID), h.e.latents.Has(b.ID)} })
		if is := <-ready; is != [2]bool{true, c.b} {
			t.Errorf("bundles a and b are ready: %v, expected true and %t", is, c.b)
		}
	}
}
