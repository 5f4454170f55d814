package ament

import (
	"fmt"
	"slices"
	"strings"
)

// Untried is the environment variable that allows distributions which nobody has tried rclgo in.
const Untried = "VND_RCLGO_UNTRIED"

// tried are the distributions that programs on rclgo were built and flown in, with the major
// version of their rcl.
var tried = map[string]string{"humble": "5"}

// rclPackages are the packages that a program on rclgo is compiled and linked with.
var rclPackages = []string{"rcl", "rcl_action", "rcl_yaml_param_parser", "rcutils", "rmw", "rmw_implementation",
	"rosidl_runtime_c", "rosidl_typesupport_c", "rosidl_typesupport_interface",
	"action_msgs", "builtin_interfaces", "unique_identifier_msgs"}

// MessagePackages hold the types that every node looks up when it starts.
var MessagePackages = []string{"builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "lifecycle_msgs", "nav_msgs",
	"rcl_interfaces", "rosgraph_msgs", "std_msgs", "std_srvs", "tf2_msgs", "visualization_msgs", "vnd"}

// Flags build programs on rclgo.
type Flags struct {
	Compile, Link []string
}

// Rclgo returns the flags that build programs on rclgo in the workspace, or why that is not
// possible. untried is the value of the variable Untried.
func (w *Workspace) Rclgo(untried string) (*Flags, error) {
	if missing := w.Missing(rclPackages...); len(missing) > 0 {
		return nil, fmt.Errorf("no package %s in %s (%s): install it or source the workspace that has it",
			strings.Join(missing, ", "), variable, strings.Join(w.Prefixes, ":"))
	}
	if err := w.checkVersion(untried); err != nil {
		return nil, err
	}
	includes, err := w.Includes()
	if err != nil {
		return nil, fmt.Errorf("headers of the workspace: %w", err)
	}
	f := &Flags{}
	for _, i := range includes {
		f.Compile = append(f.Compile, "-I"+i)
	}
	for _, l := range w.Libraries() {
		f.Link = append(f.Link, "-L"+l, "-Wl,-rpath,"+l)
	}
	for _, flag := range slices.Concat(f.Compile, f.Link) {
		if strings.ContainsAny(flag, " \t\n'\"\\") {
			return nil, fmt.Errorf("%s: cgo takes no folders with blanks or quotes in their names", flag)
		}
	}
	return f, nil
}

// checkVersion checks that rcl is of the distribution.
func (w *Workspace) checkVersion(untried string) error {
	version, err := w.Version("rcl")
	if err != nil {
		return err
	}
	major, _, _ := strings.Cut(version, ".")
	want, known := tried[w.Distro]
	switch {
	case untried == "1":
		return nil
	case !known:
		return fmt.Errorf("ROS_DISTRO is %q: programs on rclgo were tried in humble alone; %s=1 builds them all the "+
			"same", w.Distro, Untried)
	case major != want:
		return fmt.Errorf("ROS_DISTRO is %q, but rcl is version %s, expected %s.x: %s is of another distribution",
			w.Distro, version, want, variable)
	}
	return nil
}
