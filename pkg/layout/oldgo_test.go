package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Distributions have older Go: make says so in one line, before it installs or builds anything.
func TestOldGoIsNamed(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	bin := t.TempDir()
	old := "#!/bin/sh\necho go version go1.19.8 linux/amd64\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(old), 0o755); err != nil {
		t.Fatal(err)
	}
	make := exec.Command("make", "-s", "deps")
	make.Dir, make.Env = filepath.Join("..", ".."), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := make.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "Go is too old: go version go1.19.8 linux/amd64; install Go 1.") {
		t.Errorf("%v: %s", err, out)
	}
}
