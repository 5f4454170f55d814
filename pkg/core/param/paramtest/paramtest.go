// Package paramtest tests that the checked-in parameter files match their structs.
package paramtest

import (
	"os"
	"path/filepath"
	"testing"

	"vnd/pkg/core/param"
)

// File compares params/<node>.yaml of the module with the defaults of P, and reads it as a node in a namespace does.
func File[P any](t *testing.T, node string) {
	t.Helper()
	var p, loaded P
	if err := param.Check(&p); err != nil {
		t.Fatal(err)
	}
	param.Default(&p)
	path, text := filepath.Join(root(t), "params", node+".yaml"), param.YAML("/**/"+node, &p)
	if there, err := os.ReadFile(path); err != nil || string(there) != text {
		t.Fatalf("%s is out of date: run make gen (%v)", path, err)
	}
	if err := param.Load(path, "/quad/"+node, &loaded); err != nil || param.YAML("/**/"+node, &loaded) != text {
		t.Errorf("a node in a namespace does not find all of itself in %s: %+v, %v", path, loaded, err)
	}
}

// root is the folder of the module that the test lies in.
func root(t *testing.T) string {
	t.Helper()
	for dir := "."; ; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if abs, err := filepath.Abs(dir); err != nil || abs == filepath.Dir(abs) {
			t.Fatal("no go.mod above this test")
		}
	}
}
