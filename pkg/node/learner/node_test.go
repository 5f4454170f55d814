package learner

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/dataset/datasettest"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

func TestParameterFile(t *testing.T) {
	paramtest.File[Params](t, Name)
	var p Params
	param.Default(&p)
	if err := p.check(); err != nil {
		t.Error(err)
	}
	var inLab struct {
		Sim bool `param:"use_sim_time" default:"false" doc:"time from /clock"`
		Params
	}
	param.Default(&inLab)
	if err := param.Load(filepath.Join("..", "..", "..", "params", "lab.yaml"), "/quad/"+Name, &inLab); err != nil {
		t.Error(err)
	}
	if inLab.Limits != p.Limits {
		t.Errorf("params/lab.yaml has limits %+v, expected the default %+v", inLab.Limits, p.Limits)
	}
}

// patience is how long a test waits for what must happen.
const patience = 5 * time.Minute

// tiny are parameters with which a round takes a moment, and nearly everything passes.
var tiny = []string{"task:=hover", "nice:=0", "new_rows:=400", "least_data:=8.0", "fit.train.updates:=60",
	"fit.train.batch:=16", "fit.loss.steps:=5",
	"fit.warm_start.updates:=10", "fit.warm_start.batch:=16", "policy.hidden:=16", "policy.epochs:=5",
	"policy.rate:=0.0002",
	"fine_tune.epochs:=5", "fine_tune.rate:=0.0002", "policy.envs:=16", "policy.horizon:=40", "policy.flights:=1",
	"base.hidden:=16", "base.epochs:=40", "base.envs:=16", "base.horizon:=40", "base.flights:=1",
	"gate.shadow.flights:=2", "gate.shadow.seconds:=0.5", "gate.shadow.settle:=0.0", "gate.canary.flights:=2",
	"gate.canary.settle:=0.0",
	"gate.tolerance:=10.0", "gate.first_error:=100.0", "gate.saturation:=60.0", "gate.rate:=1000.0",
	"gate.resamples:=100",
	"judge.seconds:=1.0", "judge.wind:=0.5", "buffer.segment_seconds:=5.0"}

func options(d *inproc.Domain, args ...string) ros.Options {
	all := []string{"--ros-args", "--disable-external-lib-logs", "-r", "__ns:=/quad"}
	for _, p := range args {
		all = append(all, "-p", p)
	}
	return ros.Options{Args: all, Threads: 2, Backend: ros.InProcess(d), Getenv: func(string) string { return "" },
		Stderr: io.Discard}
}

// begin runs the node until stop.
func begin(t *testing.T, d *inproc.Domain, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, options(d, append(append([]string(nil), tiny...), args...)...),
			Judges{Quadrotor: closedloop.NewJudge})
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// declaredPhases are those of LearnerStatus.msg.
var declaredPhases = []string{
	msgs.LearnerStatusPhaseWaiting, msgs.LearnerStatusPhaseNotEnoughGoodData, msgs.LearnerStatusPhasePaused,
	msgs.LearnerStatusPhaseBasePolicy,
	msgs.LearnerStatusPhaseFit,
	msgs.LearnerStatusPhaseEncode, msgs.LearnerStatusPhaseImprove, msgs.LearnerStatusPhaseGate,
	msgs.LearnerStatusPhaseJudgeAgain,
}

// The learner's phases are those that LearnerStatus.msg declares.
func TestPhasesAreDeclaredInLearnerStatus(t *testing.T) {
	phases := []string{string(rounds.Waiting), string(rounds.NotEnough), string(rounds.Paused),
		string(rounds.BasePolicy),
		string(continual.Fitting),
		string(continual.Encoding), string(continual.Improving), string(continual.Gating), string(rounds.Rejudging)}
	if !slices.Equal(phases, declaredPhases) {
		t.Errorf("phases %q, LearnerStatus.msg has %q", phases, declaredPhases)
	}
}

// people are those who listen, and a recorder.
type people struct {
	t        *testing.T
	n        *ros.Node
	bundles  chan msgs.Bundle
	statuses chan msgs.LearnerStatus
	segments *ros.Publisher[msgs.BufferSegment]
	steps    *ros.Publisher[msgs.Step]
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func join(t *testing.T, d *inproc.Domain) *people {
	t.Helper()
	c := must(ros.NewContext(options(d)))(t)
	p := &people{t: t, n: must(c.NewNode("people"))(t), bundles: make(chan msgs.Bundle, 100),
		statuses: make(chan msgs.LearnerStatus, 10000)}
	must(ros.NewSubscription(p.n, "bundle", node.LatchedQoS(), func(m *msgs.Bundle, _ ros.Info) {
		kept := *m
		kept.Data = append([]byte(nil), m.Data...)
		p.bundles <- kept
	}))(t)
	must(ros.NewSubscription(p.n, "learner/status", node.LatchedQoS(), func(m *msgs.LearnerStatus, _ ros.Info) {
		if !slices.Contains(declaredPhases, m.Phase) {
			t.Errorf("LearnerStatus.msg does not declare the phase %q", m.Phase)
		}
		p.statuses <- *m
	}))(t)
	p.segments = must(ros.NewPublisher[msgs.BufferSegment](p.n, "buffer",
		ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 100}))(t)
	p.steps = must(ros.NewPublisher[msgs.Step](p.n, "step", node.StepQoS()))(t)
	rostest.Spin(t, c, 1)
	return p
}

