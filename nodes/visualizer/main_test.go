package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/nn/nets"
	"vnd/pkg/node"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/vnd"
)

// patience is how long a test waits for what must happen.
const patience = 60 * time.Second

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// said is what a process writes, for others to read meanwhile.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// started is the program as a process.
func started(t *testing.T, program string, args ...string) (*exec.Cmd, *said) {
	t.Helper()
	p, log := exec.Command(program, append([]string{"--ros-args", "-r", "__ns:=/quad"}, args...)...), &said{}
	p.Env = append(append(os.Environ(), "ROS_LOG_DIR="+t.TempDir()), rostest.Environ()...)
	p.Stdout, p.Stderr = log, log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p, log
}

// robot publishes what a flight does, in real time, with a model of the sizes that a fit has by default.
type robot struct {
	t       *testing.T
	n       *ros.Node
	steps   *ros.Publisher[msgs.Step]
	poses   *ros.Publisher[geometrymsgs.PoseStamped]
	bundles *ros.Publisher[msgs.Bundle]
	sent    atomic.Int64 // steps
}

func newRobot(t *testing.T) *robot {
	t.Helper()
	c := rostest.Wire(t, []string{"-r", "__ns:=/quad"})
	r := &robot{t: t, n: must(c.NewNode("robot"))(t)}
	r.steps = must(ros.NewPublisher[msgs.Step](r.n, "step", node.StepQoS()))(t)
	r.poses = must(ros.NewPublisher[geometrymsgs.PoseStamped](r.n, "mocap/pose", node.MocapQoS()))(t)
	r.bundles = must(ros.NewPublisher[msgs.Bundle](r.n, "bundle", node.LatchedQoS()))(t)
	must(ros.NewSubscription(r.n, "visualizer/flown", node.LatchedQoS(), func(*navmsgs.Path, ros.Info) {}))(t)
	for _, topic := range []string{"vehicle", "error_tube", "imagined", "latent_map"} { // as rviz does
		must(ros.NewSubscription(r.n, "visualizer/"+topic, node.LatchedQoS(),
			func(*visualizationmsgs.MarkerArray, ros.Info) {}))(t)
	}
	rostest.Spin(t, c, 1)
	return r
}

// bundle publishes one with an untrained model.
func (r *robot) bundle() string {
	r.t.Helper()
	q := quadrotor.Robot{Dt: .02, Prior: true, Actuator: quadrotor.NominalActuator()}
	m := must(vnd.New(q.System(), nets.Config{Context: 20, Latent: 12, Encoder: nets.EncoderGRU, EncoderDense: 128,
		EncoderHidden: 128, Hidden: 256, Blocks: 2, Film: true, DecoderHidden: 128, Members: 1}))(r.t)
	m.Net.Init(rand.New(rand.NewPCG(1, 2)))
	b := must(vnd.Bundle(m, q, nil, nil))(r.t)
	data := must(b.Encode())(r.t)
	if err := r.bundles.Publish(&msgs.Bundle{ID: b.ID, Parent: b.Parent, Robot: b.Robot, Task: b.Task, Data: data,
		Sha256: sha256.Sum256(data)}); err != nil {
		r.t.Fatal(err)
	}
	return b.ID
}

