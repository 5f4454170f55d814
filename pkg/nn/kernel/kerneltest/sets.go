// Package kerneltest is for tests of packages with C kernels of their own.
package kerneltest

import (
	"strings"

	"vnd/pkg/nn/kernel"
)

// Sets lists the instruction sets that this binary and machine can run, plainest last; none without C. use takes the
// kernels of a set into use and reports whether there are any: those of package kernel are in use at the end.
func Sets(use func(set string) bool) (found []string) {
	if kernel.Instructions() == "" {
		return nil
	}
	defer use(kernel.Instructions())
	all := []string{"avx512", "avx2", "sse2", "neon", "generic"}
	for i, set := range all {
		if strings.HasPrefix(kernel.Instructions(), set) {
			all = all[i:]
			break
		}
	}
	for _, set := range all {
		if use(set) {
			found = append(found, set)
		}
	}
	return found
}
