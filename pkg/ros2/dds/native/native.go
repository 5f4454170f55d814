// Package native drives a DDS implementation in C or C++ through a table of functions,
// struct vnd_api of native.h: participants, endpoints, samples, waiting, the graph.
// Listeners of the implementation note what is ready; one goroutine waits for it in C.
// Without cgo the package is empty.
package native
