package main

import (
	"os"
	"path/filepath"
	"testing"

	"vnd/pkg/param"
)

// The parameter file holds every parameter with its default. VND_WRITE=1 writes it.
func TestParameterFile(t *testing.T) {
	var p Params
	param.Default(&p)
	want := param.YAML("/**/quad_sim", &p)
	path := filepath.Join("..", "..", "params", "quad_sim.yaml")
	if os.Getenv("VND_WRITE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%v: %s is not what the parameters are; VND_WRITE=1 go test ./nodes/quad_sim writes it", err, path)
	}
}