// fly flies a figure-eight at 50 Hz, with motion capture at 100 Hz, until it is ended.
func (r *robot) fly(bundle string) (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		k := control.NewTickRecord()
		k.Bundle, k.Task, k.Sent.Thrust, k.Actuator.Thrust = bundle, "track", quad.Gravity, quad.Gravity
		k.Latent, k.Reference = make([]float32, 12), make([]quad.Reference, 5)
		var step msgs.Step
		var pose geometrymsgs.PoseStamped
		begin := time.Now().UnixNano()
		for half := range math.MaxInt {
			select {
			case <-stop:
				return
			case <-tick.C:
				t := float64(half) / 100
				k.Stamp = begin + int64(half)*1e7 // evenly, however late it is: no model imagines across gaps
				k.State = quad.State{P: so3.Vec3{X: 1.5 * math.Sin(t), Y: .8 * math.Sin(2*t), Z: 1.2},
					V: so3.Vec3{X: 1.5 * math.Cos(t), Y: 1.6 * math.Cos(2*t)}, Q: so3.Identity()}
				bridge.PutPoseStamped(&pose, k.Stamp, "world", k.State)
				if err := r.poses.Publish(&pose); err != nil {
					r.t.Error(err)
				}
				if half%2 != 0 {
					continue
				}
				for i := range k.Latent {
					k.Latent[i] = float32(math.Sin(t + float64(i)))
				}
				k.LatentStamp = k.Stamp
				k.Reference[0].P = k.State.P.Add(so3.Vec3{Z: .1})
				bridge.PutStep(&step, &k, "world")
				if err := r.steps.Publish(&step); err != nil {
					r.t.Error(err)
				}
				k.Seq++
				r.sent.Add(1)
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}

// The process serves the page of what flies and ends in good order; where its port is taken it says so in one line.
// VND_COST=60s has it go on for as long and tells what it costs.
func TestProcess(t *testing.T) {
	r := newRobot(t)
	program := filepath.Join(t.TempDir(), "visualizer")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p, log := started(t, program, "-p", "page.port:=0")
	defer p.Process.Kill()
	at := regexp.MustCompile(`http://127\.0\.0\.1:([0-9]+)/`)
	for end := time.Now().Add(patience); !at.MatchString(log.String()); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no page: %s", log)
		}
	}
	url := at.FindStringSubmatch(log.String())
	other, refusal := started(t, program, "-p", "page.port:="+url[1])
	if err := other.Wait(); err == nil || other.ProcessState.ExitCode() != 1 ||
		strings.Count(refusal.String(), "\n") != 1 ||
		!strings.Contains(refusal.String(), "visualizer: parameter page.port: 127.0.0.1:"+url[1]+" is in use by another program") {
		t.Errorf("%v: %s", err, refusal)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := ros.WaitForMatched(ctx, r.steps, 1); err != nil {
		t.Fatal(err)
	}
	defer r.fly(r.bundle())()
	watch(t, ctx, url[0])
	if s := os.Getenv("VND_COST"); s != "" {
		r.cost(must(time.ParseDuration(s))(t), p.Process.Pid, url[0])
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, log)
	}
}

// watch looks at the page until there are rows, and something imagined.
func watch(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	if r := must(http.Get(url))(t); r.StatusCode != http.StatusOK {
		t.Errorf("the page: %s", r.Status)
	} else if err := r.Body.Close(); err != nil {
		t.Error(err)
	}
	c, _, err := websocket.Dial(ctx, url+"live", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 22)
	for rows, imagined := 0, false; rows < 50 || !imagined; {
		kind, data, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("after %d rows, imagined: %t: %v", rows, imagined, err)
		}
		if kind == websocket.MessageBinary {
			rows += len(data) / 4 / 43
		}
		imagined = imagined || bytes.Contains(data, []byte(`"kind":"imagined"`))
	}
}

// cost tells what share of a core a process takes, with and without a browser that looks.
func (r *robot) cost(long time.Duration, pid int, url string) {
	t := r.t
	t.Helper()
	share := func() string {
		before, steps, from := spent(t, pid), r.sent.Load(), time.Now()
		time.Sleep(long)
		took := time.Since(from).Seconds()
		return fmt.Sprintf("%.1f %% of a core at %.1f steps a second", 100*(spent(t, pid)-before)/took,
			float64(r.sent.Load()-steps)/took)
	}
	t.Logf("%s, rviz' topics heard, imagining twice a second", share())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, _, err := websocket.Dial(ctx, url+"live", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadLimit(1 << 22)
	go func() {
		for {
			if _, _, err := c.Read(ctx); err != nil {
				return
			}
		}
	}()
	t.Logf("%s, with a browser that looks, too", share())
}

// spent is the processor time of a process, s.
func spent(t *testing.T, pid int) float64 {
	t.Helper()
	data := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t))
	f := strings.Fields(data[strings.LastIndexByte(data, ')')+1:])
	var user, system float64
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	const ticks = 100 // a second, as Linux counts for /proc
	return (user + system) / ticks
}
