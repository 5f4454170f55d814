package flight

import (
	"slices"
	"testing"
)

func TestParametersAreForWhateverNodesHaveThem(t *testing.T) {
	args := []string{"--ros-args", "-r", "__ns:=/q", "-p", "directory:=d", "--param", "policy_controller:rate:=100.0"}
	want := slices.Clone(args)
	want[4] = "**:directory:=d"
	if got := shared(args); !slices.Equal(got, want) || args[4] != "directory:=d" {
		t.Error(got, args)
	}
}
