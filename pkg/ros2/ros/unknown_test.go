package ros

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros/params"
)

// declaring makes a node with parameters, all of them doubles.
func declaring(c *Context, name string, parameters ...string) error {
	n, err := c.NewNode(name)
	if err != nil {
		return err
	}
	for _, p := range parameters {
		if _, err := n.Parameters().Declare(p, 1., params.Descriptor{}); err != nil {
			return err
		}
	}
	return nil
}

func TestRunWarnsOfParametersThatNoNodeHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte(`
/**:
  ros__parameters: {use_sim_tme: true, elsewhere: 1, gain: 2.0}
/one:
  ros__parameters: {latnt_age: 1.0, group.gain: 1.0, quite_something_else: 3, "qos_overrides./a.publisher.depth": 5}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	o := Options{Backend: InProcess(inproc.NewDomain()), Stderr: &said, Getenv: func(string) string { return "" },
		Args: []string{"--ros-args", "--disable-external-lib-logs", "--params-file", file, "-p", "of_two:=1.0",
			"-p", "gains:=3.0",
			"-p", "**:directory:=d", "-p", "two:age:=1"}}
	ctx, end := context.WithCancel(t.Context())
	err := Run(ctx, o, func(_ context.Context, c *Context) error {
		end()
		return errors.Join(declaring(c, "one", "latent_age", "gain"), declaring(c, "two", "of_two", "gain"))
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "WARN") {
			got = append(got, strings.TrimSpace(line[strings.Index(line, "]: ")+3:]))
		}
	}
	for i, line := range got { // the last node of a process that does not have it
		got[i] = strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(line, file), "/one", "/n"), "/two", "/n")
	}
	want := []string{
		`:3: parameter "use_sim_tme": unknown to /n and not used, did you mean "use_sim_time"?`,
		`:5: parameter "group.gain": unknown to /n and not used, did you mean "gain"?`,
		`:5: parameter "latnt_age": unknown to /n and not used, did you mean "latent_age"?`,
		`:5: parameter "quite_something_else": unknown to /n and not used`,
		`argument "-p gains:=3.0": parameter "gains": unknown to /n and not used, did you mean "gain"?`,
		`argument "-p two:age:=1": parameter "age": unknown to /n and not used`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s\nof %s", strings.Join(got, "\n"), strings.Join(want, "\n"), said.String())
	}
}
