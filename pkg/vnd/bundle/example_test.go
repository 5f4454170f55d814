package bundle_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vnd/pkg/vnd/bundle"
)

// A bundle is written whole or not at all. A reader refuses one that was changed.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "bundle-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "own.vnd")
	err = bundle.Write(path, &bundle.Bundle{Robot: "own", Dt: .02,
		Tensors: []bundle.Tensor{{Name: "gains", Shape: []int{2}, Data: []float32{6, 4}}}})
	if err != nil {
		log.Fatal(err)
	}
	b, err := bundle.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	gains, err := b.Tensor("gains", 2)
	fmt.Println(b.Robot, gains, err)

	bytes, _ := os.ReadFile(path)
	bytes[len(bytes)-1]++
	_, err = bundle.Decode("own.vnd", bytes)
	fmt.Println(err != nil)
	// Output:
	// own [6 4] <nil>
	// true
}
