package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckout(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"clone/bin", "clone/docs", "usr/lib/vnd", "home", "clone/" + Flights,
		"usr/share/vnd/" + Flights} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, from, programs, top, out string }{
		{"above the current directory", "clone/docs", "usr/lib/vnd", "clone", "clone/build/demo"},
		{"above the program", "home", "clone/bin", "clone", "clone/build/demo"},
		{"of a package", "home", "usr/lib/vnd", "usr/share/vnd", "home/vnd_demo"},
		{"nowhere", "home", "home", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(filepath.Join(root, c.from))
			top, out, err := checkout(filepath.Join(root, c.programs))
			if c.top == "" {
				if err == nil || !strings.Contains(err.Error(), "give --flights DIR") {
					t.Error(top, out, err)
				}
				return
			}
			for got, want := range map[string]string{top: c.top, out: c.out} {
				if abs, _ := filepath.Abs(got); err != nil || abs != filepath.Join(root, want) {
					t.Errorf("%s, %v; want %s", abs, err, want)
				}
			}
		})
	}
}
