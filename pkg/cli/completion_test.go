package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bash completes commands, flags and their values by the script.
func TestCompletionInBash(t *testing.T) { completes(t, "bash", "") }

// zsh does so by the same script, with the arrays of ksh that it sets for such functions.
func TestCompletionInZsh(t *testing.T) { completes(t, "zsh", "setopt ksharrays; ") }

func completes(t *testing.T, name, before string) {
	t.Helper()
	shell, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: no %s here", name)
	}
	code, script, stderr := run(t, "completion", name)
	if code != 0 {
		t.Fatal(stderr)
	}
	path := filepath.Join(t.TempDir(), "vnd.script")
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
		ask := `source "$1"; shift; ` + before + ` COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vnd_complete;` +
			` echo "${COMPREPLY[*]}"`
		out, err := exec.Command(shell, append([]string{"-c", ask, name, path}, words...)...).CombinedOutput()
		got := strings.TrimSpace(string(out))
		for _, w := range strings.Fields(want) {
			if !strings.Contains(" "+got+" ", " "+w+" ") {
				t.Errorf("%q: %q, expected %q", line, got, want)
			}
		}
		none := want == "" && name == "bash" // zsh itself leaves out what does not fit
		if err != nil || none && got != "" {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
}

// The script for zsh is that for bash, which zsh reads once it is told to.
func TestCompletionForZshIsThatForBash(t *testing.T) {
	_, bash, _ := run(t, "completion", "bash")
	code, zsh, _ := run(t, "completion", "zsh")
	if code != 0 || !strings.HasSuffix(zsh, bash) || !strings.HasPrefix(zsh, "autoload -U +X compinit bashcompinit") {
		t.Errorf("%d, %.200s", code, zsh)
	}
	if code, _, stderr := run(t, "completion", "fish"); code == 0 || !strings.Contains(stderr, `"bash","zsh"`) {
		t.Errorf("%d, %s", code, stderr)
	}
}