// bundle waits for the next one, which must be what it says that it is.
func (p *people) bundle() *bundle.Bundle {
	p.t.Helper()
	select {
	case m := <-p.bundles:
		return must(node.Unpack(&m))(p.t)
	case <-time.After(patience):
		p.t.Fatal("no bundle came")
		panic("not reached")
	}
}

// status waits for one whose message contains a text.
func (p *people) status(text string) msgs.LearnerStatus {
	p.t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case m := <-p.statuses:
			if strings.Contains(m.Message, text) {
				return m
			}
		case <-deadline:
			p.t.Fatalf("no status with %q", text)
		}
	}
}

func (p *people) trigger(service string) *stdsrvs.TriggerResponse {
	p.t.Helper()
	c := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](p.n,
		"/quad/background_learner/"+service))(p.t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.WaitForService(ctx); err != nil {
		p.t.Fatal(err)
	}
	return must(c.Call(ctx, &stdsrvs.TriggerRequest{}))(p.t)
}

func (p *people) pause(on bool) *stdsrvs.SetBoolResponse {
	p.t.Helper()
	c := must(ros.NewClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](p.n,
		"/quad/background_learner/pause"))(p.t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return must(c.Call(ctx, &stdsrvs.SetBoolRequest{Data: on}))(p.t)
}

// shaky hovers by a plain law, with noise from which a model can learn.
type shaky struct{ rng *rand.Rand }

func (shaky) Reset() {}

func (c shaky) Command(_ float64, s *quad.State) quad.Command {
	up, n := s.Q.Rotate(so3.Vec3{Z: 1}), func() float64 { return 0.3 * c.rng.NormFloat64() }
	return quad.Command{Thrust: quad.Gravity - 3*(s.P.Z-1) - 2*s.V.Z + n(), Rates: so3.Vec3{
		X: 4*(up.Y+0.1*s.V.Y+0.1*s.P.Y) + n(), Y: -4*(up.X+0.1*s.V.X+0.1*s.P.X) + n()}}
}

// hovering is a flight of the full simulator.
func hovering(t *testing.T, seconds float64) (rows []quad.Row) {
	t.Helper()
	var spec reference.Hover
	param.Default(&spec)
	s := &closedloop.Setup{Seed: 1, Path: must(reference.New(&spec))(t), Seconds: seconds, Tick: 0.02}
	param.Default(&s.World)
	param.Default(&s.Estimate)
	param.Default(&s.Limits)
	trace := must(closedloop.Fly(s, shaky{rand.New(rand.NewPCG(1, 2))}))(t)
	if trace.Crash != "" {
		t.Fatal(trace.Crash)
	}
	for i := range trace.Rows {
		r := &trace.Rows[i]
		if r.Estimate.Q == (so3.Quat{}) { // the estimator has none yet
			continue
		}
		rows = append(rows, quad.Row{T: r.T, State: r.Estimate, Command: r.Command})
	}
	return rows
}

// segment puts rows on disk.
func segment(t *testing.T, dir, flight string, seconds int) *msgs.BufferSegment {
	t.Helper()
	var rows []dataset.WeightedRow
	for k, step := range hovering(t, float64(seconds)) {
		step.T = 0.02 * float64(k)
		rows = append(rows, dataset.WeightedRow{Row: step, Confidence: 1})
	}
	f := datasettest.Segment(t, dir, flight, rows)
	return &msgs.BufferSegment{Directory: f.Dir, File: f.File, Rows: f.Rows, Sha256: f.SHA256}
}

// TestStatusCarriesTheValidationLoss: of flights that a fit holds out the status has the loss.
func TestStatusCarriesTheValidationLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	d, dir := inproc.NewDomain(), t.TempDir()
	p := join(t, d)
	buffer := t.TempDir()
	stop := begin(t, d, "directory:="+dir, "buffer_directory:="+buffer, "fit.train.validation:=0.5", "judge.use:=false")
	defer stop()
	p.status("is the first")
	for _, flight := range []string{"f", "g"} {
		if err := p.segments.Publish(segment(t, filepath.Join(buffer, flight), flight, 6)); err != nil {
			t.Fatal(err)
		}
	}
	if s := p.status("round 1 on "); !(s.Validation > 0) {
		t.Errorf("validation %g", s.Validation)
	}
}

