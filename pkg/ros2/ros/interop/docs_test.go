package interop

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs holds that each test that the guide names is there, in the package that it names.
func TestDocs(t *testing.T) {
	const root, guide = "../../../../", "docs/guide/ros2.md"
	page, err := os.ReadFile(root + guide)
	if err != nil {
		t.Fatal(err)
	}
	tests := regexp.MustCompile("`(pkg/[a-z0-9/]+)\\.((?:Test|Benchmark|Fuzz)\\w+)`").FindAllStringSubmatch(
		string(page), -1)
	if len(tests) < 50 {
		t.Errorf("only %d tests named", len(tests))
	}
	for _, m := range tests {
		if !declares(t, root+m[1], m[2]) {
			t.Errorf("%s names %s.%s, which is not there", guide, m[1], m[2])
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

// TestGuideProgram holds that the guide's node is the one that is compiled.
func TestGuideProgram(t *testing.T) {
	guide, err := os.ReadFile("../../../../docs/guide/ros2.md")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := os.ReadFile(filepath.Join("..", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(guide), "```go\npackage main\n")
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
		if !strings.Contains(string(compiled), part) {
			t.Errorf("not in pkg/ros2/ros/example_test.go:\n%s", part)
		}
	}
	if !strings.Contains(block, `func main() { ros.Main("talker", talk) }`) ||
		!strings.Contains(string(compiled), `ros.Main("talker", talk)`) {
		t.Error("main is another")
	}
}
