package layout_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const ros2Guide = "docs/guide/ros2.md"

// TestRos2GuideNamesTests: each test that the guide names is in the package that it names.
func TestRos2GuideNamesTests(t *testing.T) {
	page := read(t, ros2Guide)
	tests := regexp.MustCompile("`(pkg/[a-z0-9/]+)\\.((?:Test|Benchmark|Fuzz)\\w+)`").FindAllStringSubmatch(page, -1)
	if len(tests) < 50 {
		t.Errorf("only %d tests named", len(tests))
	}
	for _, m := range tests {
		if !declares(t, filepath.Join(root, m[1]), m[2]) {
			t.Errorf("%s names %s.%s, which is not there", ros2Guide, m[1], m[2])
		}
	}
}

// declares reports whether a test of the package has this function.
func declares(t *testing.T, folder, function string) bool {
	t.Helper()
	files, err := filepath.Glob(folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == function {
				return true
			}
		}
	}
	return false
}

// TestRos2GuideProgram: the guide's node is the one that is compiled.
func TestRos2GuideProgram(t *testing.T) {
	guide := read(t, ros2Guide)
	compiled := read(t, "pkg/ros2/ros/example_test.go")
	_, block, _ := strings.Cut(guide, "```go\npackage main\n")
	block, _, found := strings.Cut(block, "\n```")
	if !found {
		t.Fatal("no program in the guide")
	}
	program := []byte("package main\n" + block + "\n")
	if formatted, err := format.Source(program); err != nil || string(formatted) != string(program) {
		t.Errorf("%v: not as gofmt has it:\n%s", err, program)
	}
	for _, part := range []string{block[strings.Index(block, "import ("):strings.Index(block, "\nfunc main")],
		block[strings.Index(block, "func talk("):]} {
		if !strings.Contains(compiled, part) {
			t.Errorf("not in pkg/ros2/ros/example_test.go:\n%s", part)
		}
	}
	if !strings.Contains(block, `func main() { ros.Main("talker", talk) }`) ||
		!strings.Contains(compiled, `ros.Main("talker", talk)`) {
		t.Error("main is another")
	}
}
