package ament

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The module rclgo/ is not part of this one, and most machines cannot build it. Here its sources are checked against a
// description of what they use of rclgo, in testdata.
const (
	root    = "../../.."
	overrcl = "vnd/rclgo/overrcl"
	rclgo   = "github.com/tiiuae/rclgo/pkg/rclgo"
)

// house is what packages are checked with: those of the two modules and the description from their sources, all others
// from what go build made of them.
type house struct {
	t       *testing.T
	fset    *token.FileSet
	checked map[string]*types.Package
	exports map[string]string // files of export data by import path
	gc      types.Importer
}

func newHouse(t *testing.T, needed []string) *house {
	h := &house{t: t, fset: token.NewFileSet(), checked: map[string]*types.Package{}, exports: map[string]string{}}
	command := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, needed...)...)
	command.Dir = root
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, complaint.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		h.exports[p.ImportPath] = p.Export
	}
	h.gc = importer.ForCompiler(h.fset, "gc", func(path string) (io.ReadCloser, error) {
		if h.exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(h.exports[path])
	})
	return h
}

// Import is in types.Importer.
func (h *house) Import(path string) (*types.Package, error) {
	if p := h.checked[path]; p != nil {
		return p, nil
	}
	return h.gc.Import(path)
}

// check checks a package of these files, and lets others import it.
func (h *house) check(path string, files ...*ast.File) {
	h.t.Helper()
	config := types.Config{Importer: h, FakeImportC: true, Error: func(err error) {
		if !strings.Contains(err.Error(), "invalid type") { // what is of C has no type here
			h.t.Error(err)
		}
	}}
	p, _ := config.Check(path, h.fset, files, nil) // Error has told
	h.checked[path] = p
}

// parse reads the Go files of a folder, but for those that skip is true of.
func (h *house) parse(dir string, skip func(name string) bool) []*ast.File {
	h.t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		h.t.Fatalf("no Go files in %s: %v", dir, err)
	}
	var files []*ast.File
	for _, name := range names {
		if !skip(filepath.Base(name)) {
			files = append(files, h.file(name))
		}
	}
	return files
}

func (h *house) file(name string) *ast.File {
	h.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		h.t.Fatal(err)
	}
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
		h.t.Errorf("%s is not gofmt'ed: %v", name, err)
	}
	f, err := parser.ParseFile(h.fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		h.t.Fatal(err)
	}
	return f
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// imports are those of files, but for C and what is checked from sources.
func imports(files ...*ast.File) []string {
	var all []string
	for _, f := range files {
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); path != "C" && !strings.HasPrefix(path, rclgo) &&
				path != overrcl {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSources: the module's packages, its tests and package ros with the overlay are Go that fits rclgo and the rest.
func TestSources(t *testing.T) {
	read := &house{t: t, fset: token.NewFileSet()}
	none := func(string) bool { return false }
	swapped := func(name string) bool { return isTest(name) || name == "preferred.go" }
	h := newHouse(t, imports(slices.Concat(read.parse(root+"/rclgo/overrcl", none),
		read.parse(root+"/rclgo/_overlay", none),
		read.parse(root+"/pkg/ros2/ros", isTest))...))
	h.check(rclgo+"/types", h.parse("testdata/types", none)...)
	h.check(rclgo, h.parse("testdata/rclgo", none)...)
	h.check(overrcl, h.parse(root+"/rclgo/overrcl", isTest)...)
	h.check(overrcl+"_test", h.parse(root+"/rclgo/overrcl", func(name string) bool { return !isTest(name) })...)
	h.check("vnd/pkg/ros2/ros", append(h.parse(root+"/pkg/ros2/ros", swapped), h.parse(root+"/rclgo/_overlay", none)...)...)
	fields(t, h)
}

// fields: where rclgo keeps rcl's objects is looked up by name when the program starts.
func fields(t *testing.T, h *house) {
	looked := 0
	ast.Inspect(h.file(root+"/rclgo/overrcl/handles.go"), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		index, ok := call.Fun.(*ast.IndexExpr)
		if !ok || types.ExprString(index.X) != "fieldOf" {
			return true
		}
		looked++
		holder := strings.TrimPrefix(types.ExprString(index.Index), "rclgo.")
		field := strings.Trim(types.ExprString(call.Args[0]), `"`)
		o, _, _ := types.LookupFieldOrMethod(h.checked[rclgo].Scope().Lookup(holder).Type(), false, h.checked[rclgo],
			field)
		if o == nil {
			t.Errorf("%s has no field %s", holder, field)
		}
		return true
	})
	if looked != 6 {
		t.Errorf("%d fields are looked up, expected 6", looked)
	}
}

// TestBuildRefuses: without a workspace nothing is built, in one line, and no folder is made.
func TestBuildRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bin")
	command := exec.Command(root+"/rclgo/build.sh", out, filepath.Join(filepath.Dir(out), "work"))
	command.Env = append(os.Environ(), "AMENT_PREFIX_PATH=")
	said, err := command.CombinedOutput()
	lines := strings.Split(string(said), "\n")
	const want = "rclgo: AMENT_PREFIX_PATH is not set: source the setup.bash of ROS 2 or of a workspace"
	if err == nil || lines[0] != want {
		t.Errorf("%v: %s", err, said)
	}
	if made, err := os.ReadDir(filepath.Dir(out)); err != nil || len(made) > 0 {
		t.Errorf("%v: made %v", err, made)
	}
}
