package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/learning/rotorfit"
)

// partOfNanoBench has one flight to fit to and one to predict, each of some seconds.
var partOfNanoBench = filepath.Join("..", "learning", "publictable", "testdata", "nanobench")

// runTool runs vnd --json and returns its result; the error's line, if there is one, otherwise.
func runTool(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	Run(context.Background(), append([]string{"--json"}, args...), &out, &complaints)
	return out.String(), complaints.String()
}

func TestBenchmarkGoesFromFitToTable(t *testing.T) {
	dir := t.TempDir()
	var runs [2]benchmarkResult
	for i, extra := range [][]string{nil, {"--model", filepath.Join(dir, "seed1.json")}} {
		out, complaints := runTool(t, append([]string{"benchmark", "nanobench", partOfNanoBench, "--out", dir,
			"--seeds", "1", "--updates", "2"}, extra...)...)
		if err := json.Unmarshal([]byte(out), &runs[i]); err != nil || len(runs[i].Seeds) != 1 {
			t.Fatalf("%v: %s%s", err, out, complaints)
		}
	}
	if r := runs[0]; r.Fitted != 1 || len(r.Predicted) != 1 || r.Predicted[0] != "helix_part" ||
		r.Seeds[0].Starts != 16 || len(r.Seeds[0].Within) != 100 || !(r.Median.H50[0] > 0) {
		t.Errorf("%+v", runs[0])
	}
	if runs[0].Median.H50 != runs[1].Median.H50 {
		t.Errorf("the kept model predicts %v, want %v", runs[1].Median.H50, runs[0].Median.H50)
	}
	data, err := os.ReadFile(filepath.Join(dir, "seed1", "helix_part.csv"))
	if err != nil || !bytes.HasPrefix(data, []byte(rotorfit.Header+"\n40,1,")) ||
		bytes.Count(data, []byte("\n")) != 1+16*100 {
		t.Errorf("%v: %.100s", err, data)
	}
	if info, err := os.Stat(runs[0].Picture); err != nil || info.Size() == 0 {
		t.Errorf("picture: %v", err)
	}
}

func TestRotorsAreFittedAndPredicted(t *testing.T) {
	dir := t.TempDir()
	model, flights := filepath.Join(dir, "m.json"), filepath.Join(partOfNanoBench, "flights")
	out, complaints := runTool(t, "rotors", "fit", "--out", model, "--steps", "10", "--updates", "2", "--members", "2",
		"--history", "10", "--correct", "6", flights)
	var fit rotorsFitResult
	if err := json.Unmarshal([]byte(out), &fit); err != nil || fit.Flights != 2 || fit.Members != 2 ||
		fit.Config.Input != "commands" {
		t.Fatalf("%v: %s%s", err, out, complaints)
	}
	out, complaints = runTool(t, "rotors", "predict", "--model", model, "--out", dir, "--steps", "10", "--stride", "50",
		flights)
	var predicted rotorsPredictResult
	if err := json.Unmarshal([]byte(out), &predicted); err != nil || len(predicted.Files) != 2 ||
		predicted.Starts != 12 {
		t.Errorf("%v: %s%s", err, out, complaints)
	}
	made := filepath.Join("..", "learning", "publictable", "testdata", "idsia", "flights", "test", "made_1.csv")
	_, complaints = runTool(t, "rotors", "predict", "--model", model, "--out", dir, made)
	if !strings.Contains(complaints, "made_1: line 2: motor command ") {
		t.Errorf("speeds to a model of commands: %s", complaints)
	}
}
