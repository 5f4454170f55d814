package node

import (
	"strings"
	"testing"
)

// Whoever makes up names does not fill the log.
func TestFewLinesAreLogged(t *testing.T) {
	var l LogOnce
	n := 0
	for i := range 1000 {
		if l.First(strings.Repeat("x", i)) {
			n++
		}
		if l.First("") {
			t.Fatal("twice the same")
		}
	}
	if n != mostLogged {
		t.Errorf("%d lines, expected %d", n, mostLogged)
	}
}
