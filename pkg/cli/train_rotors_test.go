package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
)

// A fitted model that the airframe's motors do not carry is refused by its file and the parameters at fault.
func TestRotorsThatDoNotHover(t *testing.T) {
	var heavy rotors.Airframe
	param.Default(&heavy)
	heavy.Mass = 1
	m, err := heavy.Model(0.02, 0.03)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "heavy.json")
	if err := rotorfit.Save(path, &rotorfit.Predictor{Models: []*rotors.Model{m}}); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, "train", "--task", "hover", "--robot", "rotors", "--rotors", path, "--out", path+".vnd")
	if code == 0 || !strings.HasPrefix(stderr, "vnd train: "+path+": ") ||
		!strings.Contains(stderr, "rotors.max_command") {
		t.Errorf("%d: %s", code, stderr)
	}
}
