package arm

import "vnd/pkg/nn/kernel"

// The C kernels of dynamics.h compute what system.go states, many arms at a time in float32. float32 runs them where
// package kernel runs its own; float64 runs the Go.
//
//go:generate go run generate.go
//go:generate sh ../../nn/kernel/copy.sh nn/kernel/vector.h
//go:generate sh ../../nn/kernel/copy.sh robot/quadrotor/lanes.h

// useKernels says that float32 runs the C kernels.
var useKernels bool

func init() { useKernels = useC(kernel.Instructions()) }

func native[F kernel.Float]() bool { return useKernels && kernel.Native[F]() }
