package visualizer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	tf2msgs "vnd/msgs/tf2_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd/bundle"
)

// long is how long a test waits for what must happen.
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

// bench is the node in a process of its own, in the namespace quad, and a test beside it.
type bench struct {
	t    *testing.T
	d    *inproc.Domain
	v    *Visualizer
	n    *ros.Node
	ctx  context.Context
	tick control.TickRecord
	m    msgs.Step

	steps *ros.Publisher[msgs.Step]
	poses *ros.Publisher[geometrymsgs.PoseStamped]
}

// join is one more process.
func (h *bench) join(args ...string) *ros.Context {
	h.t.Helper()
	c := must(ros.NewContext(ros.Options{Args: append([]string{"--ros-args", "--disable-external-lib-logs", "-r",
		"__ns:=/quad"}, args...),
		Backend: ros.InProcess(h.d), Getenv: func(string) string { return "" }, Stderr: io.Discard}))(h.t)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(h.ctx)
	go func() { ended <- c.SpinThreads(ctx, 2) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.t.Error(err)
		}
		if err := c.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return c
}

func newBench(t *testing.T, args ...string) *bench {
	t.Helper()
	h := &bench{t: t, d: inproc.NewDomain(), tick: control.NewTickRecord()}
	var cancel context.CancelFunc
	h.ctx, cancel = context.WithCancel(context.Background())
	t.Cleanup(cancel)
	h.v = must(New(h.ctx, h.join(append(args, "-p", "page.port:=0")...)))(t)
	h.n = must(h.join().NewNode("tester"))(t)
	h.steps = must(ros.NewPublisher[msgs.Step](h.n, "step", node.StepQoS()))(t)
	h.poses = must(ros.NewPublisher[geometrymsgs.PoseStamped](h.n, "mocap/pose", node.MocapQoS()))(t)
	ctx, done := context.WithTimeout(h.ctx, long)
	defer done()
	if err := ros.WaitForMatched(ctx, h.steps, 1); err != nil {
		t.Fatal(err)
	}
	if err := ros.WaitForMatched(ctx, h.poses, 1); err != nil {
		t.Fatal(err)
	}
	h.tick.Stamp, h.tick.Task, h.tick.Bundle = 1_700_000_000_000_000_000, "track", "none"
	h.tick.State = quad.State{P: so3.Vec3{X: 1, Z: 1}, Q: so3.Identity()}
	h.tick.Sent.Thrust, h.tick.Actuator.Thrust = quad.Gravity, quad.Gravity
	h.tick.Reference = append(h.tick.Reference, quad.Reference{P: so3.Vec3{X: 1, Z: 1.25}})
	h.tick.Latent, h.tick.LatentStamp = []float32{1, 0, 0, 0}, 1
	return h
}

// fly sends steps of a flight along y, 50 to a simulated second, no faster than they are taken.
func (h *bench) fly(n int) {
	h.t.Helper()
	for range n {
		h.tick.State.P.Y += .02
		h.tick.State.V.Y = 1
		h.tick.Reference[0].P.Y += .02
		h.tick.Latent[0], h.tick.Latent[1] = -h.tick.Latent[1]+.1, h.tick.Latent[0]
		var p geometrymsgs.PoseStamped
		bridge.PutPoseStamped(&p, h.tick.Stamp, "map", h.tick.State)
		bridge.PutStep(&h.m, &h.tick, "map")
		if err := h.poses.Publish(&p); err != nil {
			h.t.Fatal(err)
		}
		before := h.v.scene.Snapshot(time.Now()).Steps
		if err := h.steps.Publish(&h.m); err != nil {
			h.t.Fatal(err)
		}
		h.until("a step is taken", func() bool { return h.v.scene.Snapshot(time.Now()).Steps > before })
		h.tick.Seq++
		h.tick.Stamp += 2e7
	}
}

func (h *bench) until(what string, holds func() bool) {
	h.t.Helper()
	for end := time.Now().Add(long); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("not in %v: %s", long, what)
		}
	}
}

// subscribe subscribes to a topic as rviz would; the channel holds what came.
func subscribe[T any, P ros.Message[T]](h *bench, topic string) <-chan T {
	h.t.Helper()
	came := make(chan T, 1000)
	must(ros.NewSubscription[T, P](h.n, topic, node.LatchedQoS(), func(m *T, _ ros.Info) {
		kept := *m
		*m = *new(T) // whose lists the next message would be read into
		select {
		case came <- kept:
		default:
		}
	}))(h.t)
	return came
}

// first is the first message that holds.
func first[T any](h *bench, came <-chan T, holds func(*T) bool) T {
	h.t.Helper()
	deadline := time.After(long)
	for {
		select {
		case m := <-came:
			if holds(&m) {
				return m
			}
		case <-deadline:
			h.t.Fatal("it did not come")
		}
	}
}

func anything[T any](*T) bool { return true }

