package quadrotor

import "vnd/pkg/nn/kernel"

// The C kernels of body.h, cost.h and observe.h compute what the Go beside their calls states, many robots at a time.
// float32 runs them where package kernel runs its own; float64 runs the Go.
//
//go:generate sh ../../nn/kernel/copy.sh nn/kernel/vector.h

// useKernels says that float32 runs the C kernels.
var useKernels bool

func init() { useKernels = useC(kernel.Instructions()) }

func native[F kernel.Float]() bool { return useKernels && kernel.Native[F]() }
