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

// Profiles that cannot be read end a process with one line: they would take our transport away, and say nothing in its
// place.
func TestWrongProfiles(t *testing.T) {
	requireLibrary(t)
	broken := filepath.Join(t.TempDir(), "broken.xml")
	if err := os.WriteFile(broken, []byte("<profiles><participant"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, broken + ".absent"} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), missing+"=1", "FASTRTPS_DEFAULT_PROFILES_FILE="+path)
		out, err := c.Output()
		if text := string(out); err != nil || strings.Count(text, path) < 2 || strings.Contains(text, "\n") ||
			!strings.Contains(text, "FASTRTPS_DEFAULT_PROFILES_FILE") {
			t.Errorf("%s: %v, %q; expected one line with the variable and the file", path, err, out)
		}
	}
}

// A variable that a version does not read takes nothing away.
func TestProfiles(t *testing.T) {
	t.Setenv("FASTDDS_DEFAULT_PROFILES_FILE", "new.xml")
	const newer = `, FASTDDS_DEFAULT_PROFILES_FILE is "new.xml"`
	for version, want := range map[string]string{"2.9.1": "", "2.14.5": newer} {
		if got := profiles(version); got != want {
			t.Errorf("%s: %q, expected %q", version, got, want)
		}
	}
}
