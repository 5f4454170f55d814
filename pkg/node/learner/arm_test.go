package learner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/ros2/dds/inproc"
)

// TestArmParameterFile: params/arm_learner.yaml has the defaults, which a node reads.
func TestArmParameterFile(t *testing.T) {
	var p, loaded ArmParams
	param.Default(&p)
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	path, text := filepath.Join("..", "..", "..", "params", ArmFile), param.YAML("/**/"+Name, &p)
	if there, err := os.ReadFile(path); err != nil || string(there) != text {
		t.Fatalf("%s is out of date: run make gen (%v)", path, err)
	}
	if err := param.Load(path, "/left/"+Name, &loaded); err != nil || param.YAML("/**/"+Name, &loaded) != text {
		t.Errorf("%+v, %v", loaded, err)
	}
}

// TestArmRefusals: a parameter that fits no arm ends the node with a line that names it.
func TestArmRefusals(t *testing.T) {
	for parameter, want := range map[string]string{
		`reference_json:='{"kind": "square"}'`: `parameter reference_json: reference "square"`,
		"joints:=[a, b]":                       "joints has 2 names, expected 7",
		"base.latent:=3":                       "base.latent is 3 and fit.model.latent 2: expected the same",
		"bundle_key_file:=none.pem":            "parameter bundle_key_file",
	} {
		err := Run(context.Background(), options(inproc.NewDomain(), "robot:=arm", "directory:="+t.TempDir(),
			"nice:=0", parameter), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", parameter, err, want)
		}
	}
}
