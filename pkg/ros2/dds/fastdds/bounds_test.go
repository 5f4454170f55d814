//go:build cgo

package fastdds

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The filter's bounds hold, by a program in C++ that says which does not.
func TestBounds(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "bounds")
	out, err := exec.Command("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", program,
		"testdata/bounds/bounds.cpp").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err = exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v; not so: %s", err, out)
	}
}
