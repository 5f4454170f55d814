package node_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/node/armcontroller"
	"vnd/pkg/node/armsim"
	"vnd/pkg/node/betaflightbridge"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/encoder"
	"vnd/pkg/node/learner"
	"vnd/pkg/node/pushcontroller"
	"vnd/pkg/node/quadsim"
	"vnd/pkg/node/recorder"
	"vnd/pkg/node/stateestimator"
	"vnd/pkg/node/visualizer"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/ros2/ros/rostest"
)

var updatePolicy = flag.Bool("update", false, "write launch/sros2/policy.xml by what the nodes use")

// policyFile is the policy of SROS 2 that comes with vnd, for the namespace quad.
var policyFile = filepath.Join("..", "..", "launch", "sros2", "policy.xml")

// profile is what one node uses, as a profile of a policy allows it.
type profile struct {
	Namespace string  `xml:"ns,attr"`
	Node      string  `xml:"node,attr"`
	Rules     []rules `xml:",any"`
}

// rules are topics or services that a profile allows in one way.
type rules struct {
	XMLName   xml.Name
	Reply     string   `xml:"reply,attr,omitempty"`
	Request   string   `xml:"request,attr,omitempty"`
	Subscribe string   `xml:"subscribe,attr,omitempty"`
	Publish   string   `xml:"publish,attr,omitempty"`
	Topics    []string `xml:"topic"`
	Services  []string `xml:"service"`
}

type enclave struct {
	Path     string    `xml:"path,attr"`
	Profiles []profile `xml:"profiles>profile"`
}

type policy struct {
	XMLName  xml.Name  `xml:"policy"`
	Version  string    `xml:"version,attr"`
	Enclaves []enclave `xml:"enclaves>enclave"`
}

// used is what a node of the graph uses: names of topics and services by what is done with them.
type used struct{ reply, request, subscribe, publish map[string]bool }

