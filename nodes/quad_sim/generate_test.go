package main

import (
	"testing"

	"vnd/pkg/param/paramtest"
)

func TestParameterFile(t *testing.T) { paramtest.File[Params](t, "quad_sim") }
