//go:build ignore

// This program writes the parameter files of the flight way's nodes; go generate runs it.
package main

import (
	"log"
	"os"
	"path/filepath"

	"vnd/pkg/component/controller"
	"vnd/pkg/component/encoder"
	"vnd/pkg/component/visualizer"
	"vnd/pkg/param"
)

func main() {
	var c controller.Params
	var e encoder.Params
	param.Default(&c)
	param.Default(&e)
	var v visualizer.Params
	param.Default(&v)
	for name, text := range map[string]string{controller.Name: param.YAML("/**/"+controller.Name, &c), encoder.Name: param.YAML("/**/"+encoder.Name, &e),
		visualizer.Name: param.YAML("/**/"+visualizer.Name, &v)} {
		if err := os.WriteFile(filepath.Join("..", "..", "params", name+".yaml"), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
