package node_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/encoder"
	"vnd/pkg/node/visualizer"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/ros2/ros/rostest"
)

// display is one of rviz', as its file has it.
type display struct {
	Class string `yaml:"Class"`
	Name  string `yaml:"Name"`
	Topic struct {
		Value       string `yaml:"Value"`
		Depth       int    `yaml:"Depth"`
		Durability  string `yaml:"Durability Policy"`
		History     string `yaml:"History Policy"`
		Reliability string `yaml:"Reliability Policy"`
	} `yaml:"Topic"`
}

// shows is what the displays of rviz take.
var shows = map[string]string{
	"rviz_default_plugins/Path":        "nav_msgs/msg/Path",
	"rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
	"rviz_default_plugins/Pose":        "geometry_msgs/msg/PoseStamped",
}

func (d *display) qos(t *testing.T) ros.QoS {
	t.Helper()
	q := ros.QoS{Depth: d.Topic.Depth}
	switch d.Topic.Reliability {
	case "Reliable":
		q.Reliability = dds.Reliable
	case "Best Effort":
	default:
		t.Errorf("%s: reliability %q", d.Name, d.Topic.Reliability)
	}
	switch d.Topic.Durability {
	case "Transient Local":
		q.Durability = dds.TransientLocal
	case "Volatile":
	default:
		t.Errorf("%s: durability %q", d.Name, d.Topic.Durability)
	}
	if d.Topic.History != "Keep Last" || d.Topic.Depth < 1 {
		t.Errorf("%s: history %q, depth %d", d.Name, d.Topic.History, d.Topic.Depth)
	}
	return q
}

// graph is a flight of the nodes that launch files start, in one process, with the test as motion capture.
func graph(t *testing.T) *ros.Node {
	t.Helper()
	d := inproc.NewDomain()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	join := func(args ...string) *ros.Context {
		c := must(ros.NewContext(ros.Options{Args: append([]string{"--ros-args", "--disable-external-lib-logs", "-r",
			"__ns:=/quad"}, args...),
			Backend: ros.InProcess(d), Getenv: func(string) string { return "" }, Stderr: io.Discard}))(t)
		rostest.Spin(t, c, 3)
		return c
	}
	bundle := "bundle_file:=" + filepath.Join("..", "flight", "control", "testdata", "a.vnd")
	must(encoder.New(join("-p", bundle)))(t)
	must(visualizer.New(ctx, join("-p", "page.port:=0")))(t)
	c := must(controller.New(ctx, join("-p", bundle)))(t)
	for _, id := range []lifecycle.ID{lifecycle.Configure, lifecycle.Activate} {
		if err := c.Change(id); err != nil {
			t.Fatal(err)
		}
	}
	n := must(join().NewNode("tester"))(t)
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "mocap/pose", node.MocapQoS()))(t)
	var m geometrymsgs.PoseStamped
	must(n.NewWallTimer(10*time.Millisecond, func() {
		bridge.PutPoseStamped(&m, time.Now().UnixNano(), "world", quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()})
		if err := pub.Publish(&m); err != nil {
			t.Error(err)
		}
	}))(t)
	return n
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	return must(os.ReadFile(filepath.Join("..", "..", "launch", name)))(t)
}

// rviz is what a file of rviz shows.
type rviz struct {
	Manager struct {
		Displays []display `yaml:"Displays"`
		Global   struct {
			Frame string `yaml:"Fixed Frame"`
		} `yaml:"Global Options"`
	} `yaml:"Visualization Manager"`
}

func readRviz(t *testing.T, name string) (file rviz) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, name), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Every display of launch/vnd.rviz is of a topic that is there, of its type, with a QoS that matches, and is shown
// something.
func TestRviz(t *testing.T) {
	file := readRviz(t, "vnd.rviz")
	n := graph(t)
	var topics []string
	came := map[string]*atomic.Bool{}
	for _, d := range file.Manager.Displays {
		switch d.Class {
		case "rviz_default_plugins/Grid":
			continue
		case "rviz_default_plugins/TF":
			topics = append(topics, "/tf")
			continue
		}
		topic := must(n.ResolveTopic(d.Topic.Value))(t)
		topics = append(topics, topic)
		if strings.HasPrefix(d.Topic.Value, "/") || shows[d.Class] == "" {
			t.Errorf("%s: class %s of topic %q", d.Name, d.Class, d.Topic.Value)
			continue
		}
		q, received := d.qos(t), &atomic.Bool{}
		came[d.Name] = received
		all := n.Context().Graph().Publishers(topic)
		if len(all) != 1 || all[0].Type != shows[d.Class] || all[0].QoS.Reliability < q.Reliability ||
			all[0].QoS.Durability < q.Durability {
			t.Errorf("%s wants %s on %s as %+v; its publishers: %+v", d.Name, shows[d.Class], topic, q, all)
			continue
		}
		must(ros.NewRawSubscription(n, topic, shows[d.Class], q, func([]byte, ros.Info) { received.Store(true) }))(t)
	}
	for name, received := range came {
		for end := time.Now().Add(patience); !received.Load(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is shown nothing", name)
			}
		}
	}
	for _, want := range []string{"/tf", "/quad/reference/path", "/quad/visualizer/flown", "/quad/visualizer/vehicle",
		"/quad/visualizer/error_tube", "/quad/visualizer/imagined", "/quad/visualizer/latent_map"} {
		if !slices.Contains(topics, want) {
			t.Errorf("no display of %s", want)
		}
		if len(n.Context().Graph().Publishers(want)) == 0 {
			t.Errorf("nobody publishes %s", want)
		}
	}
	var sim map[string]map[string]map[string]any
	if err := yaml.Unmarshal(must(os.ReadFile(filepath.Join("..", "..", "params", "quad_sim.yaml")))(t),
		&sim); err != nil {
		t.Fatal(err)
	}
	for _, node := range sim {
		if frame := node["ros__parameters"]["world_frame"]; frame != file.Manager.Global.Frame {
			t.Errorf("Fixed Frame is %s, the simulator's is %v", file.Manager.Global.Frame, frame)
		}
	}
}

