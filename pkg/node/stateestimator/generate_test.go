package stateestimator

import (
	"testing"

	"vnd/pkg/core/param/paramtest"
)

func TestParameterFile(t *testing.T) { paramtest.File[Params](t, Name) }
