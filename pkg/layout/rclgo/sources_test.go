// Package rclgo_test checks the module rclgo/, which is not part of this one and which most machines cannot build. Its
// sources are type-checked against a description of the part of rclgo that they use, in testdata.
package rclgo_test

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

const (
	root    = "../../.."
	overrcl = "vnd/rclgo/overrcl"
	rclgo   = "github.com/tiiuae/rclgo/pkg/rclgo"
)

// checker type-checks packages. Those of the two modules and the description are read from
// their sources, all others from the export data of go build.
type checker struct {
	t       *testing.T
	fset    *token.FileSet
	checked map[string]*types.Package
	exports map[string]string // files of export data by import path
	gc      types.Importer
}

func newChecker(t *testing.T, needed []string) *checker {
	c := &checker{t: t, fset: token.NewFileSet(), checked: map[string]*types.Package{}, exports: map[string]string{}}
	command := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, needed...)...)
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, stderr.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		c.exports[p.ImportPath] = p.Export
	}
	c.gc = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if c.exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(c.exports[path])
	})
	return c
}

// Import implements types.Importer.
func (c *checker) Import(path string) (*types.Package, error) {
	if p := c.checked[path]; p != nil {
		return p, nil
	}
	return c.gc.Import(path)
}

// check checks a package of these files, and lets others import it.
func (c *checker) check(path string, files ...*ast.File) {
	c.t.Helper()
	config := types.Config{Importer: c, FakeImportC: true, Error: func(err error) {
		if !strings.Contains(err.Error(), "invalid type") { // types of C are not known here
			c.t.Error(err)
		}
	}}
	p, _ := config.Check(path, c.fset, files, nil) // Error has reported it
	c.checked[path] = p
}

// parse reads the Go files of a folder, without those that skip selects.
func (c *checker) parse(dir string, skip func(name string) bool) []*ast.File {
	c.t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		c.t.Fatalf("no Go files in %s: %v", dir, err)
	}
	var files []*ast.File
	for _, name := range names {
		if !skip(filepath.Base(name)) {
			files = append(files, c.file(name))
		}
	}
	return files
}

func (c *checker) file(name string) *ast.File {
	c.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		c.t.Fatal(err)
	}
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
		c.t.Errorf("%s is not gofmt'ed: %v", name, err)
	}
	f, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// imports lists the imports of files, without C and the packages that are read from sources.
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

// TestSourcesFitRclgo type-checks the module's packages, its tests, and package ros with the overlay.
func TestSourcesFitRclgo(t *testing.T) {
	read := &checker{t: t, fset: token.NewFileSet()}
	none := func(string) bool { return false }
	replaced := func(name string) bool { return isTest(name) || name == "preferred.go" }
	c := newChecker(t, imports(slices.Concat(read.parse(root+"/rclgo/overrcl", none),
		read.parse(root+"/rclgo/_overlay", none),
		read.parse(root+"/pkg/ros2/ros", isTest))...))
	c.check(rclgo+"/types", c.parse("testdata/rclgo/types", none)...)
	c.check(rclgo, c.parse("testdata/rclgo", none)...)
	c.check(overrcl, c.parse(root+"/rclgo/overrcl", isTest)...)
	c.check(overrcl+"_test", c.parse(root+"/rclgo/overrcl", func(name string) bool { return !isTest(name) })...)
	c.check("vnd/pkg/ros2/ros", append(c.parse(root+"/pkg/ros2/ros", replaced),
		c.parse(root+"/rclgo/_overlay", none)...)...)
	checkFields(t, c)
}

// checkFields looks up the fields of rclgo that a program reads by name when it starts.
func checkFields(t *testing.T, c *checker) {
	found := 0
	ast.Inspect(c.file(root+"/rclgo/overrcl/handles.go"), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		index, ok := call.Fun.(*ast.IndexExpr)
		if !ok || types.ExprString(index.X) != "fieldOf" {
			return true
		}
		found++
		holder := strings.TrimPrefix(types.ExprString(index.Index), "rclgo.")
		field := strings.Trim(types.ExprString(call.Args[0]), `"`)
		o, _, _ := types.LookupFieldOrMethod(c.checked[rclgo].Scope().Lookup(holder).Type(), false, c.checked[rclgo],
			field)
		if o == nil {
			t.Errorf("%s has no field %s", holder, field)
		}
		return true
	})
	if found != 6 {
		t.Errorf("%d fields are looked up, expected 6", found)
	}
}

// TestBuildRefusesWithoutWorkspace: the error is one line, and no folder is made.
func TestBuildRefusesWithoutWorkspace(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bin")
	command := exec.Command(root+"/rclgo/build.sh", out, filepath.Join(filepath.Dir(out), "work"))
	command.Env = append(os.Environ(), "AMENT_PREFIX_PATH=")
	output, err := command.CombinedOutput()
	lines := strings.Split(string(output), "\n")
	const want = "rclgo: AMENT_PREFIX_PATH is not set: source the setup.bash of ROS 2 or of a workspace"
	if err == nil || lines[0] != want {
		t.Errorf("%v: %s", err, output)
	}
	if made, err := os.ReadDir(filepath.Dir(out)); err != nil || len(made) > 0 {
		t.Errorf("%v: made %v", err, made)
	}
}
