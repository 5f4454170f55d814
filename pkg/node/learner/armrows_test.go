package learner

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	robotarm "vnd/pkg/robot/arm"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// tinyArm are parameters with which an arm's first policy takes a moment, and no round begins.
var tinyArm = []string{"robot:=arm", "nice:=0", "use_sim_time:=true", "stretch:=4.0", "new_rows:=100000",
	`reference_json:='{"kind": "circle", "speed": 0.25}'`, "base.hidden:=32", "base.epochs:=200", "base.envs:=32",
	"base.horizon:=40", "base.rate:=0.005"}

// watched is background_learner of an arm or a pushed box, with its log.
type watched struct {
	*people
	log  rostest.Console
	stop func()
}

// watch starts it, with people who listen already.
func watch(p *people, d *inproc.Domain, args ...string) *watched {
	w := &watched{people: p}
	ctx, cancel := context.WithCancel(context.Background())
	o, ended := options(d, args...), make(chan error, 1)
	o.Stderr = io.MultiWriter(&w.log, p.t.Output())
	go func() { ended <- Run(ctx, o, Judges{}) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			p.t.Error(err)
		}
	})
	p.t.Cleanup(w.stop)
	return w
}

// moved is an arm beside background_learner.
type moved struct {
	*watched
	states *ros.Publisher[sensormsgs.JointState]
	torque *ros.Publisher[stdmsgs.Float64MultiArray]
	stamp  int64 // of the next joint states, ns
}

// newMoved starts both.
func newMoved(t *testing.T, args ...string) *moved {
	t.Helper()
	d := inproc.NewDomain()
	p := join(t, d)
	m := &moved{stamp: 1e9}
	m.states = must(ros.NewPublisher[sensormsgs.JointState](p.n, node.JointStates, node.JointStatesQoS()))(t)
	m.torque = must(ros.NewPublisher[stdmsgs.Float64MultiArray](p.n, node.JointEfforts, node.CommandQoS()))(t)
	m.watched = watch(p, d, append(tinyArm[:len(tinyArm):len(tinyArm)], args...)...)
	within, done := context.WithTimeout(t.Context(), patience)
	defer done()
	if err := ros.WaitForMatched(within, m.states, 1); err != nil {
		t.Fatal(err)
	}
	if err := ros.WaitForMatched(within, m.torque, 1); err != nil {
		t.Fatal(err)
	}
	return m
}

// stand has the arm stand for some seconds, under torques of 0.
func (m *moved) stand(seconds float64) {
	m.t.Helper()
	still, joints := make([]float64, robotarm.Joints), bridge.PandaJoints(nil)
	for range int(seconds * 50) {
		var s sensormsgs.JointState
		joints.PutJointState(&s, m.stamp, robotarm.Home[:], still, still)
		err := m.states.Publish(&s)
		if err == nil {
			time.Sleep(time.Millisecond) // else the command may come first
			err = m.torque.Publish(&stdmsgs.Float64MultiArray{Data: still})
		}
		if err != nil {
			m.t.Fatal(err)
		}
		m.stamp += 2e7
	}
}

// rows waits until the learner has at least so many.
func (m *watched) rows(least uint64) uint64 {
	m.t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case s := <-m.statuses:
			if s.Transitions >= least {
				return s.Transitions
			}
		case <-deadline:
			m.t.Fatalf("never %d rows: %s", least, m.log.String())
		}
	}
}

// said waits for a line of the log.
func (m *watched) said(text string) {
	m.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(m.log.String(), text); {
		if time.Now().After(deadline) {
			m.t.Fatalf("never %q: %s", text, m.log.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// TestArmRowsSurviveAKill: what was heard is on disk, whatever becomes of the process. Of a file that a crash has cut
// short what is whole is learned from, which one line says.
func TestArmRowsSurviveAKill(t *testing.T) {
	dir := t.TempDir()
	m := newMoved(t, "directory:="+dir)
	m.stand(14)
	before := m.rows(500)
	killed := t.TempDir() // what a kill leaves
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(killed, "collected", "*.seg"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%q, %v", files, err)
	}
	last := files[len(files)-1]
	info, err := os.Stat(last)
	if err == nil {
		err = os.Truncate(last, info.Size()-1)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := newMoved(t, "directory:="+killed)
	if got := again.rows(300); got >= before || got == 0 {
		t.Errorf("%d rows, before the kill there were %d", got, before)
	}
	again.said("damaged: segment " + filepath.Base(last))
}

// TestArmRowsHaveABound: the oldest go, on disk too.
func TestArmRowsHaveABound(t *testing.T) {
	dir := t.TempDir()
	m := newMoved(t, "directory:="+dir, "max_rows:=1000")
	m.stand(40)
	onDisk := func() []string { return must(filepath.Glob(filepath.Join(dir, "collected", "*.seg")))(t) }
	for files := onDisk(); len(files) == 0 || filepath.Base(files[len(files)-1]) < "00000010.seg"; files = onDisk() {
		time.Sleep(time.Millisecond)
	}
	m.stop()
	var size int64
	for _, f := range onDisk() {
		size += must(os.Stat(f))(t).Size()
	}
	if most := int64(1100 * 8 * 22); size > most || size < most/3 {
		t.Errorf("%d bytes, expected at most %d", size, most)
	}
}

// TestArmDiskFull: rows that find no place on disk are learned from all the same, and one line says so.
func TestArmDiskFull(t *testing.T) {
	dir := t.TempDir()
	m := newMoved(t, "directory:="+dir)
	m.stand(5)
	m.rows(100)
	for k := range 5 { // files of these names cannot be replaced
		must("", os.MkdirAll(filepath.Join(dir, "collected", fmt.Sprintf("%08d.seg", k+2), "x"), 0o777))(t)
	}
	m.stand(10)
	m.rows(500)
	m.said("it is a directory")
	if n := strings.Count(m.log.String(), "it is a directory"); n != 1 {
		t.Errorf("said %d times: %s", n, m.log.String())
	}
}
