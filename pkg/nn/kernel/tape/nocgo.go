//go:build !cgo || purego

package tape

func forward(code []instruction, args []int32, theta, x []float64) { forwardGo(code, args, theta, x) }

func backward(code []instruction, args []int32, theta, x, dx, dtheta []float64) {
	backwardGo(code, args, theta, x, dx, dtheta)
}
