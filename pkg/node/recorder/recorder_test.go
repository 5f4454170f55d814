package recorder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/dataset/collect"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

func TestParameterFile(t *testing.T) { paramtest.File[parameters](t, name) }

// patience is how long a test waits for what must happen.
const patience = 60 * time.Second

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
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

func options(d *inproc.Domain, args ...string) ros.Options {
	return ros.Options{Args: append([]string{"--ros-args", "--disable-external-lib-logs", "-r", "__ns:=/quad"},
		args...), Threads: 2,
		Backend: ros.InProcess(d), Getenv: func(string) string { return "" }, Stderr: io.Discard}
}

// begun runs the node until stop, which returns what its process would have said.
func begun(t *testing.T, d *inproc.Domain, dir string, args ...string) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	args = append([]string{"-p", "directory:=" + dir, "-p", "bag.least_free:=0", "-p", "buffer.segment_seconds:=1.0",
		"-p", "diagnostic_updater.period:=0.05"}, args...)
	go func() { ended <- Run(ctx, options(d, args...)) }()
	var once bool
	stop = func() error {
		if once {
			return nil
		}
		once = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

// robot publishes what a controller and a motion capture do.
type robot struct {
	t        testing.TB
	n        *ros.Node
	steps    *ros.Publisher[msgs.Step]
	poses    *ros.Publisher[geometrymsgs.PoseStamped]
	bundles  *ros.Publisher[msgs.Bundle]
	segments chan msgs.BufferSegment
	health   chan diagnosticmsgs.DiagnosticArray
	seq      uint64
}

func newRobot(t testing.TB, d *inproc.Domain) *robot {
	t.Helper()
	c := must(ros.NewContext(options(d)))(t)
	r := &robot{t: t, n: must(c.NewNode("robot"))(t), segments: make(chan msgs.BufferSegment, 1000),
		health: make(chan diagnosticmsgs.DiagnosticArray, 1000)}
	r.steps = must(ros.NewPublisher[msgs.Step](r.n, "step", ros.QoS{Reliability: dds.Reliable, Depth: 50}))(t)
	r.poses = must(ros.NewPublisher[geometrymsgs.PoseStamped](r.n, "mocap/pose", ros.SensorDataQoS()))(t)
	latched := ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 1}
	r.bundles = must(ros.NewPublisher[msgs.Bundle](r.n, "bundle", latched))(t)
	if err := r.bundles.Publish(&msgs.Bundle{ID: "first"}); err != nil {
		t.Fatal(err)
	}
	latched.Depth = 100
	must(ros.NewSubscription(r.n, "buffer", latched, func(m *msgs.BufferSegment, _ ros.Info) { r.segments <- *m }))(t)
	must(ros.NewSubscription(r.n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			kept := *m
			kept.Status = slices.Clone(m.Status)
			for i := range kept.Status {
				kept.Status[i].Values = slices.Clone(m.Status[i].Values)
			}
			r.health <- kept
		}))(t)
	rostest.Spin(t, c, 1)
	return r
}

// heard waits until somebody listens to all that is published.
func (r *robot) heard() {
	r.t.Helper()
	for _, p := range []interface{ Matched() int }{r.steps, r.poses, r.bundles} {
		for begin := time.Now(); p.Matched() == 0; time.Sleep(time.Millisecond) {
			if time.Since(begin) > patience {
				r.t.Fatal("nobody listens")
			}
		}
	}
}

const begin = int64(1_700_000_000_000_000_000)

// fly publishes ticks at 50 Hz of simulated flight.
func (r *robot) fly(ticks int) {
	r.t.Helper()
	for range ticks {
		at := begin + int64(r.seq)*20e6
		m := msgs.NewStep()
		m.Header.Stamp, m.Header.FrameID = ros.Time(at).Msg(), "map"
		m.Seq, m.Pose.Position.X, m.CommandSent[0], m.BundleID = r.seq, float64(r.seq), 9.81, "first"
		p := &geometrymsgs.PoseStamped{Pose: m.Pose}
		p.Header = m.Header
		if err := errors.Join(r.poses.Publish(p), r.steps.Publish(m)); err != nil {
			r.t.Fatal(err)
		}
		r.seq++
	}
}

func (r *robot) segment() msgs.BufferSegment {
	r.t.Helper()
	select {
	case s := <-r.segments:
		return s
	case <-time.After(patience):
		r.t.Fatal("no segment was announced")
		panic("not reached")
	}
}

func (r *robot) call(service string) *stdsrvs.TriggerResponse {
	r.t.Helper()
	c := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](r.n,
		"/quad/transition_recorder/"+service))(r.t)
	defer c.Close()
	ctx := within(r.t)
	if err := c.WaitForService(ctx); err != nil {
		r.t.Fatal(err)
	}
	return must(c.Call(ctx, &stdsrvs.TriggerRequest{}))(r.t)
}

