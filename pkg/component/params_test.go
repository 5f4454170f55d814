package component_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/component/controller"
	"vnd/pkg/component/encoder"
	"vnd/pkg/component/visualizer"
	"vnd/pkg/param"
)

// The laboratory's file and the files of all defaults are read by their nodes, in the namespace of the launch files, and
// change nothing.
func TestParameterFiles(t *testing.T) {
	check := func(file, node string, loaded, want any) {
		t.Helper()
		if err := param.Check(loaded); err != nil {
			t.Fatal(err)
		}
		param.Default(loaded)
		param.Default(want)
		if err := param.Load(filepath.Join("..", "..", "params", file), "/quad/"+node, loaded); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, loaded); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	check("policy_controller.yaml", controller.Name, &controller.Params{}, &controller.Params{})
	check("latent_encoder.yaml", encoder.Name, &encoder.Params{}, &encoder.Params{})
	check("visualizer.yaml", visualizer.Name, &visualizer.Params{}, &visualizer.Params{})
	type clocked struct {
		Sim bool `param:"use_sim_time" default:"false" doc:"as every node has it"`
		controller.Params
	}
	check("lab.yaml", controller.Name, &clocked{}, &clocked{})
	type clockedToo struct {
		Sim bool `param:"use_sim_time" default:"false" doc:"as every node has it"`
		encoder.Params
	}
	check("lab.yaml", encoder.Name, &clockedToo{}, &clockedToo{})
	type clockedThree struct {
		Sim bool `param:"use_sim_time" default:"false" doc:"as every node has it"`
		visualizer.Params
	}
	check("lab.yaml", visualizer.Name, &clockedThree{}, &clockedThree{})
}