// TestLearns: the node trains a first policy, learns from an announced segment, publishes what passed, goes back when
// asked to, and flies after a restart what flew before.
func TestLearns(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	p := join(t, d)
	stop := begin(t, d, "directory:="+dir)
	buffer := filepath.Join(dir, "buffer")
	first := p.bundle()
	if p.status("is the first"); first.Task != "hover" || first.Robot != "quadrotor" {
		t.Errorf("first bundle %+v", first.ID)
	}
	if a := p.pause(true); !a.Success || a.Message != "learning is paused" {
		t.Errorf("%+v", a)
	}
	bad := segment(t, filepath.Join(buffer, "bad"), "f", 1)
	bad.Sha256[3]++
	elsewhere := &msgs.BufferSegment{Directory: "/proc", File: "kmsg", Rows: 1}
	good := segment(t, filepath.Join(buffer, "good"), "f", 10)
	for _, m := range []*msgs.BufferSegment{bad, elsewhere, good} {
		if err := p.segments.Publish(m); err != nil {
			t.Fatal(err)
		}
	}
	if a := p.trigger("train_now"); a.Success || !strings.Contains(a.Message, "paused") {
		t.Errorf("%+v", a)
	}
	if a := p.pause(false); !a.Success {
		t.Errorf("%+v", a)
	}
	second := p.bundle()
	s := p.status("round 1 on ")
	if second.Parent != first.ID || s.BundleID != second.ID || s.Phase != msgs.LearnerStatusPhaseWaiting ||
		s.Transitions < 400 {
		t.Errorf("%s follows %s; %+v", second.ID, second.Parent, s)
	}
	if a := p.trigger("rollback"); !a.Success || p.bundle().ID != first.ID {
		t.Errorf("%+v", a)
	}
	if a := p.trigger("rollback"); a.Success {
		t.Errorf("%+v", a)
	}
	stop()
	stop = begin(t, d, "directory:="+dir)
	if b := p.bundle(); b.ID != first.ID {
		t.Errorf("after a restart %s flies, expected %s", b.ID, first.ID)
	}
	stop()
	other := t.TempDir()
	file := filepath.Join(dir, "bundles", second.ID+".safetensors")
	begin(t, d, "directory:="+other, "bundle_file:="+file)
	if b := p.bundle(); b.ID != second.ID {
		t.Errorf("%s flies, expected that of the file", b.ID)
	}
}

// TestTopic: with nobody who records, the node collects steps itself.
func TestTopic(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	d, dir := inproc.NewDomain(), t.TempDir()
	p := join(t, d)
	begin(t, d, "directory:="+dir, "source:=topic")
	first := p.bundle()
	m := msgs.NewStep()
	for k, s := range hovering(t, 12) {
		bridge.PutStep(m, &control.TickRecord{Seq: uint64(k), Stamp: 1e18 + int64(k)*20e6, State: s.State,
			Sent:   s.Command,
			Bundle: first.ID, Task: "hover",
			Reference: make([]quad.Reference, 1)}, "world")
		if err := p.steps.Publish(m); err != nil {
			t.Fatal(err)
		}
	}
	if second := p.bundle(); second.Parent != first.ID {
		t.Errorf("%s follows %q", second.ID, second.Parent)
	}
}

// TestRefused: a start that cannot be is said in one line.
func TestRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, arg := range map[string]string{
		"parameter directory: bundles":                                    "directory:=" + file,
		"parameter task: ":                                                "task:=juggle",
		"parameter 'new_rows' could not be set":                           "new_rows:=0",
		"parameter 'seconds_per_round' could not":                         "seconds_per_round:=-1.0",
		"buffer.dt is 0.02 s and nominal.dt 0.05: ":                       "nominal.dt:=0.05",
		"judge.poses.latency and judge.poses.rate: poses get 0.105 s old": "judge.poses.latency:=0.1",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := Run(ctx, options(inproc.NewDomain(), "directory:="+t.TempDir(), "source:=topic", "nice:=0", arg),
			Judges{Quadrotor: closedloop.NewJudge})
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %q", arg, err, want)
		}
	}
	d := inproc.NewDomain()
	begin(t, d, "directory:="+t.TempDir(), "bundle_file:="+file)
	join(t, d).status("parameter bundle_file: " + file)
}

func TestInside(t *testing.T) {
	for dir, want := range map[string]bool{"/data/buffer": true, "/data/buffer/a": true, "/data/buffer/": false,
		"/data/buffer2": false, "/data/buffer/../../etc": false, "/etc": false, "": false, "buffer": false} {
		if err := inside("/data/buffer", dir); (err == nil) != want {
			t.Errorf("%q: %v", dir, err)
		}
	}
}
