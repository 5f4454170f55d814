package node_test

import (
	"context"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	navmsgs "vnd/msgs/nav_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/node/armcontroller"
	"vnd/pkg/node/armsim"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// TestLaunchFiles: a launch file of Python and its twin in XML have the same arguments, with the same words, and start
// the same nodes, all of which are there.
func TestLaunchFiles(t *testing.T) {
	argument := regexp.MustCompile(`(?m)^    \('(\w+)', .*, (?:'([^']*)'|"([^"]*)")\),$`)
	started := regexp.MustCompile(`\bnode\('(\w+)'`)
	for _, name := range []string{"arena", "arm", "demo", "replay"} {
		python := string(must(os.ReadFile(filepath.Join("..", "..", "launch", name+".launch.py")))(t))
		var twin struct {
			Args []struct {
				Name        string `xml:"name,attr"`
				Description string `xml:"description,attr"`
			} `xml:"arg"`
			Nodes []struct {
				Package string `xml:"pkg,attr"`
				Exec    string `xml:"exec,attr"`
			} `xml:"node"`
		}
		if err := xml.Unmarshal(must(os.ReadFile(filepath.Join("..", "..", "launch", name+".launch.xml")))(t),
			&twin); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var arguments, inTwin, nodes, nodesInTwin []string
		for _, m := range argument.FindAllStringSubmatch(python, -1) {
			arguments = append(arguments, m[1]+": "+m[2]+m[3])
		}
		for _, a := range twin.Args {
			inTwin = append(inTwin, a.Name+": "+a.Description)
		}
		if len(arguments) == 0 || !slices.Equal(arguments, inTwin) {
			t.Errorf("%s: arguments %q, in XML %q", name, arguments, inTwin)
		}
		for _, m := range started.FindAllStringSubmatch(python, -1) {
			nodes = append(nodes, m[1])
			if _, err := os.Stat(filepath.Join("..", "..", "nodes", m[1], "main.go")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, n := range twin.Nodes {
			if n.Package == "vnd" {
				nodesInTwin = append(nodesInTwin, n.Exec)
			}
		}
		if len(nodes) == 0 || !slices.Equal(nodes, nodesInTwin) {
			t.Errorf("%s: nodes %q, in XML %q", name, nodes, nodesInTwin)
		}
	}
}

// TestRvizOfTheArm: launch/arm.rviz shows the path that arm_controller follows and the tool, in its frame, and the arm
// that launch/panda.urdf describes.
func TestRvizOfTheArm(t *testing.T) {
	file := readRviz(t, "arm.rviz")
	if urdf := string(read(t, "panda.urdf")); !strings.Contains(urdf, `"`+file.Manager.Global.Frame+`"`) {
		t.Errorf("Fixed Frame is %s, which is no link of panda.urdf", file.Manager.Global.Frame)
	}
	d := inproc.NewDomain()
	running(t, d, armsim.New)
	running(t, d, func(_ context.Context, c *ros.Context) error {
		_, err := armcontroller.New(c)
		return err
	}, "autostart:=true", `reference_json:='{"kind": "circle"}'`)
	c := must(ros.NewContext(inGraph(d, new(rostest.Console), "")))(t)
	n := must(c.NewNode("rviz"))(t)
	rostest.Spin(t, c, 1)
	for _, x := range file.Manager.Displays {
		switch x.Class {
		case "rviz_default_plugins/Path":
			if m := shown[navmsgs.Path](t, n, x); len(m.Poses) < 11 || m.Header.FrameID != file.Manager.Global.Frame ||
				m.Poses[0].Pose.Position.X < 0.2 {
				t.Errorf("a path of %d poses in %q", len(m.Poses), m.Header.FrameID)
			}
		case "rviz_default_plugins/MarkerArray":
			if m := shown[visualizationmsgs.MarkerArray](t, n, x).Markers; len(m) == 0 || m[0].Ns != "reference" ||
				m[0].Header.FrameID != file.Manager.Global.Frame || m[0].Pose.Position.X < 0.2 {
				t.Errorf("markers %+v", m)
			}
		}
	}
}

// shown is the first message of a display.
func shown[M any, P ros.Message[M]](t *testing.T, n *ros.Node, x display) *M {
	t.Helper()
	all := make(chan *M, 100)
	must(ros.NewSubscription[M, P](n, x.Topic.Value, x.qos(t), func(m *M, _ ros.Info) { all <- m }))(t)
	select {
	case m := <-all:
		return m
	case <-time.After(patience):
		t.Fatalf("%s is shown nothing", x.Name)
		panic("not reached")
	}
}
