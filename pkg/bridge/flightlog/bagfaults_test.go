package flightlog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// vnd's own steps go before the topics that they were made of.
func TestStepsGoFirst(t *testing.T) {
	f := mustRead(t, agile)
	moved := quad.Flight{Segments: [][]quad.Row{slices.Clone(f.Segments[0])}}
	for k := range moved.Segments[0] {
		moved.Segments[0][k].State.P.Z += 0.001
	}
	got, _, err := ReadBag(spoken(t, append(messagesOf(own(), f), messagesOf(steps(), moved)...)), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "steps", got, moved, 1e-12, 1e-12)
}

// withDefinitions records messages in a bag whose definitions of their types are changed.
func withDefinitions(t *testing.T, messages []said, change func(string) string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "lab")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	added := map[string]bool{}
	for _, m := range messages {
		data, err := cdr.Marshal(m.m)
		if err != nil {
			t.Fatal(err)
		}
		if !added[m.topic] {
			added[m.topic] = true
			known, _ := msgs.Lookup(m.m.TypeName())
			if err := w.AddTopic(bag.Topic{Name: m.topic, Type: known.Name,
				Definition: change(known.Definition())}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(&bag.Message{Topic: m.topic, LogTime: epoch + m.log, PublishTime: epoch,
			Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A bag whose definition of a type is another one is refused with the field; comments and constants do not matter.
func TestDefinitions(t *testing.T) {
	f := mustRead(t, agile)
	messages := messagesOf(px4(), f)
	for name, c := range map[string]struct {
		change func(string) string
		want   string
	}{
		"same":     {func(s string) string { return s }, ""},
		"comments": {func(s string) string { return "# by somebody else\nuint8 A_NEW_CONSTANT=7\n" + s }, ""},
		"name": {func(s string) string { return strings.Replace(s, "uint8 pose_frame", "uint8 local_frame", 1) },
			"field 3 of px4_msgs/msg/VehicleOdometry is local_frame, expected pose_frame"},
		"type": {func(s string) string { return strings.Replace(s, "float32[3] position", "float64[3] position", 1) },
			"field position of px4_msgs/msg/VehicleOdometry is float64[3], expected float32[3]"},
		"missing": {func(s string) string { return strings.Replace(s, "int8 quality", "#", 1) },
			"px4_msgs/msg/VehicleOdometry has no field quality"},
		"more": {func(s string) string {
			if strings.Contains(s, "quality") {
				return s + "\nfloat32 more\n"
			}
			return s
		}, "px4_msgs/msg/VehicleOdometry has a field more too many"},
	} {
		t.Run(name, func(t *testing.T) {
			path := withDefinitions(t, messages, c.change)
			_, _, err := ReadBag(path, options(func(o *Options) { o.HoverThrottle = hover }))
			want := "bag " + path + ": topic /fmu/out/vehicle_odometry: the bag's definition of " +
				"px4_msgs/msg/VehicleOdometry is another one: " + c.want
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != want) {
				t.Errorf("error %v, expected %s", err, c.want)
			}
		})
	}
}

func TestBagThatIsNone(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := ReadBag(dir, DefaultOptions()); err == nil ||
		!strings.HasPrefix(err.Error(), "bag "+dir+": no .mcap or .db3 file") {
		t.Errorf("error %v", err)
	}
	path := filepath.Join(dir, "f.mcap")
	if err := os.WriteFile(path, []byte("not a bag at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadBag(path, DefaultOptions()); err == nil || !strings.HasPrefix(err.Error(), "bag "+path+": ") {
		t.Errorf("error %v", err)
	}
}

func TestBagNames(t *testing.T) {
	for path, want := range map[string]string{"a/b": "b", "a/zz.2d_x0.75/": "zz.2d_x0.75", "a/b_0.mcap": "b_0",
		"b_0.db3.zstd": "b_0"} {
		if got := bagName(filepath.FromSlash(path)); got != want {
			t.Errorf("%s is %q, expected %q", path, got, want)
		}
	}
}

// A bag that was cut off gives what it has.
func TestCutOffBag(t *testing.T) {
	path := recorded(t, "flight_mcap")
	file := filepath.Join(path, "flight_mcap_0.mcap")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	f, warnings, err := ReadBag(path, options(func(o *Options) { o.HoverThrottle = 0.5 }))
	if err != nil || len(f.Segments) < 2 || len(f.Segments[0]) != 1539 ||
		!strings.Contains(joined(warnings), "cut off before its end") {
		t.Fatalf("%d segments, warnings %v, error %v", len(f.Segments), warnings, err)
	}
}

// The pose of a delayed camera: same poses, stamped 40 ms late.
func TestPoseDelayOfABag(t *testing.T) {
	f := mustRead(t, agile)
	messages := messagesOf(own(), f)
	for _, m := range messages {
		if m, ok := m.m.(*navmsgs.Odometry); ok {
			m.Header.Stamp = bridge.Time(bridge.Nanoseconds(m.Header.Stamp) + 40e6)
		}
	}
	got, _, err := ReadBag(spoken(t, messages), options(func(o *Options) { o.PoseDelay = 0.04 }))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "delayed", got, f, 2e-6, 1e-9)
}
