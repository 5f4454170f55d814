package kernel

import (
	"runtime"
	"testing"
)

// TestWorkers: whoever computes in C keeps its processor while another is idle.
func TestWorkers(t *testing.T) {
	before := Workers()
	defer SetWorkers(before)
	for _, n := range []int{1, 3, before} {
		SetWorkers(n)
		idle := runtime.GOMAXPROCS(0) - n
		if Workers() != n || native && idle < 1 || !native && idle != 0 {
			t.Errorf("%d workers of %d processors, want %d", Workers(), runtime.GOMAXPROCS(0), n)
		}
	}
}
