package task

import (
	"testing"

	"vnd/pkg/core/param"
)

func TestSpreadDeclaresItsParameters(t *testing.T) {
	if err := param.Check(new(Spread)); err != nil {
		t.Error(err)
	}
}
