package rosargs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/ros2/ros/logging"
	"vnd/pkg/ros2/ros/names"
)

// TestLaunched parses the arguments that `ros2 launch` of ROS 2 Humble passed to a node, and the
// parameter file that it wrote.
func TestLaunched(t *testing.T) {
	a, err := Parse([]string{"--flag", "--ros-args", "--log-level", "debug", "--ros-args",
		"-r", "__node:=ctrl", "-r", "__ns:=/drone1", "--params-file", "testdata/launch.yaml", "-r",
		"odom:=/mocap/odom"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"--flag"}, a.Rest); diff != "" || a.Level != logging.Debug {
		t.Error(diff, a.Level)
	}
	n, err := names.NewNode("", "policy_controller", a.Rules)
	if err != nil || n.FullName() != "/drone1/ctrl" {
		t.Fatal(n.FullName(), err)
	}
	if topic, err := n.Topic("odom"); err != nil || topic != "/mocap/odom" {
		t.Error(topic, err)
	}
	want := map[string]param.Assignment{
		"gain": {Name: "gain", Value: 1.5, Where: "testdata/launch.yaml:3"},
		"ids":  {Name: "ids", Value: []int64{1, 2}, Where: "testdata/launch.yaml:4"},
		"name": {Name: "name", Value: "x", Where: "testdata/launch.yaml:7"},
	}
	if diff := cmp.Diff(want, a.Overrides(n.FullName())); diff != "" {
		t.Error(diff)
	}
	if others := a.Overrides("/ctrl"); len(others) != 0 {
		t.Errorf("/ctrl gets %v", others)
	}
}

func TestParse(t *testing.T) {
	a, err := Parse([]string{
		"a", "--ros-args", "--remap", "x:=y", "--param", "p:=1", "--enclave", "/e/f", "--log-level", "warn",
		"--log-level", "quad.fit:=DEBUG", "--log-config-file", "c", "--log-file-name", "f",
		"--disable-stdout-logs", "--disable-rosout-logs", "--enable-rosout-logs", "--disable-external-lib-logs",
		"--", "b", "--", "-r", "--ros-args", "-e", "/g", "--ros-args", "--", "c:=d", "c"})
	if err != nil {
		t.Fatal(err)
	}
	want := Args{
		Rest: []string{"a", "b", "--", "-r", "c"}, Enclave: "/g", Level: logging.Warn,
		Settings: []logging.Setting{{Logger: "quad.fit", Level: logging.Debug}},
		NoStdout: true, NoFile: true, LogConfigFile: "c", LogFileName: "f",
		Warnings: []string{`found remap rule "c:=d": this syntax is deprecated, use "--ros-args --remap c:=d"`},
	}
	got := *a
	if s := fmt.Sprint(got.Rules); s != "[x:=y c:=d]" {
		t.Error(s)
	}
	got.Rules, got.blocks = nil, nil
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Args{})); diff != "" {
		t.Error(diff)
	}
	if none, err := Parse(nil); err != nil || len(none.Rest)+len(none.Overrides("/n")) != 0 {
		t.Error(none, err)
	}
}

// What stands before --ros-args without being read is said: a parameter so lost leaves a default in its place.
func TestUnmarkedArguments(t *testing.T) {
	for line, want := range map[string]string{
		"-p bundle_file:=base.vnd":         `argument "-p bundle_file:=base.vnd"`,
		"--params-file lab.yaml":           `argument "--params-file lab.yaml"`,
		"-p 8042 -r":                       "",
		"--ros-args -p gain:=2.5 -- -p 80": "",
	} {
		if want != "" {
			want += " is not used: it belongs behind --ros-args"
		}
		a, err := Parse(strings.Fields(line))
		if err != nil || strings.Join(a.Warnings, "; ") != want {
			t.Errorf("%s: %v, %v", line, a.Warnings, err)
		}
	}
}

