package experiment

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A shell reads a line of --dry-run as the words that it came from.
func TestShellLine(t *testing.T) {
	words := []string{"train", "--out", "a b.vnd", "it's", `back\slash`, "two\nlines", "tab\t'quoted'\\\r", "", "$HOME",
		"*", "grün", "bell\a1", "-p", "rate:=0.1"}
	line := ShellLine(words)
	if strings.ContainsAny(line, "\n\t\r\a") {
		t.Errorf("%q is not a line for a terminal", line)
	}
	said, err := exec.Command("bash", "-c", `vnd() { printf '%s\0' "$@"; }; `+line).Output()
	if err != nil {
		t.Skip("no bash here: ", err)
	}
	if got := strings.Split(strings.TrimSuffix(string(said), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("%s is %q, want %q", line, got, words)
	}
}