// What flies is drawn on the node's topics, in the frame of the steps.
func TestDraws(t *testing.T) {
	h := newBench(t, "-p", "latent_map_at:=[5.0, 0.0, 0.0]", "-p", "body_frame:=drone")
	tf := make(chan tf2msgs.TFMessage, 1000)
	must(ros.NewSubscription(h.n, "/tf", ros.QoS{Reliability: 1, Depth: 100}, func(m *tf2msgs.TFMessage, _ ros.Info) {
		select {
		case tf <- tf2msgs.TFMessage{Transforms: slices.Clone(m.Transforms)}:
		default:
		}
	}))(t)
	h.until("somebody hears of the frame", func() bool { return h.v.tf.Matched() == 1 })
	flown := subscribe[navmsgs.Path](h, "visualizer/flown")
	vehicle := subscribe[visualizationmsgs.MarkerArray](h, "visualizer/vehicle")
	tube := subscribe[visualizationmsgs.MarkerArray](h, "visualizer/error_tube")
	latents := subscribe[visualizationmsgs.MarkerArray](h, "visualizer/latent_map")
	h.fly(400)
	k := first(h, tf, anything).Transforms[0]
	if k.Header.FrameID != "map" || k.ChildFrameID != "drone" || k.Transform.Translation.X != 1 ||
		k.Transform.Rotation.W != 1 {
		t.Errorf("%+v", k)
	}
	p := first(h, flown, func(m *navmsgs.Path) bool { return len(m.Poses) >= 80 })
	if q := p.Poses[79].Pose.Position; q.X != 1 || q.Y < 7 || p.Header.FrameID != "map" {
		t.Errorf("%+v", q)
	}
	named := func(name string) func(*visualizationmsgs.MarkerArray) bool {
		return func(m *visualizationmsgs.MarkerArray) bool {
			return slices.ContainsFunc(m.Markers,
				func(k visualizationmsgs.Marker) bool { return k.Ns == name && k.Header.FrameID == "map" })
		}
	}
	for _, name := range []string{"body", "thrust", "error", "reference"} {
		first(h, vehicle, named(name))
	}
	first(h, tube, named("error tube"))
	m := first(h, latents, named("latent now"))
	if at := m.Markers[0].Points[0]; at.X < 4 || at.X > 6 {
		t.Errorf("the latent map lies at %+v", at)
	}
	h.until("the latency of all is known", func() bool { return h.v.scene.Snapshot(time.Now()).Latency.Count >= 390 })
}

// A bundle's model imagines beside what is flown under it.
func TestImagines(t *testing.T) {
	h := newBench(t)
	path := filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd")
	data := must(os.ReadFile(path))(t)
	b := must(bundle.Decode(path, data))(t)
	bundles := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(t)
	if err := bundles.Publish(&msgs.Bundle{ID: b.ID, Robot: b.Robot, Task: b.Task, Data: data,
		Sha256: sha256.Sum256(data)}); err != nil {
		t.Fatal(err)
	}
	h.until("the bundle is known", func() bool {
		all := h.v.scene.Snapshot(time.Now()).Bundles
		return len(all) == 1 && all[0].Published && all[0].ID == b.ID
	})
	imagined := subscribe[visualizationmsgs.MarkerArray](h, "visualizer/imagined")
	h.tick.Bundle = b.ID
	for h.v.scene.Snapshot(time.Now()).Imagines == 0 && h.tick.Seq < 3000 {
		h.fly(50)
	}
	m := first(h, imagined, func(m *visualizationmsgs.MarkerArray) bool { return len(m.Markers) > 0 })
	if k := m.Markers[0]; k.Ns != "model" || len(k.Points) != 51 {
		t.Errorf("%s of %d points", k.Ns, len(k.Points))
	}
}

// The page rolls back through the learner's service, and says so where there is none.
func TestRollsBack(t *testing.T) {
	h := newBench(t)
	ctx, cancel := context.WithTimeout(h.ctx, long)
	defer cancel()
	c, _, err := websocket.Dial(ctx, h.v.page.URL()+"live", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	ask := func() (ok bool, text string) {
		if err := c.Write(ctx, websocket.MessageText, []byte(`{"ask": "rollback"}`)); err != nil {
			t.Fatal(err)
		}
		for {
			_, data, err := c.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var r struct {
				Kind, Text string
				OK         bool
			}
			if json.Unmarshal(data, &r) == nil && r.Kind == "reply" {
				return r.OK, r.Text
			}
		}
	}
	if ok, text := ask(); ok || text != "nobody serves /quad/background_learner/rollback" {
		t.Errorf("%t, %q", ok, text)
	}
	var good atomic.Bool
	good.Store(true)
	must(ros.NewService(h.n, "background_learner/rollback",
		func(_ *stdsrvs.TriggerRequest, a *stdsrvs.TriggerResponse) {
			a.Success, a.Message = good.Load(), "bundle x flies"
		}))(t)
	h.until("the service is there", h.v.rollback.Available)
	if ok, text := ask(); !ok || text != "bundle x flies" {
		t.Errorf("%t, %q", ok, text)
	}
	good.Store(false)
	if ok, text := ask(); ok || text != "bundle x flies" {
		t.Errorf("%t, %q", ok, text)
	}
}

func TestBadInput(t *testing.T) {
	h := newBench(t)
	port := h.v.page.URL()[strings.LastIndex(h.v.page.URL(), ":")+1 : len(h.v.page.URL())-1]
	for want, args := range map[string][]string{
		"parameter page.port: 127.0.0.1:" + port + " is in use": {"-p", "page.port:=" + port},
		"parameter latent_map_at has 2 numbers":                 {"-p", "latent_map_at:=[1.0, 2.0]"},
		"parameter page.address":                                {"-p", "page.address:=here"},
		"history":                                               {"-p", "history:=1.0"},
	} {
		_, err := New(h.ctx, h.join(args...))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %q", args, err, want)
		}
	}
	bundles := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(t)
	if err := bundles.Publish(&msgs.Bundle{ID: "broken", Data: []byte("no bundle"),
		Sha256: sha256.Sum256([]byte("no bundle"))}); err != nil {
		t.Fatal(err)
	}
	h.fly(5)
	if r, err := http.Get(h.v.page.URL()); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("the page: %v", err)
	} else if err := r.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestParams(t *testing.T) {
	var p Params
	if err := param.Check(&p); err != nil {
		t.Fatal(err)
	}
	param.Default(&p)
	if err := p.check(); err != nil || p.Page.Address != "127.0.0.1" || len(p.Page.Hosts) != 0 {
		t.Errorf("%+v: %v", p, err)
	}
}
