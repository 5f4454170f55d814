package kernel

import "testing"

// TestTape: as long as asked for, zero, and whole from end to end.
func TestTape(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1<<20 + 7} {
		x := Tape[float32](n)
		for i := range x {
			if x[i] != 0 {
				t.Fatalf("%d of %d is %v", i, n, x[i])
			}
			x[i] = float32(i)
		}
		for i, v := range x {
			if v != float32(i) {
				t.Fatalf("%d of %d is %v", i, n, v)
			}
		}
		if len(x) != n {
			t.Fatalf("%d numbers, want %d", len(x), n)
		}
	}
}
