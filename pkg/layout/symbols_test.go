package layout_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// quoted is a name in backticks; pair is one that the page puts into a file: "`New` in `presets.go`".
	quoted = regexp.MustCompile("`([\\w./-]+)`")
	pair   = regexp.MustCompile("`(\\w+)` (?:in|of) `([\\w./-]+\\.go)`")
	// located is a file with its folder.
	located = regexp.MustCompile("`([\\w.-]+/[\\w./-]+\\.go)`")
	// exported is a Go name as Tick or TicksPerRow, and no file, parameter or constant of the system.
	exported = regexp.MustCompile(`^[A-Z]\w*[a-z]\w*$`)
)

// TestSymbolsAreWhereTheArchitectureSays: a Go name on a line of docs/architecture.md is declared in a file of that
// line, or is a case of a switch there. Where the page says "`Name` in `file.go`", it is in that very file.
func TestSymbolsAreWhereTheArchitectureSays(t *testing.T) {
	const page = "docs/architecture.md"
	sources := map[string]string{}
	for _, file := range files(t, ".go") {
		sources[file] = read(t, file)
	}
	for i, line := range strings.Split(read(t, page), "\n") {
		for _, wrong := range misplaced(line, sources) {
			t.Errorf("%s:%d: %s", page, i+1, wrong)
		}
	}
}

// misplaced says which names of a line are not where it puts them. A file without a folder is in that of the path
// before it, or of the line's first.
func misplaced(line string, sources map[string]string) (wrong []string) {
	var named []string
	folder := ""
	if m := located.FindStringSubmatch(line); m != nil {
		folder = path.Dir(m[1])
	}
	full := map[string]string{} // path of a file as the line has it
	for _, m := range quoted.FindAllStringSubmatch(line, -1) {
		file := m[1]
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		if strings.Contains(file, "/") {
			folder = path.Dir(file)
		}
		full[file] = path.Join(folder, path.Base(file))
		if sources[full[file]] == "" {
			wrong = append(wrong, fmt.Sprintf("there is no %s", full[file]))
		}
		named = append(named, full[file])
	}
	paired := map[string]bool{}
	for _, m := range pair.FindAllStringSubmatch(line, -1) {
		paired[m[1]] = true
		if !holds(sources[full[m[2]]], m[1]) {
			wrong = append(wrong, fmt.Sprintf("%s is not in %s", m[1], full[m[2]]))
		}
	}
	for _, m := range quoted.FindAllStringSubmatch(line, -1) {
		name := m[1]
		if !exported.MatchString(name) || paired[name] {
			continue
		}
		if !slices.ContainsFunc(named, func(file string) bool { return holds(sources[file], name) }) {
			wrong = append(wrong, fmt.Sprintf("%s is in none of the line's files: %s", name, strings.Join(named, ", ")))
		}
	}
	return wrong
}

// holds reports whether a source has a function, type, variable, constant, method or field of this name, or a case.
func holds(source, name string) bool {
	declared := `^(?:func (?:\([^)]*\) )?|type |var |const |\t)` + name + `\b`
	return regexp.MustCompile(`(?m)` + declared + `|^\t+case .*\b` + name + `\b`).MatchString(source)
}

func TestMisplaced(t *testing.T) {
	sources := map[string]string{
		"pkg/a/a.go": "package a\n\nfunc (l *Loop) Tick() {}\n\nvar names = 1\n",
		"pkg/a/b.go": "package a\n\n// Tick is not here.\nconst (\n\tFast = 1\n)\n\n" +
			"type Loop struct {\n\tRate int\n}\n\nfunc f() {\n\tswitch x {\n\tcase y.Slow:\n\t}\n}\n",
	}
	for _, c := range []struct {
		name, line string
		want       int
	}{
		{"a method in its file", "`Tick` in `pkg/a/a.go`", 0},
		{"a method in another file", "`Tick` in `pkg/a/b.go`", 1},
		{"before the path that has its folder", "`Loop` in `b.go` | `pkg/a/a.go`", 0},
		{"beside the file before", "`names` in `pkg/a/a.go`, `Loop` of `b.go`", 0},
		{"a file that is not there", "`pkg/a/c.go`", 1},
		{"a name in any file of the line", "| `Fast`, `Rate`, `Tick` | `pkg/a/b.go`, `a.go` |", 0},
		{"a name in no file of the line", "| `Fast` | `pkg/a/a.go` |", 1},
		{"a case of a switch", "the case `Slow` in `pkg/a/b.go`", 0},
		{"no Go name", "`rate`, `Step.guard_state`, `make gen` | `pkg/a/a.go` |", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := misplaced(c.line, sources); len(got) != c.want {
				t.Errorf("got %q, want %d", got, c.want)
			}
		})
	}
}
