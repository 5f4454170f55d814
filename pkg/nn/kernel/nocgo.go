//go:build !cgo || purego

package kernel

// cgoBuilt says that the C kernels are in this binary.
const cgoBuilt = false

// What follows is never called: native stays false.

func openC(bool, string) (string, bool, bool) { return "", false, false }

func gemmC(bool, bool, int, int, int, []float32, int, []float32, int, float32, []float32, int) {}
func columnSumsC(_, _ int, _, _ []float32)                                                     {}
func gruGatesC(_, _ int, _, _, _, _, _, _ []float32)                                           {}
func gruGatesBackwardC(_, _ int, _, _, _, _, _ []float32)                                      {}
func gruSequenceC(_ bool, _, _ int, _, _, _, _, _, _ []float32)                                {}
func axpyC(_ float32, _, _ []float32)                                                          {}
func squaredNormC(_ []float32) float64                                                         { return 0 }
func rbfC(_, _ int, _, _, _ []float32, _ float32, _ []float32)                                 {}
func adamC(_ AdamStep, _, _, _, _ []float32)                                                   {}
func panelsC(_ bool, _, _ int) int                                                             { return 0 }
func packPanelsC(bool, bool, int, int, []float32, int, []float32)                              {}
func denseC(_ bool, _, _, _ int, _, _, _, _, _ []float32)                                      {}
func denseTanhC(_ bool, _, _, _ int, _, _, _, _ []float32)                                     {}
func denseGeluC(_ bool, _, _, _ int, _, _, _, _, _, _ []float32)                               {}
func denseFilmC(_ bool, _, _, _ int, _, _, _, _, _, _, _ []float32)                            {}
func denseGeluBackwardC(_ bool, _, _, _ int, _, _, _ []float32)                                {}
func denseFilmBackwardC(_ bool, _, _, _ int, _, _, _, _, _, _ []float32)                       {}
func gradientReducedC(_, _, _ int, _, _, _, _ []float32) bool                                  { return false }
func normaliseC(_, _ int, _, _, _ []float32)                                                   {}
func scaleRowsC(_, _ int, _, _ []float32)                                                      {}
