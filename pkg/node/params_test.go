package node_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/core/param"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/encoder"
	"vnd/pkg/node/visualizer"
)

func TestParameterFile(t *testing.T) {
	paramtest.File[controller.Params](t, controller.Name)
	paramtest.File[encoder.Params](t, encoder.Name)
	paramtest.File[visualizer.Params](t, visualizer.Name)
}

// What a laboratory sets is read by each node, in the namespace of the launch files, and changes nothing as it stands.
func TestLabFileIsReadByEachNode(t *testing.T) {
	type controllerInLab struct {
		clocked
		controller.Params
	}
	type encoderInLab struct {
		clocked
		framed
		encoder.Params
	}
	type visualizerInLab struct {
		clocked
		framed
		visualizer.Params
	}
	inLab[controllerInLab](t, controller.Name)
	inLab[encoderInLab](t, encoder.Name)
	inLab[visualizerInLab](t, visualizer.Name)
}

// clocked is what every node has.
type clocked struct {
	Sim bool `param:"use_sim_time" default:"false" doc:"time from /clock"`
}

// framed is what every node of the lab's file is told, and those that know no vehicle leave aside.
type framed struct {
	Airframe string `param:"airframe" default:"" doc:"file of the vehicle"`
}

func inLab[P any](t *testing.T, node string) {
	t.Helper()
	var want, loaded P
	param.Default(&want)
	param.Default(&loaded)
	if err := param.Load(filepath.Join("..", "..", "params", "lab.yaml"), "/quad/"+node, &loaded); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, loaded, cmp.AllowUnexported(want)); diff != "" {
		t.Errorf("%s: %s", node, diff)
	}
}
