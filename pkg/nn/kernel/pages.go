package kernel

import "unsafe"

// Tape returns n zeros for what a pass keeps for its way back, on huge pages where they are many and the system has
// any.
func Tape[F Float](n int) []F {
	x := make([]F, n)
	const many = 4 << 20
	if size := n * int(unsafe.Sizeof(*new(F))); size >= many {
		huge(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), size))
	}
	return x
}