// elsewhere are topics of nodes that launch files do not start.
var elsewhere = map[string]string{"/quad/learner/status": "vnd/msg/LearnerStatus"}

// typeOf is the type of a topic in the graph.
func typeOf(n *ros.Node, topic string) string {
	if t := elsewhere[topic]; t != "" {
		return t
	}
	if all := n.Context().Graph().Topics()[topic]; len(all) == 1 {
		return all[0]
	}
	return ""
}

var part = regexp.MustCompile(`^([a-z0-9_]+)(?:\[([0-9]+)\])?$`)

// number reports whether a path such as pose.position.x or command[2] names a number of a message.
func number(typeName string, path []string) bool {
	m, ok := msgs.Lookup(typeName)
	if !ok {
		return false
	}
	v := reflect.TypeOf(m.New()).Elem()
	for _, p := range path {
		g := part.FindStringSubmatch(p)
		if g == nil || v.Kind() != reflect.Struct {
			return false
		}
		f, ok := v.FieldByNameFunc(func(name string) bool {
			return strings.EqualFold(name,
				strings.ReplaceAll(g[1], "_", ""))
		})
		if !ok {
			return false
		}
		v = f.Type
		if g[2] == "" {
			continue
		}
		k, err := strconv.Atoi(g[2])
		if err != nil || v.Kind() != reflect.Slice && (v.Kind() != reflect.Array || k >= v.Len()) {
			return false
		}
		v = v.Elem()
	}
	return v.Kind() >= reflect.Int && v.Kind() <= reflect.Float64
}

// Every curve of the layouts is a number of a topic that is there.
func TestLayouts(t *testing.T) {
	n := graph(t)
	var juggler struct {
		Curves []struct {
			Name string `xml:"name,attr"`
		} `xml:"tabbed_widget>Tab>Container>DockSplitter>DockArea>plot>curve"`
		Plugins []struct {
			Topics struct {
				Value string `xml:"value,attr"`
			} `xml:"selected_topics"`
		} `xml:"Plugins>plugin"`
	}
	if err := xml.Unmarshal(read(t, "plotjuggler.xml"), &juggler); err != nil {
		t.Fatal(err)
	}
	if len(juggler.Curves) < 20 || len(juggler.Plugins) != 2 {
		t.Errorf("%d curves, %d plugins", len(juggler.Curves), len(juggler.Plugins))
	}
	for _, c := range juggler.Curves {
		ok := false
		for topic := range strings.SplitSeq(juggler.Plugins[0].Topics.Value, ";") {
			if path, is := strings.CutPrefix(c.Name, topic+"/"); is &&
				number(typeOf(n, topic), strings.Split(path, "/")) {
				ok = true
			}
		}
		if !ok {
			t.Errorf("PlotJuggler: %s is no number of a topic that is selected", c.Name)
		}
	}
	testFoxglove(t, n)
}

func testFoxglove(t *testing.T, n *ros.Node) {
	var fox struct {
		Panels map[string]struct {
			Paths []struct {
				Value string
			}
			Topics  map[string]any
			Service string `json:"serviceName"`
		} `json:"configById"`
		Layout any
	}
	if err := json.Unmarshal(read(t, "foxglove.json"), &fox); err != nil {
		t.Fatal(err)
	}
	var placed []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			placed = append(placed, v)
		case map[string]any:
			walk(v["first"])
			walk(v["second"])
		}
	}
	walk(fox.Layout)
	slices.Sort(placed)
	if !slices.Equal(placed, slices.Sorted(maps.Keys(fox.Panels))) {
		t.Errorf("Foxglove: panels %v", placed)
	}
	curves, shown := 0, 0
	for name, p := range fox.Panels {
		for _, c := range p.Paths {
			topic, path, _ := strings.Cut(c.Value, ".")
			if !number(typeOf(n, topic), strings.Split(path, ".")) {
				t.Errorf("Foxglove: %s: %s is no number of a topic that is there", name, c.Value)
			}
			curves++
		}
		for topic := range p.Topics {
			if !slices.Contains(slices.Collect(maps.Values(shows)), typeOf(n, topic)) {
				t.Errorf("Foxglove: %s shows %s, which is %q", name, topic, typeOf(n, topic))
			}
			shown++
		}
		if p.Service != "" {
			all := n.Context().Graph()
			of, err := all.Of(all.Nodes()[slices.IndexFunc(all.Nodes(),
				func(x rmw.NodeName) bool { return x.Name == visualizer.Name })])
			if err != nil || of.Clients[p.Service] == nil {
				t.Errorf("Foxglove: %s calls %s, which the page does not (%v)", name, p.Service, err)
			}
		}
	}
	if curves < 15 || shown < 6 {
		t.Errorf("Foxglove: %d curves, %d topics in space", curves, shown)
	}
}

// The tests above would see a field that is not there.
func TestNumber(t *testing.T) {
	for path, want := range map[string]bool{"pose.position.x": true, "command[3]": true, "command[4]": false,
		"reference[30]": true, "latent[0]": true, "guard_state": true,
		"pose": false, "pose.position.w": false, "command": false, "task": false, "header.stamp.sec": true,
		"header.stamp[0]": false, "pose..x": false} {
		if number("vnd/msg/Step", strings.Split(path, ".")) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}
