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

// Files of other robots have the defaults, which a node reads.
func TestArmParameterFile(t *testing.T)  { checkFile(t, ArmFile, (*ArmParams).check) }
func TestPushParameterFile(t *testing.T) { checkFile(t, PushFile, (*PushParams).check) }

func checkFile[P any](t *testing.T, file string, check func(*P) error) {
	t.Helper()
	var p, loaded P
	param.Default(&p)
	if err := check(&p); err != nil {
		t.Fatal(err)
	}
	path, text := filepath.Join("..", "..", "..", "params", file), param.YAML("/**/"+Name, &p)
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
		"base.latent:=3":                       "base.latent 3, policy.latent 2, fit.model.latent 2: expected the same",
		"policy.latent:=3":                     "base.latent 2, policy.latent 3, fit.model.latent 2: expected the same",
		"bundle_key_file:=none.pem":            "parameter bundle_key_file",
	} {
		err := Run(context.Background(), options(inproc.NewDomain(), "robot:=arm", "directory:="+t.TempDir(),
			"nice:=0", parameter), Judges{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", parameter, err, want)
		}
	}
}
