// Command api records in api.txt what other modules may build against: the exported names of the promised packages. It
// refuses to drop a line that removed.txt does not list. go generate runs it.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// promised are the packages whose exported names stay.
var promised = []string{
	"pkg/ros2/bag",
	"pkg/ros2/cdr",
	"pkg/ros2/dds/inproc",
	"pkg/ros2/ros",
	"pkg/ros2/ros/action",
	"pkg/ros2/ros/diagnostics",
	"pkg/ros2/ros/lifecycle",
	"pkg/ros2/ros/params",
	"pkg/ros2/ros/qos",
	"pkg/ros2/ros/tf",
	"pkg/vnd",
	"pkg/vnd/bundle",
}

func main() {
	if err := record(filepath.Join("..", ".."), "api", promised); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

// record writes dir/api.txt of packages below root. It fails where that would drop a line which dir/removed.txt does
// not list, and where removed.txt lists a line that is still there.
func record(root, dir string, packages []string) error {
	var now []string
	for _, p := range packages {
		lines, err := surface(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return err
		}
		for _, line := range lines {
			now = append(now, p+": "+line)
		}
	}
	slices.Sort(now)
	file := filepath.Join(dir, "api.txt")
	before, err := lines(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	removed, err := lines(filepath.Join(dir, "removed.txt"))
	if err != nil {
		return err
	}
	if gone := missing(before, slices.Concat(now, removed)); len(gone) > 0 {
		return fmt.Errorf("other modules may use what is gone or changed:\n\t%s\n"+
			"keep the old name for a version, or write these lines into %s and a line into CHANGELOG.md",
			strings.Join(gone, "\n\t"), filepath.Join("pkg", "layout", "api", "removed.txt"))
	}
	if gone := missing(removed, now); len(gone) < len(removed) {
		return fmt.Errorf("removed.txt lists what is there: %s", strings.Join(missing(removed, gone), "; "))
	}
	return os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o666)
}

// lines are those of a file, without comments and empty ones.
func lines(file string) (all []string, err error) {
	text, err := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all, err
}

// missing are the lines that are not among some others.
func missing(all, others []string) (gone []string) {
	for _, line := range all {
		if !slices.Contains(others, line) {
			gone = append(gone, line)
		}
	}
	return gone
}
