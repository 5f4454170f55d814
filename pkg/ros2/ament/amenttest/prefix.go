// Package amenttest makes prefixes with packages, for tests.
package amenttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Prefix is a prefix in whose index packages are.
func Prefix(t testing.TB, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	index := filepath.Join(dir, "share", "ament_index", "resource_index", "packages")
	if err := os.MkdirAll(index, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		if err := os.WriteFile(filepath.Join(index, p), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
