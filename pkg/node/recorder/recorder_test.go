package recorder

import (
	"bufio"
	"context"
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
	actuatormsgs "vnd/msgs/actuator_msgs"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/node"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

func TestParameterFile(t *testing.T) { paramtest.File[Params](t, Name) }

// patience is how long a test waits.
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

// begun runs the node until stop, which returns its error.
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

// Steps become segments that a learner can read, and all messages are in the bags, with schemas and QoS.
func TestStepsBecomeSegmentsAndBags(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	r := newRobot(t, d)
	stop := begun(t, d, dir)
	r.matched()
	r.fly(80)
	first := r.segment() // of a second
	if answer := r.call("flush"); !answer.Success || answer.Message != "80 rows in 2 segments are on the disk" {
		t.Errorf("flush: %+v", answer)
	}
	second := r.segment()
	checkSegment(t, &first)
	checkSegment(t, &second)
	if first.Rows+second.Rows != 80 || ros.TimeOf(second.Header.Stamp) != ros.Time(begin+79*20e6) {
		t.Errorf("%d and %d rows, the last at %v", first.Rows, second.Rows, second.Header.Stamp)
	}
	r.received("80")
	if a := r.call("stop"); !a.Success || !strings.Contains(a.Message, "is complete") {
		t.Errorf("stop: %+v", a)
	}
	r.fly(5)
	r.received("85")
	r.seq = 200
	if a := r.call("start"); !a.Success {
		t.Errorf("start: %+v", a)
	}
	r.fly(20)
	r.seq += 7
	r.fly(20)
	values := r.diagnostic("steps", "steps were lost on the way")
	if n, err := strconv.Atoi(values["Steps lost (gaps of seq)"]); err != nil || n < 7 {
		t.Errorf("%v", values)
	}
	r.diagnostic("bag", "recording "+dir)
	r.received("125")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	bags := must(filepath.Glob(filepath.Join(dir, "bags", "rosbag2_*")))(t)
	if len(bags) != 2 {
		t.Fatalf("bags %v", bags)
	}
	if total := checkBag(t, bags[0]) + checkBag(t, bags[1]); total != 120 {
		t.Errorf("%d steps in the bags, expected 120", total)
	}
}

// checkSegment reads an announced segment as a learner does.
func checkSegment(t *testing.T, s *msgs.BufferSegment) {
	t.Helper()
	path := filepath.Join(s.Directory, s.File)
	if sum, err := dataset.FileSHA256(path); err != nil || sum != s.Sha256 || s.Header.FrameID != "map" {
		t.Errorf("%+v: %v", s, err)
	}
	g, loss, err := dataset.ReadFile(path, 0.02)
	if err != nil || loss != nil || uint64(len(g.Rows)) != s.Rows || g.Rows[3].Command.Thrust != 9.81 {
		t.Errorf("%s: %v, %v", path, loss, err)
	}
}

// checkBag checks a bag's topics, and returns how many steps it has.
func checkBag(t *testing.T, path string) int {
	t.Helper()
	seqs, topics := steps(t, path)
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
	return len(seqs)
}

func TestStepsOfASecondControllerAreLeftOut(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	first, second := newRobot(t, d), newRobot(t, d)
	begun(t, d, dir)
	first.matched()
	second.matched()
	for range 10 {
		first.fly(1)
		second.fly(1)
	}
	first.diagnostic("steps", "two controllers publish steps")
}

// A restarted controller does not count as a second one.
func TestRestartedControllerIsRecorded(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	first, second := newRobot(t, d), newRobot(t, d)
	begun(t, d, dir)
	first.matched()
	second.matched()
	first.fly(30)
	first.received("30")
	time.Sleep(takeover)
	second.seq = 100
	second.fly(30)
	first.received("60")
	if answer := first.call("flush"); !answer.Success || !strings.HasPrefix(answer.Message, "60 rows ") {
		t.Errorf("flush: %+v", answer)
	}
	if v := first.diagnostic("steps", ""); v["Steps of another controller"] != "0" {
		t.Errorf("%v", v)
	}
}

// The node does not start, with an error of one line.
func TestRunRefusesBadParameters(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRobot(t, d)
	begun(t, d, dir)
	r.matched()
	for want, args := range map[string][]string{
		"parameter directory: buffer":  {"-p", "directory:=" + file},
		"another process is writing":   {"-p", "directory:=" + dir},
		"buffer.dt":                    {"-p", "directory:=" + t.TempDir(), "-p", "buffer.dt:=7.0"},
		"parameter topics":             {"-p", "directory:=" + t.TempDir(), "-p", "topics:=['a b']"},
		"parameter 'topics' could not": {"-p", "directory:=" + t.TempDir(), "-p", "topics:=3"},
	} {
		t.Run(want, func(t *testing.T) {
			err := Run(within(t), options(d, args...))
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: %v, expected %q", args, err, want)
			}
		})
	}
}

// With too little space on the disk there is no bag, but the buffer.
func TestNoSpace(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	r := newRobot(t, d)
	begun(t, d, dir, "-p", "bag.least_free:=1000000000")
	r.matched()
	r.fly(60)
	if s := r.segment(); s.Rows != 50 {
		t.Errorf("%d rows", s.Rows)
	}
	r.diagnostic("bag", "parameter least_free asks for 1000000000")
	if a := r.call("start"); a.Success || !strings.Contains(a.Message, "only the buffer") {
		t.Errorf("start: %+v", a)
	}
}

// A process that is killed while it records loses no more than its last second. The next one announces its segments,
// recovers the bag, and continues.
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
	_ = cmd.Wait() // an error: it was killed
	d := inproc.NewDomain()
	r := newRobot(t, d)
	stop := begun(t, d, dir)
	rows := 0
	for rows < safe {
		rows += int(r.segment().Rows)
	}
	r.matched()
	r.seq = 10_000
	r.fly(60)
	for r.segment().Header.FrameID != "map" { // the frame of older segments is not known any more
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

// recordForever flies and prints how many steps are on the disk, in the buffer and in the bag.
func recordForever(t *testing.T, dir string) {
	d := inproc.NewDomain()
	r := newRobot(t, d)
	begun(t, d, dir)
	r.matched()
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

// Steps of a flight by motors are in the bag and not in the buffer, which would have thrust and rates learned from that
// nobody commanded.
func TestFlightsByMotorsAreNotLearnedFrom(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	r := newRobot(t, d)
	driven := must(ros.NewPublisher[actuatormsgs.Actuators](r.n, "motors", node.CommandQoS()))(t)
	begun(t, d, dir)
	r.matched()
	r.fly(60)
	r.received("60")
	if v := r.diagnostic("steps", "the vehicle is flown by its motors"); v["Steps of flights by motors"] != "60" {
		t.Errorf("%v", v)
	}
	if err := driven.Close(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); node.FlownByMotors(r.n, node.MotorsTopic); time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatal("the motors are still commanded")
		}
	}
	time.Sleep(time.Second) // the recorder looks twice a second
	r.fly(60)
	if s := r.segment(); s.Rows != 50 {
		t.Errorf("%d rows after somebody else commands", s.Rows)
	}
}
