//go:build cgo

package fastdds

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where Fast DDS is not there, one line says what to install.
func TestMissing(t *testing.T) {
	folder := t.TempDir()
	broken := filepath.Join(folder, "broken.so")
	if err := os.WriteFile(broken, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", filepath.Join(folder, "absent.so"), broken} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), missing+"=1", "VND_FASTDDS="+path)
		out, err := c.Output()
		if text := string(out); err != nil || !strings.Contains(text, "apt-get install libfastrtps-dev") ||
			!strings.Contains(text, "make build") || strings.Contains(text, "\n") || !strings.Contains(text, path) {
			t.Errorf("VND_FASTDDS=%s: %v, %q; expected one line that says what to install", path, err, out)
		}
	}
}