func TestErrors(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("/**:\n  ros__parameters:\n    a: [1, b]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--custom x", `found unknown ROS arguments: "--custom", "x"`},
		{"__node:=n", `found unknown ROS arguments: "__node:=n"`},
		{"--log foo", `found unknown ROS arguments: "--log", "foo"`},
		{"stdout-logs", `found unknown ROS arguments: "stdout-logs"`},
		{"--enable-x-logs", `found unknown ROS arguments: "--enable-x-logs"`},
		{"-r", `couldn't parse trailing -r flag: no remap rule found`},
		{"--params-file", `couldn't parse trailing --params-file flag: no params file found`},
		{"-r foo", `couldn't parse remap rule "-r foo": invalid name "foo" at position 3: expected "/" or ":="`},
		{"-p a:=",
			`couldn't parse parameter override rule "-p a:=": parameter "a": got nothing, expected a value: write "" ` +
				`for the empty string`},
		{"-p a:={b:1}",
			`couldn't parse parameter override rule "-p a:={b:1}": parameter "a": got a map, expected a value or a ` +
				`list`},
		{"--param }a:=1",
			`couldn't parse parameter override rule "--param }a:=1": invalid name "}a:=1" at position 0: expected a ` +
				`parameter name`},
		{"-p a:=[1,x]",
			`couldn't parse parameter override rule "-p a:=[1,x]": parameter "a": element 1: x is a string, expected ` +
				`an integer as before: ROS lists hold one type`},
		{"-e sim",
			`couldn't parse enclave name "-e sim": invalid name "sim" at position 0: enclave name must be absolute, ` +
				`it must lead with a '/'`},
		{"--log-level foo",
			`couldn't parse log level "--log-level foo": "foo" is not a log level, expected debug, info, warn, ` +
				`error, fatal or unset`},
		{"--log-level :=info", `couldn't parse log level "--log-level :=info": expected a logger's name before ":="`},
		{"--log-level a:=b:=info",
			`couldn't parse log level "--log-level a:=b:=info": "b:=info" is not a log level, expected debug, info, ` +
				`warn, error, fatal or unset`},
		{"--params-file " + bad,
			`couldn't parse params file "--params-file ` + bad + `": ` + bad + `:3: parameter "a": element 1: b is a ` +
				`string, expected an integer as before: ROS lists hold one type`},
		{"--params-file " + bad + "x",
			`couldn't parse params file "--params-file ` + bad + `x": open ` + bad + `x: no such file or directory`},
	} {
		t.Run(c.args, func(t *testing.T) {
			_, err := Parse(append([]string{"--ros-args"}, strings.Fields(c.args)...))
			if err == nil || err.Error() != c.want {
				t.Errorf("%s:\n got %v\nwant %s", c.args, err, c.want)
			}
		})
	}
}

// parseWith parses with files in memory.
func parseWith(files map[string]string, args ...string) (*Args, error) {
	read := func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	return parser{read: read}.parse(args)
}

func TestOverrides(t *testing.T) {
	files := map[string]string{
		"one": "/**: {ros__parameters: {a: 1, b: 1, c: 1}}\n/ns/n: {ros__parameters: {a: 2}}",
		"two": "/*/n: {ros__parameters: {b: 3}}\nm: {ros__parameters: {a: 4}}",
	}
	for _, c := range []struct {
		args, node string
		a, b, c    any
	}{
		{"--params-file one", "/ns/n", 2, 1, 1},
		{"--params-file one --params-file two", "/ns/n", 2, 3, 1},
		{"--params-file two --params-file one", "/ns/n", 2, 1, 1},
		{"--params-file one --params-file two", "/m", 4, 1, 1},
		{"--params-file one --params-file two", "/ns/m", 1, 1, 1},
		{"--params-file one -p a:=9", "/ns/n", 9, 1, 1},
		{"-p a:=9 -p c:=9 --params-file one", "/ns/n", 2, 1, 1},
		{"--params-file one -p n:a:=9 -p m:a:=8", "/ns/n", 2, 1, 1}, // n is /n, as in rcl
		{"--params-file one -p n:a:=9 -p m:a:=8", "/n", 9, 1, 1},
	} {
		t.Run(c.args, func(t *testing.T) {
			args, err := parseWith(files, append([]string{"--ros-args"}, strings.Fields(c.args)...)...)
			if err != nil {
				t.Fatal(err)
			}
			o := args.Overrides(c.node)
			if got, want := fmt.Sprint(o["a"].Value, o["b"].Value, o["c"].Value),
				fmt.Sprint(c.a, c.b, c.c); got != want {
				t.Errorf("%s for %s: %s, want %s", c.args, c.node, got, want)
			}
		})
	}
}

// TestOthersUntouched: the program's own arguments come back in order, wherever groups of ROS
// arguments stand between them.
func TestOthersUntouched(t *testing.T) {
	own := rapid.StringMatching(`-?-?[a-z0-9/.]{1,5}`).Filter(func(s string) bool { return s != "--" })
	rapid.Check(t, func(t *rapid.T) {
		var args, want []string
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			mine := rapid.SliceOfN(own, 0, 3).Draw(t, "own")
			args, want = append(args, mine...), append(want, mine...)
			args = append(args, "--ros-args")
			for range rapid.IntRange(0, 2).Draw(t, "rules") {
				args = append(args, "-r", "a:="+rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "to"), "--ros-args")
			}
			args = append(args, "--")
		}
		a, err := Parse(args)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]string(nil), want...), a.Rest); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"--ros-args\n-r\n__node:=x\n--params-file\nf\n--", "a\n--ros-args\n-p\nn:a.b:=[1, 2]\n--log-level\nq:=warn",
		"x:=y\n--ros-args\n-e\n/a\n--disable-stdout-logs\n--bad", "--ros-args\n-p\na:=!!python/tuple [a]",
	} {
		f.Add(seed, "/**: {ros__parameters: {a: {b: [1.0]}}}")
	}
	f.Fuzz(func(t *testing.T, line, file string) {
		args := strings.Split(line, "\n")
		a, err := parseWith(map[string]string{"f": file}, args...)
		if err != nil {
			return
		}
		if len(a.Rest) > len(args) {
			t.Fatalf("%d arguments became %d", len(args), len(a.Rest))
		}
		for name, o := range a.Overrides("/ns/n") {
			if name != o.Name || name == "" || o.Value == nil || o.Where == "" {
				t.Fatalf("%q: %+v", name, o)
			}
		}
	})
}
