//go:build !cgo || purego

package quadrotor

// useC reports that this binary has no C kernels.
func useC(string) bool { return false }

// What follows is never called.

func (m *Quadrotor[F]) stepC(_ int, _, _, _, _ []float32)             {}
func (m *Quadrotor[F]) stepVJPC(_ int, _, _, _, _, _, _, _ []float32) {}
func (m *Quadrotor[F]) inputsC(_ int, _, _, _ []float32)              {}
func (m *Quadrotor[F]) inputsVJPC(_ int, _, _, _, _, _ []float32)     {}

func costsC(_ *Transition[float32], _, _, _ []float32)                       {}
func costsVJPC(_ *Transition[float32], _, _ []float32, _ *Gradient[float32]) {}
func observeC(_ *View, _ int, _, _, _, _, _ []float32)                       {}
func observeVJPC(_ *View, _ int, _, _, _, _, _ []float32)                    {}