func newUsed() used {
	return used{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (u *used) add(g rmw.NodeGraph) {
	for names, in := range map[*map[string]bool]map[string][]string{&u.reply: g.Servers, &u.request: g.Clients,
		&u.subscribe: g.Subscriptions, &u.publish: g.Publishers} {
		for name := range in {
			(*names)[strings.TrimPrefix(name, "/quad/")] = true
		}
	}
}

// profile of what is used; names of the robot's namespace are relative, so that the namespace is written once.
func (u *used) profile(name string) profile {
	p := profile{Namespace: "/quad", Node: name}
	const allow = "ALLOW"
	for _, r := range []struct {
		names map[string]bool
		rules rules
	}{
		{u.reply, rules{XMLName: xml.Name{Local: "services"}, Reply: allow}},
		{u.request, rules{XMLName: xml.Name{Local: "services"}, Request: allow}},
		{u.subscribe, rules{XMLName: xml.Name{Local: "topics"}, Subscribe: allow}},
		{u.publish, rules{XMLName: xml.Name{Local: "topics"}, Publish: allow}},
	} {
		all := slices.Sorted(maps.Keys(r.names))
		if len(all) == 0 {
			continue
		}
		if r.rules.XMLName.Local == "services" {
			r.rules.Services = all
		} else {
			r.rules.Topics = all
		}
		p.Rules = append(p.Rules, r.rules)
	}
	return p
}

// graphOf runs nodes in a graph, beside a node that publishes what is listed, and returns what each of them uses.
func graphOf(t *testing.T, begin func(d *inproc.Domain), others [][2]string, nodes map[string]*used) {
	t.Helper()
	d := inproc.NewDomain()
	c := must(ros.NewContext(inGraph(d, new(rostest.Console), "")))(t)
	n := must(c.NewNode("others"))(t)
	for _, o := range others {
		must(ros.NewRawPublisher(n, o[0], o[1], node.MocapQoS()))(t)
	}
	rostest.Spin(t, c, 1)
	begin(d)
	const settled = 700 * time.Millisecond // recorder and controller look at the graph a few times a second
	before, since, begun := 0, time.Now(), time.Now()
	for time.Since(since) < settled {
		count := 0
		for name := range nodes {
			g, err := c.Graph().Of(rmw.NodeName{Namespace: "/quad", Name: name})
			_, made := g.Publishers["/diagnostics"] // which every node makes late
			if err != nil || !made {
				count = -1
				break
			}
			count += len(g.Servers) + len(g.Clients) + len(g.Subscriptions) + len(g.Publishers)
		}
		if count != before || count <= 0 {
			before, since = count, time.Now()
		}
		if time.Since(begun) > patience {
			t.Fatalf("of %v the graph has %v", slices.Collect(maps.Keys(nodes)), c.Graph().Nodes())
		}
		time.Sleep(20 * time.Millisecond)
	}
	for name, u := range nodes {
		u.add(must(c.Graph().Of(rmw.NodeName{Namespace: "/quad", Name: name}))(t))
	}
}

// ofJazzy are options of a process as in ROS 2 Jazzy, where each node has one service more.
func ofJazzy(d *inproc.Domain, single ...string) ros.Options {
	o := inGraph(d, new(rostest.Console), "", single...)
	o.Getenv = func(key string) string { return map[string]string{"ROS_DISTRO": "jazzy"}[key] }
	return o
}

// running runs a node until the test ends.
func running(t *testing.T, d *inproc.Domain, begin func(context.Context, *ros.Context) error, single ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := started(func() error { return ros.Run(ctx, ofJazzy(d, single...), begin) })
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// started runs f on a goroutine, and returns where its error comes.
func started(f func() error) chan error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	return ended
}

// usedByNodes is what the nodes use, under every source of the state and every command interface.
func usedByNodes(t *testing.T) map[string]*used {
	t.Helper()
	all := map[string]*used{}
	for _, name := range []string{controller.Name, controller.GuardName, encoder.Name, recorder.Name, learner.Name,
		visualizer.Name, quadsim.Name, stateestimator.Name, armsim.Name, armcontroller.Name, betaflightbridge.Name,
		pushcontroller.Name} {
		u := newUsed()
		all[name] = &u
	}
	file := "bundle_file:=" + must(filepath.Abs("../flight/control/testdata/a.vnd"))(t)
	for _, x := range [][2]string{{control.FromPose, "vnd"}, {control.FromOdometry, "vnd"},
		{control.FromNamedPoses, "vnd"}, {control.FromRigidBodies, "vnd"}, {control.FromMavros, "mavros"},
		{control.FromMavros, "ardupilot"}, {control.FromPX4, "px4"}, {control.FromPX4, "px4_mode"},
		{control.FromPose, "betaflight"}, {control.FromCovariance, "vnd"}} {
		addController(t, all, x[0], x[1], file)
	}
	addController(t, all, control.FromPose, "vnd", file, "features.source:=apriltags",
		"features.intrinsics:=[400.0, 400.0, 320.0, 240.0]")
	for driver, via := range map[string]string{"": "vnd", "motion_capture_tracking": "mavros", "mocap4ros2": "px4"} {
		graphOf(t, func(d *inproc.Domain) {
			running(t, d, quadsim.New, "command_interface:="+via, `mocap_driver:="`+driver+`"`, "hover_throttle:=0.4",
				"lockstep:="+strconv.FormatBool(via == "vnd")) // publishes /clock
		}, nil, map[string]*used{quadsim.Name: all[quadsim.Name]})
	}
	graphOf(t, func(d *inproc.Domain) {
		running(t, d, quadsim.New, "command_interface:=vnd", "inertial:=true")
	}, nil, map[string]*used{quadsim.Name: all[quadsim.Name]})
	for _, poses := range []string{"pose", "pose_with_covariance", "odometry"} {
		graphOf(t, func(d *inproc.Domain) {
			running(t, d, func(_ context.Context, c *ros.Context) error {
				_, err := stateestimator.New(c)
				return err
			}, "pose_type:="+poses, "use_sim_time:=true")
		}, nil, map[string]*used{stateestimator.Name: all[stateestimator.Name]})
	}
	addLearning(t, all, file)
	addArm(t, all)
	addPusher(t, all)
	addBridge(t, all)
	return all
}

// addController adds what a configured controller uses, beside others that publish what it then looks for.
func addController(t *testing.T, all map[string]*used, source, via, file string, more ...string) {
	t.Helper()
	p := new(controller.Params)
	p.Source, p.CommandInterface = source, via
	topic, typeName := p.CommandTopic()
	others := [][2]string{{topic, typeName}}
	if via == "px4" || via == "px4_mode" {
		others = append(others, [2]string{"fmu/out/vehicle_status", "px4_msgs/msg/VehicleStatus"},
			[2]string{"fmu/out/battery_status", "px4_msgs/msg/BatteryStatus"},
			[2]string{"fmu/out/arming_check_request", "px4_msgs/msg/ArmingCheckRequest"})
	}
	graphOf(t, func(d *inproc.Domain) {
		running(t, d, func(ctx context.Context, c *ros.Context) error {
			n, err := controller.New(ctx, c)
			if err == nil {
				err = n.Change(lifecycle.Configure)
			}
			return err
		}, append(more, "state_source:="+source, "command_interface:="+via, "hover_throttle:=0.4", "battery.cells:=4",
			"emergency_service:=true", file, "use_sim_time:=true")...)
	}, others, map[string]*used{controller.Name: all[controller.Name]})
	graphOf(t, func(d *inproc.Domain) {
		running(t, d, func(ctx context.Context, c *ros.Context) error {
			_, err := controller.NewGuard(ctx, c)
			return err
		}, "state_source:="+source, "command_interface:="+via, "hover_throttle:=0.4", "emergency_service:=true",
			"real_time:=0", fmt.Sprintf("guard_socket:=vnd_sros2_%d_%s_%s", os.Getpid(), source, via),
			"use_sim_time:=true")
	}, others, map[string]*used{controller.GuardName: all[controller.GuardName]})
}

// addLearning adds what encoder, recorder, learner and visualizer use.
func addLearning(t *testing.T, all map[string]*used, file string) {
	t.Helper()
	dir := t.TempDir()
	for _, from := range []string{"buffer", "topic"} {
		graphOf(t, func(d *inproc.Domain) {
			running(t, d, quadsim.New)
			running(t, d, func(ctx context.Context, c *ros.Context) error {
				n, err := controller.New(ctx, c)
				if err == nil {
					err = n.Change(lifecycle.Configure)
				}
				return err
			}, file)
			running(t, d, func(_ context.Context, c *ros.Context) error {
				_, err := encoder.New(c)
				return err
			}, file, "use_sim_time:=true")
			running(t, d, func(ctx context.Context, c *ros.Context) error {
				_, err := visualizer.New(ctx, c)
				return err
			}, "page.port:=0", "use_sim_time:=true")
			ctx, cancel := context.WithCancel(context.Background())
			record := started(func() error {
				return recorder.Run(ctx, ofJazzy(d, "directory:="+filepath.Join(dir, from), "bag.least_free:=0",
					"use_sim_time:=true"))
			})
			learn := started(func() error {
				return learner.Run(ctx, ofJazzy(d, "directory:="+filepath.Join(dir, from), file,
					"source:="+from, "nice:=0", "use_sim_time:=true"), learner.Judges{Quadrotor: noJudge})
			})
			t.Cleanup(func() {
				cancel()
				if err := <-record; err != nil {
					t.Error(err)
				}
				if err := <-learn; err != nil {
					t.Error(err)
				}
			})
		}, [][2]string{{"mocap/odom", "nav_msgs/msg/Odometry"}, {"mocap/pose", "geometry_msgs/msg/PoseStamped"},
			{"/tf", "tf2_msgs/msg/TFMessage"}, {"/tf_static", "tf2_msgs/msg/TFMessage"},
			{node.JointStates, "sensor_msgs/msg/JointState"}, {node.JointEfforts, "std_msgs/msg/Float64MultiArray"}},
			map[string]*used{encoder.Name: all[encoder.Name], recorder.Name: all[recorder.Name],
				learner.Name: all[learner.Name], visualizer.Name: all[visualizer.Name]})
	}
}

// operator is who calls services and looks at topics, with ros2 or rviz. It is no node of vnd, but all that it
// uses is.
func operator(all map[string]*used) used {
	u := newUsed()
	u.publish["/rosout"], u.publish["/parameter_events"] = true, true // as every node of ros2 does
	for name, n := range all {
		for service := range n.reply {
			if name != quadsim.Name || strings.HasPrefix(service, quadsim.Name) {
				u.request[service] = true
			}
		}
		for topic := range n.publish {
			u.subscribe[topic] = true
		}
	}
	return u
}

// driver is one that publishes topics.
func driver(topics ...string) used {
	u := newUsed()
	for _, topic := range append(topics, "/rosout", "/parameter_events") {
		u.publish[topic] = true
	}
	return u
}

// policyOf writes the policy of what nodes use.
func policyOf(t *testing.T, all map[string]*used) []byte {
	t.Helper()
	p := policy{Version: "0.2.0"}
	one := func(path string, profiles ...profile) {
		p.Enclaves = append(p.Enclaves, enclave{Path: "/quad/" + path, Profiles: profiles})
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one(name, all[name].profile(name))
	}
	one("flight", all[controller.Name].profile(controller.Name), all[encoder.Name].profile(encoder.Name))
	mocap, by := driver("mocap/pose", "mocap/pose_with_covariance", "mocap/odom", "vio/odom", "imu", "poses",
		"rigid_bodies"), operator(all)
	by.publish[node.ReferencePose] = true
	one("motion_capture", mocap.profile("motion_capture"))
	camera := driver("features", "detections")
	one("camera", camera.profile("camera"))
	one("operator", by.profile("operator"))
	var out bytes.Buffer
	out.WriteString(xml.Header + "<!-- By go test ./pkg/node -run TestPolicy -update. -->\n")
	e := xml.NewEncoder(&out)
	e.Indent("", "  ")
	if err := e.Encode(p); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

// The policy of SROS 2 has every topic and service that a node uses, in any configuration, and no other.
func TestPolicyIsWhatNodesUse(t *testing.T) {
	if testing.Short() {
		t.Skip("every node")
	}
	got := policyOf(t, usedByNodes(t))
	if *updatePolicy {
		if err := os.WriteFile(policyFile, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(policyFile))(t)
	if bytes.Equal(got, want) {
		return
	}
	lines := func(text []byte) map[string]bool {
		set, place := map[string]bool{}, ""
		for l := range strings.SplitSeq(string(text), "\n") {
			if strings.Contains(l, "<enclave ") || strings.Contains(l, "ALLOW") {
				place = strings.TrimSpace(l)
			}
			set[place+" "+strings.TrimSpace(l)] = true
		}
		return set
	}
	in, is := lines(want), lines(got)
	for l := range is {
		if !in[l] {
			t.Errorf("used, and not in the policy: %s", l)
		}
	}
	for l := range in {
		if !is[l] {
			t.Errorf("in the policy, and not used: %s", l)
		}
	}
	t.Errorf("%s is not what the nodes use: go test ./pkg/node -run TestPolicy -update", policyFile)
}
