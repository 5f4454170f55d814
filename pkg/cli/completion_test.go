package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bash completes commands, flags and their values by the script.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: no bash here")
	}
	code, script, stderr := run(t, "completion", "bash")
	if code != 0 {
		t.Fatal(stderr)
	}
	path := filepath.Join(t.TempDir(), "vnd.bash")
	if err := os.WriteFile(path, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"vnd top":                      "topic",
		"vnd topic ":                   "list echo hz",
		"vnd topic e":                  "echo",
		"vnd topic echo --f":           "--full",
		"vnd bag recover --storage m":  "mcap",
		"vnd completion z":             "zsh",
		"vnd train --task hover --air": "--airframe",
		"vnd nowhere":                  "",
	} {
		words := strings.Split(line, " ")
		ask := `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vnd_complete; echo "${COMPREPLY[*]}"`
		out, err := exec.Command(bash, append([]string{"-c", ask, "bash", path}, words...)...).CombinedOutput()
		got := strings.TrimSpace(string(out))
		for _, w := range strings.Fields(want) {
			if !strings.Contains(" "+got+" ", " "+w+" ") {
				t.Errorf("%q: %q, expected %q", line, got, want)
			}
		}
		if err != nil || want == "" && got != "" {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
}

// The script for zsh is that for bash, which zsh reads once it is told to.
func TestCompletionInZsh(t *testing.T) {
	_, bash, _ := run(t, "completion", "bash")
	code, zsh, _ := run(t, "completion", "zsh")
	if code != 0 || !strings.HasSuffix(zsh, bash) || !strings.HasPrefix(zsh, "autoload -U +X compinit bashcompinit") {
		t.Errorf("%d, %.200s", code, zsh)
	}
	if code, _, stderr := run(t, "completion", "fish"); code == 0 || !strings.Contains(stderr, `"bash","zsh"`) {
		t.Errorf("%d, %s", code, stderr)
	}
}
