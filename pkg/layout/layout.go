// Package layout holds the rules of this repository by tests alone: which folder may import which, and that documents
// name what is there.
package layout

//go:generate go run ./api
