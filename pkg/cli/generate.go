//go:build ignore

// This program writes cli.Documents; go generate runs it.
package main

import (
	"log"
	"os"
	"path/filepath"

	"vnd/pkg/cli"
)

func main() {
	for path, text := range cli.Documents() {
		path = filepath.Join("..", "..", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
