//go:build ignore

// This program writes reference.Documents; go generate runs it.
package main

import (
	"log"
	"os"
	"path/filepath"

	"vnd/pkg/cli/reference"
)

func main() {
	for path, text := range reference.Documents() {
		path = filepath.Join("..", "..", "..", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
