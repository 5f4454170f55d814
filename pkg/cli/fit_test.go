package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/learning/fit"
)

// Flights of which samples were lost, one by one, are learned from as whole ones, not left out as short pieces. One of
// them calibrates the intervals.
func TestFitsAcrossLostRows(t *testing.T) {
	source := filepath.Join("..", "learning", "openloop", "testdata", "flights",
		"june_04__chpoly_2d_seed3_pid_2d_0.csv")
	whole, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	rows := slices.Collect(strings.Lines(string(whole)))
	const head = 25 // rows without a gap: a flight needs a window of context
	for i := len(rows) - 5; i > head; i -= 5 {
		rows = slices.Delete(rows, i, i+1)
	}
	dir, bundle := t.TempDir(), filepath.Join(t.TempDir(), "holes.vnd")
	for _, name := range []string{"a.csv", "b.csv"} {
		write(t, []byte(strings.Join(rows, "")), dir, name)
	}
	code, out, stderr := run(t, "fit", "--json", "--out", bundle, "-p", "train.updates:=1", "-p",
		"train.batch:=8", "-p", "model.hidden:=8", "-p", "model.encoder_hidden:=8", "-p", "model.encoder_dense:=8",
		"-p", "loss.steps:=5", "-p", "train.validation:=0.5", dir)
	var got struct {
		Rows    int         `json:"rows"`
		Metrics fit.Metrics `json:"metrics"`
	}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("%d, %v: %s", code, err, stderr)
	}
	if got.Metrics.Contexts < got.Rows/4 { // half are held out
		t.Errorf("%d contexts of %d rows", got.Metrics.Contexts, got.Rows)
	}
	if code, out, stderr = run(t, "score", "--bundle", bundle, source); code != 0 ||
		!strings.Contains(out, "intervals of 90 %, flights that the fit held out: 1") {
		t.Errorf("%d: %s%s", code, out, stderr)
	}
}
