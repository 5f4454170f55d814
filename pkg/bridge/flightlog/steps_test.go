package flightlog

import (
	"path/filepath"
	"strings"
	"testing"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Recorded steps come as they are, and those without a stamp at the time of their recording.
func TestRecordedSteps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "flown")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	known, _ := msgs.Lookup(bridge.TypeStep)
	err = w.AddTopic(bag.Topic{Name: "/quad/step", Type: bridge.TypeStep, TypeHash: known.Hash,
		Definition: known.Definition()})
	for i, stamp := range []int64{5e9, 0} {
		s := msgs.Step{Seq: uint64(i), Task: "track", Latent: []float32{1, 2}}
		s.Header.Stamp = bridge.Time(stamp)
		data, problem := cdr.Marshal(&s)
		if err == nil && problem == nil {
			problem = w.Write(&bag.Message{Topic: "/quad/step", Type: bridge.TypeStep, LogTime: 7e9, Data: data})
		}
		if problem != nil {
			t.Fatal(problem)
		}
	}
	if err := w.Finish(err); err != nil {
		t.Fatal(err)
	}
	steps, own, _, err := Steps(dir, DefaultOptions())
	if err != nil || !own {
		t.Fatal(own, err)
	}
	var stamps []int64
	for s, err := range steps {
		if err != nil || s.Task != "track" || len(s.Latent) != 2 || s.Seq != uint64(len(stamps)) {
			t.Errorf("%+v, %v", s, err)
		}
		stamps = append(stamps, bridge.Nanoseconds(s.Header.Stamp))
	}
	if len(stamps) != 2 || stamps[0] != 5e9 || stamps[1] != 7e9 {
		t.Errorf("stamps %d, expected 5 and 7 s", stamps)
	}
}

// Recordings of others become rows, at the times of the recording.
func TestStepsOfOthers(t *testing.T) {
	f := quad.Flight{Name: "f", Segments: [][]quad.Row{nil}}
	for i := range 30 {
		at := float64(i)
		f.Segments[0] = append(f.Segments[0], quad.Row{T: at * .02, Command: quad.Command{Thrust: 9 + at/100},
			State: quad.State{P: so3.Vec3{X: at * .02, Z: 1}, Q: so3.Identity(), V: so3.Vec3{X: 1}}})
	}
	dir := filepath.Join(t.TempDir(), "flown")
	if err := WriteBag(dir, []quad.Flight{f}, BagOptions{Odometry: true}); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Window = 1
	steps, own, _, err := Steps(dir, o)
	if err != nil || own {
		t.Fatal(own, err)
	}
	n := 0
	for s, err := range steps {
		want := f.Segments[0][n]
		if err != nil || bridge.Nanoseconds(s.Header.Stamp) != bagStart+int64(n)*2e7 || s.Velocity.X != 1 ||
			s.Pose.Position.X-want.State.P.X > 1e-12 || s.CommandSent[0] != float64(float32(want.Command.Thrust)) {
			t.Fatalf("row %d: %+v, %v", n, s, err)
		}
		n++
	}
	if n < 28 {
		t.Errorf("%d rows of 30", n)
	}
	if _, _, _, err := Steps(filepath.Join(dir, "none"), o); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("%v of a bag that is not there", err)
	}
}
