package fastdds

import (
	"strings"
	"testing"
)

// The versions whose sources have the endpoint, and those without.
func TestUnlike(t *testing.T) {
	for version, want := range map[string]bool{"2.5.0": true, "2.6.6": true, "2.9.1": true, "2.10.2": true,
		"2.11.2": true, "2.12.1": true,
		"2.6.7": false, "2.6.11": false, "2.10.3": false, "2.11.3": false, "2.12.2": false,
		"2.13.0": false, "2.14.5": false, "3.6.2": false} {
		if got := unlike(version); (got != "") != want || want && !strings.Contains(got, version) {
			t.Errorf("%s: %q", version, got)
		}
	}
}
