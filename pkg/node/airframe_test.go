package node_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/learner"
	"vnd/pkg/node/quadsim"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
)

// knowing are the nodes that know their vehicle.
var knowing = map[string]func(context.Context, ros.Options) error{
	controller.Name: func(ctx context.Context, o ros.Options) error {
		return ros.Run(ctx, o, func(ctx context.Context, c *ros.Context) error {
			_, err := controller.New(ctx, c)
			return err
		})
	},
	learner.Name: func(ctx context.Context, o ros.Options) error { return learner.Run(ctx, o, learner.Judges{}) },
	quadsim.Name: func(ctx context.Context, o ros.Options) error { return ros.Run(ctx, o, quadsim.New) },
}

// written writes a file of a test.
func written(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// inGraph are options of a process in a graph of its own, with parameters of a file and single ones.
func inGraph(d *inproc.Domain, said *rostest.Console, file string, single ...string) ros.Options {
	args := []string{"--ros-args", "--disable-external-lib-logs", "-r", "__ns:=/quad"}
	if file != "" {
		args = append(args, "--params-file", file)
	}
	for _, p := range single {
		args = append(args, "-p", p)
	}
	return ros.Options{Args: args, Threads: 2, Backend: ros.InProcess(d), Getenv: func(string) string { return "" },
		Stderr: said}
}

// One file is changed, and controller, learner and simulator have the vehicle; an argument wins for its run.
func TestNodesReadTheirVehicleInOneFile(t *testing.T) {
	dir, d, said := t.TempDir(), inproc.NewDomain(), new(rostest.Console)
	frame := written(t, dir, "frame.yaml", `airframe:
  ros__parameters:
    max_thrust: 15.0
    max_yaw_rate: 2.0
    hover_throttle: 0.42
    guard: {fence_max: [3.0, 3.0, 3.0]}
    response: {thrust_gain: 0.9}
`)
	lab := written(t, dir, "lab.yaml", "/**:\n  ros__parameters:\n    airframe: "+frame+"\n")
	bundle := filepath.Join("..", "flight", "control", "testdata", "a.vnd")
	for name, run := range knowing {
		single := map[string][]string{
			controller.Name: {"limits.max_yaw_rate:=1.5", "bundle_file:=" + bundle},
			learner.Name:    {"directory:=" + dir, "bundle_file:=" + bundle, "judge.use:=false", "nice:=0"}}[name]
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, inGraph(d, said, lab, single...)) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("%s: %v\n%s", name, err, said)
			}
		})
	}
	c := must(ros.NewContext(inGraph(d, said, "")))(t)
	asking := must(c.NewNode("asking"))(t)
	rostest.Spin(t, c, 1)
	for name, want := range map[string]map[string]any{
		controller.Name: {"limits.max_thrust": 15., "limits.max_yaw_rate": 1.5, "limits.min_thrust": 1.,
			"hover_throttle": 0.42, "guard.fence_max": []float64{3, 3, 3}},
		learner.Name: {"limits.max_thrust": 15., "limits.max_yaw_rate": 2., "response.thrust_gain": 0.9},
		quadsim.Name: {"hover_throttle": 0.42},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			get := must(ros.NewClient[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](asking,
				"/quad/"+name+"/get_parameters", ros.WithQoS(rmw.ParametersQoS())))(t)
			if err := get.WaitForService(ctx); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			for parameter, value := range want {
				r := must(get.Call(ctx, &rclinterfaces.GetParametersRequest{Names: []string{parameter}}))(t)
				if got, err := params.FromMessage(&r.Values[0]); err != nil || !reflect.DeepEqual(got, value) {
					t.Errorf("%s is %v, expected %v", parameter, got, value)
				}
			}
		})
	}
}

// A name that no node has is warned of, as is one of the lab's file for all nodes that is mistyped.
func TestNodesWarnOfUnknownParameters(t *testing.T) {
	dir, said := t.TempDir(), new(rostest.Console)
	lab := written(t, dir, "lab.yaml", "/**: {ros__parameters: {airfrme: f, frames: 1}}\n"+
		"/**/quad_sim: {ros__parameters: {throttle: 0.4}}\n")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	go func() {
		for ctx.Err() == nil && !strings.Contains(said.String(), "lockstep_perod") {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if err := knowing[quadsim.Name](ctx, inGraph(inproc.NewDomain(), said, lab, "lockstep_perod:=0.01")); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`lab.yaml:1: parameter "airfrme": unknown to /quad/quad_sim and not used, did you mean "airframe"?`,
		`lab.yaml:2: parameter "throttle": unknown to /quad/quad_sim and not used`,
		`argument "-p lockstep_perod:=0.01": parameter "lockstep_perod": unknown to /quad/quad_sim and not used, ` +
			`did you mean "lockstep_period"?`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
	if n := strings.Count(said.String(), "unknown to"); n != 3 {
		t.Errorf("%d warnings:\n%s", n, said)
	}
}

// Files of before go on for a version; two files that say different things of a vehicle are refused.
func TestNodesRefuseAVehicleWrittenTwice(t *testing.T) {
	for name, run := range knowing {
		parameter, value := "limits.max_thrust", "16.0"
		if name == quadsim.Name {
			parameter, value = "hover_throttle", "0.5"
		}
		t.Run(name, func(t *testing.T) {
			dir, said := t.TempDir(), new(rostest.Console)
			frame := written(t, dir, "frame.yaml",
				"airframe: {ros__parameters: {max_thrust: 15.0, hover_throttle: 0.4}}")
			before := written(t, dir, "lab.yaml", "/quad/"+name+":\n  ros__parameters:\n    "+parameter+": "+value+"\n")
			err := run(t.Context(), inGraph(inproc.NewDomain(), said, before, "airframe:="+frame, "directory:="+dir))
			if err == nil || !strings.Contains(err.Error(), before+":3: parameter \""+parameter+"\" is ") ||
				!strings.Contains(err.Error(), frame+" says ") {
				t.Errorf("both files: %v", err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			go func() {
				for ctx.Err() == nil && !strings.Contains(said.String(), "is of the vehicle") {
					time.Sleep(10 * time.Millisecond)
				}
				cancel()
			}()
			err = run(ctx, inGraph(inproc.NewDomain(), said, before, "directory:="+dir, "judge.use:=false", "nice:=0"))
			if text := said.String(); err != nil || strings.Count(text, "is of the vehicle") != 1 {
				t.Errorf("a file of before: %v\n%s", err, text)
			}
		})
	}
}
