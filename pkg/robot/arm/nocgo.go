//go:build !cgo || purego

package arm

// useC reports that this binary has no C kernels.
func useC(string) bool { return false }

// What follows is never called.

func (m *Arm[F]) stepC(_ int, _, _, _, _ []float32)          {}
func (m *Arm[F]) stepVJPC(_ int, _, _, _, _, _, _ []float32) {}
