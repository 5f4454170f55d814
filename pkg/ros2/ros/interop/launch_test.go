package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install makes a ROS package by hand, for ros2 run and ros2 launch.
func (p *place) install(name, program string) {
	p.t.Helper()
	prefix := filepath.Join(p.work, "prefix")
	launch := filepath.Join(prefix, "share", name, "launch")
	index := filepath.Join(prefix, "share/ament_index/resource_index/packages")
	lib := filepath.Join(prefix, "lib", name)
	for _, folder := range []string{launch, index, lib} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %q \"$@\"\n", programVariable, program, os.Args[0])
	err1 := os.WriteFile(filepath.Join(lib, program), []byte(script), 0o755)
	err2 := os.WriteFile(filepath.Join(index, name), nil, 0o644)
	err3 := os.CopyFS(launch, os.DirFS("testdata/launch"))
	if err1 != nil || err2 != nil || err3 != nil {
		p.t.Fatal(err1, err2, err3)
	}
	p.env = append(p.env, "AMENT_PREFIX_PATH="+prefix+":"+os.Getenv("AMENT_PREFIX_PATH"))
}

func TestRun(t *testing.T) {
	p := withROS(t, "ros2run")
	p.install("demo_pkg", "talker")
	p.start("ros2", "run", "demo_pkg", "talker", "--ros-args", "-p", "gain:=3.0", "-r", "__node:=foo")
	p.replay("run.txt")
}

func TestLaunch(t *testing.T) {
	for _, kind := range []string{"py", "xml", "yaml"} {
		t.Run(kind, func(t *testing.T) {
			p := withROS(t, "ros2launch")
			p.install("demo_pkg", "talker")
			b := p.start("ros2", "launch", "demo_pkg", "demo.launch."+kind)
			p.replay("launch.txt")
			if out := b.stop(); !strings.Contains(out, "process has finished cleanly") {
				t.Error(out)
			}
		})
	}
}

// A topic that ros2 bag recorded is played to our node.
func TestBag(t *testing.T) {
	p := withROS(t, "ros2bag", "rosbag2_transport")
	p.start("talker", "--ros-args", "-r", "__ns:=/drone1")
	recorder := p.start("ros2", "bag", "record", "-o", "bag", "/drone1/chatter", "/drone1/pose")
	p.replay("bag.txt")
	recorder.stop()
	p.replay("bag_info.txt")
}