// told waits for a diagnostic whose message contains a text, and returns its values.
func (r *robot) told(task, text string) map[string]string {
	r.t.Helper()
	deadline, last := time.After(patience), ""
	for {
		select {
		case m := <-r.health:
			for _, s := range m.Status {
				if !strings.HasSuffix(s.Name, ": "+task) {
					continue
				}
				if last = s.Message; strings.Contains(s.Message, text) {
					values := map[string]string{}
					for _, v := range s.Values {
						values[v.Key] = v.Value
					}
					return values
				}
			}
		case <-deadline:
			r.t.Fatalf("%s says %q, expected %q", task, last, text)
		}
	}
}

// took waits until as many steps and poses were taken.
func (r *robot) took(n string) {
	r.t.Helper()
	for {
		v := r.told("bag", "")
		if v["Messages of /quad/step"] == n && v["Messages of /quad/mocap/pose"] == n {
			return
		}
	}
}

// steps reads those of a bag, by their numbers.
func steps(t *testing.T, dir string) (seqs []uint64, topics map[string]bag.Topic) {
	t.Helper()
	b := must(bag.Open(dir))(t)
	defer b.Close()
	topics = map[string]bag.Topic{}
	for _, x := range b.Topics() {
		topics[x.Name] = x
	}
	it := must(b.Messages("/quad/step"))(t)
	for {
		m, err := it.Next()
		if errors.Is(err, io.EOF) {
			return seqs, topics
		}
		if err != nil {
			t.Fatal(err)
		}
		var d cdr.Decoder
		var s msgs.Step
		d.Reset(m.Data)
		s.UnmarshalCDR(&d)
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, s.Seq)
	}
}

// TestRecorded: steps become segments that a learner can read, and all that came is in the bag, with schemas and QoS.
func TestRecorded(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	r := newRobot(t, d)
	stop := begun(t, d, dir)
	r.heard()
	r.fly(80)
	first := r.segment() // of a second
	if answer := r.call("flush"); !answer.Success || answer.Message != "80 rows in 2 segments are on the disk" {
		t.Errorf("flush: %+v", answer)
	}
	second := r.segment()
	for _, s := range []msgs.BufferSegment{first, second} {
		path := filepath.Join(s.Directory, s.File)
		if sum, err := collect.Sum(path); err != nil || sum != s.Sha256 || s.Header.FrameID != "map" {
			t.Errorf("%+v: %v", s, err)
		}
		if g, loss, err := dataset.ReadFile(path, 0.02); err != nil || loss != nil || uint64(len(g.Rows)) != s.Rows ||
			g.Rows[3].Command.Thrust != 9.81 {
			t.Errorf("%s: %v, %v", path, loss, err)
		}
	}
	if first.Rows+second.Rows != 80 || ros.TimeOf(second.Header.Stamp) != ros.Time(begin+79*20e6) {
		t.Errorf("%d and %d rows, the last at %v", first.Rows, second.Rows, second.Header.Stamp)
	}
	r.took("80")
	if a := r.call("stop"); !a.Success || !strings.Contains(a.Message, "is whole") {
		t.Errorf("stop: %+v", a)
	}
	r.fly(5)
	r.took("85")
	r.seq = 200
	if a := r.call("start"); !a.Success {
		t.Errorf("start: %+v", a)
	}
	r.fly(20)
	r.seq += 7
	r.fly(20)
	values := r.told("steps", "steps were lost on the way")
	if n, err := strconv.Atoi(values["Steps lost (gaps of seq)"]); err != nil || n < 7 {
		t.Errorf("%v", values)
	}
	r.told("bag", "recording "+dir)
	r.took("125")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	bags := must(filepath.Glob(filepath.Join(dir, "bags", "rosbag2_*")))(t)
	if len(bags) != 2 {
		t.Fatalf("bags %v", bags)
	}
	slices.SortFunc(bags, func(a, b string) int {
		return len(a) -
			len(b)
	}) // the second may have the first's name and _1
	total := 0
	for _, b := range bags {
		seqs, topics := steps(t, b)
		total += len(seqs)
		if x := topics["/quad/mocap/pose"]; x.Count != uint64(len(seqs)) || x.QoS[0].Reliability != "best_effort" ||
			!strings.Contains(x.Definition, "MSG: geometry_msgs/Pose") {
			t.Errorf("poses: %+v", x)
		}
		if x := topics["/quad/bundle"]; x.Count != 1 || x.QoS[0].Durability != "transient_local" ||
			x.Type != "vnd/msg/Bundle" {
			t.Errorf("bundles: %+v", x)
		}
		if x := topics["/quad/step"]; x.QoS[0].Reliability != "reliable" || x.QoS[0].Depth != 50 {
			t.Errorf("steps: %+v", x.QoS)
		}
	}
	if total != 120 {
		t.Errorf("%d steps in the bags, expected 120", total)
	}
}

