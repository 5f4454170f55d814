package ament

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// workspace installs packages with versions into a folder.
func workspace(t *testing.T, versions map[string]string) string {
	t.Helper()
	prefix := t.TempDir()
	for pkg, version := range versions {
		write(t, filepath.Join(prefix, "share", "ament_index", "resource_index", "packages", pkg), "")
		write(t, filepath.Join(prefix, "share", pkg, "package.xml"),
			`<?xml version="1.0"?><package format="3"><name>`+pkg+`</name>`+version+`</package>`)
		write(t, filepath.Join(prefix, "include", pkg, pkg, "x.h"), "")
	}
	write(t, filepath.Join(prefix, "lib", "libx.so"), "")
	return prefix
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// whole is a workspace with all packages that rclgo needs.
func whole(rcl string) map[string]string {
	all := map[string]string{}
	for _, p := range rclPackages {
		all[p] = "<version>1.0.0</version>"
	}
	all["rcl"] = "<version>" + rcl + "</version>"
	return all
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// Two prefixes, an overlay on /opt/ros: there are flags for each package's headers, the overlay's
// first.
func TestRclgo(t *testing.T) {
	over, under := workspace(t, map[string]string{"vnd": "<version>0.1.0</version>"}), workspace(t, whole("5.3.11"))
	w, err := Find(env("AMENT_PREFIX_PATH", over+":"+under+":", "ROS_DISTRO", "humble"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.Rclgo("")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Compile) != len(rclPackages)+1 || f.Compile[0] != "-I"+over+"/include/vnd" {
		t.Errorf("compiled with %q", f.Compile)
	}
	want := "-L" + over + "/lib -Wl,-rpath," + over + "/lib -L" + under + "/lib -Wl,-rpath," + under + "/lib"
	if got := strings.Join(f.Link, " "); got != want {
		t.Errorf("linked with %s\nwant %s", got, want)
	}
	if missing := w.Missing(MessagePackages...); len(missing) != len(MessagePackages)-2 {
		t.Errorf("missing %q", missing) // all but builtin_interfaces and vnd
	}
}

// Errors are one line that names the variable, the package or the file.
func TestRefused(t *testing.T) {
	blank := filepath.Join(t.TempDir(), "my ws")
	if err := os.Rename(workspace(t, whole("5.3.11")), blank); err != nil {
		t.Fatal(err)
	}
	less := whole("5.3.11")
	delete(less, "rcl_action")
	unversioned := whole("5.3.11")
	unversioned["rcl"] = ""
	for _, c := range []struct{ prefix, distro, untried, want string }{
		{"", "humble", "", "AMENT_PREFIX_PATH is not set: source"},
		{workspace(t, nil), "", "", "ROS_DISTRO is not set: source"},
		{workspace(t, less), "humble", "", "no package rcl_action in AMENT_PREFIX_PATH ("},
		{workspace(t, whole("9.2.3")), "jazzy", "",
			`ROS_DISTRO is "jazzy": programs on rclgo were tried in humble alone; VND_RCLGO_UNTRIED=1`},
		{workspace(t, whole("9.2.3")), "humble", "", `ROS_DISTRO is "humble", but rcl is version 9.2.3, expected 5.x`},
		{workspace(t, whole("9.2.3")), "jazzy", "1", ""},
		{workspace(t, unversioned), "humble", "", "share/rcl/package.xml: no version"},
		{blank, "humble", "", "cgo takes no folders with blanks"},
	} {
		w, err := Find(env("AMENT_PREFIX_PATH", c.prefix, "ROS_DISTRO", c.distro))
		if err == nil {
			_, err = w.Rclgo(c.untried)
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") || strings.Contains(got, "\n") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
