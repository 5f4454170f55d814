package rerun

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	sensormsgs "vnd/msgs/sensor_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

const begin = 1_700_000_000_000_000_000

// flight is n steps, 50 a second, along x beside a reference that is 0.3 m below and 0.4 m to the side. The guard holds
// from the third on.
func flight(n int, end error) iter.Seq2[*msgs.Step, error] {
	return func(yield func(*msgs.Step, error) bool) {
		for i := range n {
			s := &msgs.Step{Velocity: geometrymsgs.Vector3{X: 2}, Command: [4]float64{9, 1, 2, 3},
				CommandSent: [4]float64{10, .1, .2, .3}, Latent: []float32{.5, -1}, BundleID: "abc", Task: "track",
				Confidence: .75}
			s.Header.Stamp, s.Header.FrameID = bridge.Time(begin+int64(i)*2e7), "world"
			s.Pose.Position, s.Pose.Orientation.W = geometrymsgs.Point{X: float64(i), Y: .4, Z: 1}, 1
			s.Reference = []float64{float64(i), 0, .7, 1, 0, 0, math.Pi}
			if i >= 2 {
				s.GuardState = msgs.StepGuardHold
			}
			if !yield(s, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// contents are the messages of a bag by topic.
func contents(t *testing.T, dir string) map[string][]cdr.Message {
	t.Helper()
	r, err := bag.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all := map[string][]cdr.Message{}
	for m, err := range r.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		known, _ := msgs.Lookup(m.Type)
		value := known.New()
		if err := cdr.Unmarshal(m.Data, value); err != nil {
			t.Fatal(m.Topic, err)
		}
		all[m.Topic] = append(all[m.Topic], value)
	}
	return all
}

// Each step is written as what draws it, and a line says what is another than before.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shown")
	if n, err := Write(dir, true, flight(60, nil)); n != 60 || err != nil {
		t.Fatal(n, err)
	}
	all := contents(t, dir)
	for topic, want := range map[string][]float64{Position: {59, .4, 1}, Velocity: {2, 0, 0}, Command: {10, .1, .2, .3},
		Error: {.5}, Policy: {9, 1, 2, 3}, Latent: {.5, -1}, Guard: {float64(msgs.StepGuardHold), .75}} {
		last := all[topic][len(all[topic])-1].(*sensormsgs.JointState)
		if d := cmp.Diff(want, last.Position, cmpopts.EquateApprox(0, 1e-12)); d != "" || len(all[topic]) != 60 ||
			len(last.Name) != len(want) {
			t.Errorf("%s: %d messages, names %q, %s", topic, len(all[topic]), last.Name, d)
		}
	}
	body := all[Transforms][59].(*tf2msgs.TFMessage).Transforms[0]
	if body.ChildFrameID != "base_link" || body.Header.FrameID != "world" || body.Transform.Translation.X != 59 {
		t.Errorf("%+v", body)
	}
	turned := all[Reference][0].(*geometrymsgs.PoseStamped).Pose.Orientation
	if math.Abs(turned.Z-1) > 1e-12 {
		t.Errorf("a yaw of π is %+v", turned)
	}
	var lines []string
	for _, m := range all[Events] {
		lines = append(lines, m.(*rclinterfaces.Log).Msg)
	}
	if want := []string{"guard: policy", "bundle abc", "task track", "guard: hold"}; !slices.Equal(lines, want) {
		t.Errorf("%q, expected %q", lines, want)
	}
	if n := len(all[Flown]); n != 3 { // at 0, 0.5 and 1 s
		t.Errorf("%d paths", n)
	}
	if c := all[Flown][2].(*sensormsgs.PointCloud2); c.Width != 11 || len(c.Data) != 11*12 {
		t.Errorf("a path of %d points after 1 s, expected 10 a second", c.Width)
	}
}

// Of others' recordings there is what they have, and nothing half-written stays.
func TestWriteOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shown")
	if _, err := Write(dir, false, flight(3, nil)); err != nil {
		t.Fatal(err)
	}
	all := contents(t, dir)
	if len(all) != 5 || len(all[Command]) != 3 || len(all[Error]) > 0 {
		t.Errorf("%d topics", len(all))
	}
	broken := errors.New("broken")
	for want, steps := range map[string]iter.Seq2[*msgs.Step, error]{
		"no steps to write": flight(0, nil), "broken": flight(2, broken), "exists already": nil,
	} {
		to := filepath.Join(t.TempDir(), "none")
		if steps == nil {
			to, steps = dir, flight(3, nil)
		}
		if _, err := Write(to, true, steps); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
		if _, err := os.Stat(to); to != dir && err == nil {
			t.Errorf("%s: a folder is left", want)
		}
	}
}

// The path holds the last 20 s, and begins anew where the clock is set back.
func TestTrail(t *testing.T) {
	var p trail
	last := func(from, to int64) (points int) {
		for at := from; at <= to; at += 2e7 {
			s := &msgs.Step{}
			s.Header.Stamp = bridge.Time(at)
			if c := p.next(s); c != nil {
				points = int(c.Width)
			}
		}
		return points
	}
	if n := last(begin, begin+30e9); n != 201 {
		t.Errorf("%d points after 30 s, expected those of 20 s", n)
	}
	if n := last(begin, begin+1e9); n != 11 {
		t.Errorf("%d points 1 s after the clock was set back", n)
	}
}

// Rerun's own reader draws all of it. make rerun sets VND_RERUN, a Python with rerun-sdk.
func TestRerunReads(t *testing.T) {
	python := os.Getenv("VND_RERUN")
	if python == "" {
		t.Skip("VND_RERUN is not set (make rerun sets it): no Rerun at hand")
	}
	dir := filepath.Join(t.TempDir(), "shown")
	if _, err := Write(dir, true, flight(60, nil)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "read.py"), filepath.Join(dir, "shown_0.mcap"))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var drawn map[string]map[string][]any
	if err := json.Unmarshal(text, &drawn); err != nil {
		t.Fatal(err)
	}
	for entity, want := range map[string]struct{ component, last string }{
		Transforms: {"Transform3D:translation", "[[59 0.4000000059604645 1]]"},
		Flown:      {"Points3D:positions", ""},
		Reference:  {"InstancePoses3D:translations", "[[59 0 0.699999988079071]]"},
		Events:     {"TextLog:text", "[[policy_controller] guard: hold]"},

		Position + "/position": {"Scalars:scalars", "[59 0.4 1]"},
		Command + "/position":  {"SeriesLines:names", "[thrust wx wy wz]"},
		Error + "/position":    {"Scalars:scalars", "[0.5]"},
		Latent + "/position":   {"SeriesLines:names", "[z0 z1]"},
		Guard + "/position":    {"Scalars:scalars", "[2 0.75]"},
	} {
		values := drawn[entity][want.component]
		if len(values) == 0 || want.last != "" && fmt.Sprint(values[len(values)-1]) != want.last {
			t.Errorf("%s of %s: %d values, expected the last to be %s: %v", want.component, entity, len(values),
				want.last, values[max(0, len(values)-1):])
		}
	}
}
