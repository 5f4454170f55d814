package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each program of a node is in the one file, too.
func TestProgramsAreTheNodes(t *testing.T) {
	folders, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range folders {
		_, err := os.Stat(filepath.Join("..", f.Name(), "main.go"))
		if err != nil || strings.HasPrefix(f.Name(), "vnd") {
			continue
		}
		if found++; programs[f.Name()] == nil {
			t.Errorf("%s is missing", f.Name())
		}
	}
	if found != len(programs) {
		t.Errorf("%d programs, %d folders", len(programs), found)
	}
}