// TestTwoControllers: the steps of a second one are left out, and it is said.
func TestTwoControllers(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	first, second := newRobot(t, d), newRobot(t, d)
	begun(t, d, dir)
	first.heard()
	second.heard()
	for range 10 {
		first.fly(1)
		second.fly(1)
	}
	first.told("steps", "two controllers publish steps")
}

// TestControllerAgain: a controller that was killed and started anew is recorded on, without a word of two.
func TestControllerAgain(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	first, second := newRobot(t, d), newRobot(t, d)
	begun(t, d, dir)
	first.heard()
	second.heard()
	first.fly(30)
	first.took("30")
	time.Sleep(silence)
	second.seq = 100
	second.fly(30)
	first.took("60")
	if answer := first.call("flush"); !answer.Success || !strings.HasPrefix(answer.Message, "60 rows ") {
		t.Errorf("flush: %+v", answer)
	}
	if v := first.told("steps", ""); v["Steps of another controller"] != "0" {
		t.Errorf("%v", v)
	}
}

// TestRefused: a start that cannot be is said in one line.
func TestRefused(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRobot(t, d)
	begun(t, d, dir)
	r.heard()
	for want, args := range map[string][]string{
		"parameter directory: buffer":  {"-p", "directory:=" + file},
		"another process is writing":   {"-p", "directory:=" + dir},
		"buffer.dt":                    {"-p", "directory:=" + t.TempDir(), "-p", "buffer.dt:=7.0"},
		"parameter topics":             {"-p", "directory:=" + t.TempDir(), "-p", "topics:=['a b']"},
		"parameter 'topics' could not": {"-p", "directory:=" + t.TempDir(), "-p", "topics:=3"},
	} {
		err := Run(within(t), options(d, args...))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %q", args, err, want)
		}
	}
}

// TestNoSpace: with too little space on the disk there is no bag, and the buffer goes on.
func TestNoSpace(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	r := newRobot(t, d)
	begun(t, d, dir, "-p", "bag.least_free:=1000000000")
	r.heard()
	r.fly(60)
	if s := r.segment(); s.Rows != 50 {
		t.Errorf("%d rows", s.Rows)
	}
	r.told("bag", "parameter least_free asks for 1000000000")
	if a := r.call("start"); a.Success || !strings.Contains(a.Message, "only the buffer") {
		t.Errorf("start: %+v", a)
	}
}

// TestKilled: a process that is killed while it records loses no more than its last second; the next one announces what
// is there, makes the bag whole, and goes on.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("VND_TEST_RECORDER"); dir != "" {
		recordForever(t, dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$", "-test.v")
	cmd.Env = append(os.Environ(), "VND_TEST_RECORDER="+dir)
	out := must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	safe := 0
	for lines := bufio.NewScanner(out); safe < 75 && lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			safe = n
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	d := inproc.NewDomain()
	r := newRobot(t, d)
	stop := begun(t, d, dir)
	rows := 0
	for rows < safe {
		rows += int(r.segment().Rows)
	}
	r.heard()
	r.seq = 10_000
	r.fly(60)
	for r.segment().Header.FrameID != "map" { // those of before are of a frame that is not known any more
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	bags := must(filepath.Glob(filepath.Join(dir, "bags", "rosbag2_*")))(t)
	slices.Sort(bags)
	if len(bags) != 2 || safe < 75 {
		t.Fatalf("bags %v, %d rows were on disk", bags, safe)
	}
	total := 0
	for _, b := range bags {
		if info, err := bag.Info(b); err != nil || info.Lost.Any() || len(info.Warnings) > 0 {
			t.Errorf("%s: %+v, %v", b, info, err)
		}
		seqs, _ := steps(t, b)
		total += len(seqs)
	}
	if total < safe+60 {
		t.Errorf("%d steps in the bags, expected at least %d and 60", total, safe)
	}
}

// recordForever flies and says how many steps are on the disk, in the buffer and in the bag.
func recordForever(t *testing.T, dir string) {
	d := inproc.NewDomain()
	r := newRobot(t, d)
	begun(t, d, dir)
	r.heard()
	for {
		r.fly(25)
		for onDisk(dir) < int(r.seq)-1 {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Println(r.seq - 1)
	}
}

func onDisk(dir string) int {
	segments, _, err := dataset.ReadDir(filepath.Join(dir, "buffer"), 0.02)
	bags, _ := filepath.Glob(filepath.Join(dir, "bags", "rosbag2_*"))
	if err != nil || len(bags) != 1 {
		return 0
	}
	rows := 0
	for _, s := range segments {
		rows += len(s.Rows)
	}
	info, err := bag.Info(bags[0])
	if err != nil {
		return 0
	}
	for _, x := range info.Topics {
		if x.Name == "/quad/step" {
			return min(rows, int(x.Count))
		}
	}
	return 0
}
