package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
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

// A fit of flights by motors is scored, and trained in; its policy flies under the latents of its own encoder, and the
// training goes on from it.
func TestFitsOfFlightsByMotorsAreTrainedIn(t *testing.T) {
	if testing.Short() {
		t.Skip("fits and trains")
	}
	dir := t.TempDir()
	model, made := filepath.Join(dir, "model.vnd"), filepath.Join(dir, "made.vnd")
	strong := []byte("airframe:\n  ros__parameters:\n    rotors:\n      max_command: 0.95\n")
	frame := write(t, strong, dir, "frame.yaml")
	flights := filepath.Join(partOfNanoBench, "flights")
	for _, of := range [][]string{
		{"fit", "--robot", "rotors", "--airframe", frame, "--out", model, "-p", "model.encoder_dense:=8", "-p",
			"model.encoder_hidden:=8", "-p", "model.hidden:=16", "-p", "train.updates:=4", "-p", "train.batch:=8",
			"-p", "loss.steps:=5", flights},
		{"score", "--bundle", model, "--steps", "5,10", "--stride", "50", flights},
		{"train", "--robot", "rotors", "--task", "hover", "--airframe", frame, "--bundle", model, "--out", made,
			"-p", "epochs:=4", "-p", "envs:=16", "-p", "horizon:=10", "-p", "hidden:=16", "--flights", flights},
		{"train", "--robot", "rotors", "--task", "hover", "--airframe", frame, "--bundle", made, "--out", made + "2",
			"-p", "epochs:=2", "-p", "envs:=16", "-p", "horizon:=10"},
		{"eval", "--task", "hover", "--bundle", made, "--world", "../../params/worlds/calm.yaml", "--seconds", "1",
			"--settle", "0.5"},
	} {
		if code, out, stderr := run(t, of...); code != 0 {
			t.Fatalf("vnd %s: %s%s", strings.Join(of, " "), out, stderr)
		}
	}
	was, err := bundle.Read(model)
	if err != nil {
		t.Fatal(err)
	}
	is, err := bundle.Read(made)
	if err != nil || is.Parent != was.ID || !vnd.In(is) {
		t.Fatalf("%v: not of the fit: %+v", err, is)
	}
	p, err := policy.RotorsFromBundle(is)
	if err != nil || !p.UsesLatent() || p.Latent != 12 {
		t.Errorf("%v: the policy sees no latents", err)
	}
}
