package torture

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
)

// TestFlood publishes steps at 200 Hz and eight bodies of motion capture at 360 Hz: all of it is in the bag. In the
// short test motion capture is reliable, as nothing else is on a machine that is busy; in the long one it is best
// effort.
func TestFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("a process")
	}
	f := newField(t)
	const bodies = 8
	seconds, mocap := 1, ros.QoS{Reliability: dds.Reliable, Depth: 2000}
	if long() {
		seconds, mocap = 60, node.MocapQoS()
	}
	var names []string
	for k := range bodies {
		names = append(names, fmt.Sprintf("mocap/body%d", k))
	}
	deep := node.StepQoS()
	deep.Depth = 2000
	steps := must(ros.NewPublisher[msgs.Step](f.n, "/quad/step", deep))(t)
	var poses []*ros.Publisher[geometrymsgs.PoseStamped]
	for _, name := range names {
		poses = append(poses, must(ros.NewPublisher[geometrymsgs.PoseStamped](f.n, "/quad/"+name, mocap))(t))
	}
	p := f.start("transition_recorder", "directory:="+f.data, "bag.least_free:=0",
		"topics:=['"+strings.Join(names, "','")+"']")
	if err := ros.WaitForMatched(f.ctx, steps, 2); err != nil { // the test listens too
		t.Fatal(err)
	}
	for _, pub := range poses {
		if err := ros.WaitForMatched(f.ctx, pub, 1); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]uint64{"/quad/step": uint64(200 * seconds)}
	for _, name := range names {
		want["/quad/"+name] = uint64(360 * seconds)
	}
	flood(t, steps, poses, seconds)
	f.written(uint64((200 + bodies*360) * seconds))
	p.end()
	bags := must(filepath.Glob(filepath.Join(f.data, "bags", "rosbag2_*")))(t)
	if len(bags) != 1 {
		t.Fatalf("bags %v", bags)
	}
	checkCounts(t, bags[0], want)
}

// flood publishes steps at 200 Hz and poses of each publisher at 360 Hz.
func flood(t *testing.T, steps *ros.Publisher[msgs.Step], poses []*ros.Publisher[geometrymsgs.PoseStamped],
	seconds int) {
	t.Helper()
	ended := make(chan error, 2)
	begin := time.Now()
	go func() {
		ended <- paced(begin, 200, 200*seconds, func(k int, at int64) error {
			m := msgs.NewStep()
			m.Header.Stamp, m.Seq, m.BundleID = bridge.Time(at), uint64(k), "first"
			m.Latent, m.Reference = make([]float32, 12), make([]float64, 35)
			return steps.Publish(m)
		})
	}()
	go func() {
		ended <- paced(begin, 360, 360*seconds, func(_ int, at int64) error {
			var m geometrymsgs.PoseStamped
			m.Header.Stamp, m.Header.FrameID, m.Pose.Orientation.W = bridge.Time(at), "world", 1
			for _, pub := range poses {
				if err := pub.Publish(&m); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}

// checkCounts holds the messages of each topic of a bag to those that were published.
func checkCounts(t *testing.T, path string, want map[string]uint64) {
	t.Helper()
	info, err := bag.Info(path)
	if err != nil || info.Lost.Any() {
		t.Fatalf("%+v, %v", info, err)
	}
	for _, topic := range info.Topics {
		if topic.Count != want[topic.Name] {
			t.Errorf("topic %s: %d messages in the bag, expected %d", topic.Name, topic.Count, want[topic.Name])
		}
		delete(want, topic.Name)
	}
	if len(want) > 0 {
		t.Errorf("not in the bag: %v", want)
	}
}

// written waits until so many messages are on disk, for as long as a machine that is busy may take.
func (f *field) written(n uint64) {
	for end := time.Now().Add(patience / 4); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		bags, _ := filepath.Glob(filepath.Join(f.data, "bags", "rosbag2_*"))
		if len(bags) == 0 {
			continue
		}
		if info, err := bag.Info(bags[0]); err == nil && info.Messages >= n {
			return
		}
	}
}

// paced calls publish n times at a rate, by a grid that does not drift.
func paced(begin time.Time, rate, n int, publish func(k int, at int64) error) error {
	for k := range n {
		due := begin.Add(time.Duration(k) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		if err := publish(k, due.UnixNano()); err != nil {
			return err
		}
	}
	return nil
}
