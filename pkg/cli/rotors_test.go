package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// madeFlights has two flights of the columns of IDSIA.
var madeFlights = filepath.Join("..", "learning", "publictable", "testdata", "idsia", "flights", "test")

// write writes a file below dir and returns its path.
func write(t *testing.T, content []byte, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, content, 0o666)); err != nil {
		t.Fatal(err)
	}
	return name
}

// head is the beginning of a flight of NanoBench, of so many rows at most.
func head(t *testing.T, rows int) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(partOfNanoBench, "flights", "helix_part.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(lines[:min(rows+1, len(lines))], nil)
}

func TestBenchmarkSaysWhatItLeavesOut(t *testing.T) {
	dir := t.TempDir()
	hidden := filepath.Join(dir, "hidden")
	write(t, head(t, 15), hidden, "short.csv")
	run := func(args ...string) (string, string) {
		return runTool(t, append([]string{"benchmark", "nanobench", partOfNanoBench, "--out", filepath.Join(dir, "out"),
			"--seeds", "1", "--updates", "1"}, args...)...)
	}
	_, complaints := run("--test", hidden)
	if !strings.Contains(complaints, "no flight to predict has a stretch of 141 rows") {
		t.Errorf("a short flight alone: %s", complaints)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a model was fitted before the flights were looked at")
	}
	write(t, head(t, 10000), hidden, "whole.csv")
	out, complaints := run("--test", hidden)
	var r benchmarkResult
	if err := json.Unmarshal([]byte(out), &r); err != nil || !slices.Equal(r.Predicted, []string{"whole"}) ||
		!strings.Contains(complaints, "short.csv: no stretch of 141 rows without a gap: not predicted") ||
		!strings.Contains(complaints, "whole.csv: the model is fitted to it, as ") {
		t.Errorf("%v: %s%s", err, out, complaints)
	}
	_, complaints = run("--out", write(t, nil, dir, "file"))
	if !strings.Contains(complaints, "not a directory") {
		t.Errorf("a file as --out: %s", complaints)
	}
}

func TestObserverComesOnTopOfAnEarlierRun(t *testing.T) {
	dir := t.TempDir()
	bench := filepath.Join(dir, "idsia")
	for _, name := range []string{"made_1.csv", "made_2.csv"} {
		text, err := os.ReadFile(filepath.Join(madeFlights, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, text, bench, "flights", "train", "fit_"+name)
		write(t, text, bench, "flights", "test", name)
	}
	run := func(out string, args ...string) string {
		_, complaints := runTool(t, append([]string{"benchmark", "idsia", bench, "--out", out, "--seeds", "1",
			"--updates", "1"}, args...)...)
		return complaints
	}
	if got := run(dir, "--from", dir); !strings.Contains(got, "--from: expected --history too") {
		t.Errorf("--from without --history: %s", got)
	}
	if got := run(dir, "--history", "--from", filepath.Join(dir, "none")); !strings.Contains(got, "seed1.json") {
		t.Errorf("--from a folder without models: %s", got)
	}
	without, both, on := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	complaints := run(without) + run(both, "--history") + run(on, "--history", "--from", without)
	x, err := os.ReadFile(filepath.Join(both, "seed1.json"))
	y, err2 := os.ReadFile(filepath.Join(on, "seed1.json"))
	if err := errors.Join(err, err2); err != nil || !bytes.Equal(x, y) {
		t.Errorf("models differ, or %v: %s", err, complaints)
	}
}

func TestRotorsOverwriteNoFlight(t *testing.T) {
	dir := t.TempDir()
	flight := write(t, head(t, 200), dir, "one", "a.csv")
	other := write(t, head(t, 100), dir, "two", "a.csv")
	short := write(t, head(t, 15), dir, "two", "short.csv")
	model := filepath.Join(dir, "m.json")
	fit := []string{"rotors", "fit", "--updates", "1", "--steps", "2", "--out"}
	if _, complaints := runTool(t, append(fit, model, flight)...); complaints != "" {
		t.Fatal(complaints)
	}
	predict := []string{"rotors", "predict", "--model", model, "--steps", "20", "--stride", "50", "--out"}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"model over a flight":       {append(fit, flight, flight), "one/a.csv: it is an input"},
		"model in no folder":        {append(fit, filepath.Join(dir, "no", "m.json"), flight), "cannot make files in"},
		"negative correction":       {append(fit, model, "--correct=-1", flight), "--correct -1, expected 0 to 12"},
		"weight that is no number":  {append(fit, model, "--position", "nan", flight), "--position NaN"},
		"predictions over a flight": {append(predict, filepath.Dir(flight), flight), "one/a.csv: it is an input"},
		"one name twice":            {append(predict, dir, flight, other), "expected different names"},
		"short flights alone":       {append(predict, dir, short), "short.csv: no stretch of 21 rows"},
		"a short flight beside": {append(predict, dir, other, short),
			"short.csv: no stretch of 21 rows without a gap: not predicted"},
	} {
		t.Run(name, func(t *testing.T) {
			_, complaints := runTool(t, c.args...)
			if !strings.Contains(filepath.ToSlash(complaints), c.want) {
				t.Errorf("%s, want %q", complaints, c.want)
			}
		})
	}
	if text, err := os.ReadFile(flight); err != nil || !bytes.Equal(text, head(t, 200)) {
		t.Errorf("the flight is not what it was: %v", err)
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
	made := filepath.Join(madeFlights, "made_1.csv")
	_, complaints = runTool(t, "rotors", "predict", "--model", model, "--out", dir, made)
	if !strings.Contains(complaints, "made_1.csv: line 2: motor command ") {
		t.Errorf("speeds to a model of commands: %s", complaints)
	}
}
