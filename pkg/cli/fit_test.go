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

// A flight of which samples were lost, one by one, is learned from as one flight, not left out as short pieces.
func TestFitsAcrossLostRows(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("..", "learning", "openloop", "testdata", "flights",
		"june_04__chpoly_2d_seed3_pid_2d_0.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := slices.Collect(strings.Lines(string(whole)))
	const head = 25 // rows without a gap: a flight needs a window of context
	for i := len(rows) - 5; i > head; i -= 5 {
		rows = slices.Delete(rows, i, i+1)
	}
	holes := write(t, []byte(strings.Join(rows, "")), t.TempDir(), "holes.csv")
	code, out, stderr := run(t, "fit", "--json", "--out", holes+".vnd", "-p", "train.updates:=1", "-p",
		"train.batch:=8", "-p", "model.hidden:=8", "-p", "model.encoder_hidden:=8", "-p", "model.encoder_dense:=8",
		"-p", "loss.steps:=5", "-p", "train.validation:=0.0", holes)
	var got struct {
		Rows    int         `json:"rows"`
		Metrics fit.Metrics `json:"metrics"`
	}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("%d, %v: %s", code, err, stderr)
	}
	if got.Metrics.Contexts < got.Rows/2 {
		t.Errorf("%d contexts of %d rows", got.Metrics.Contexts, got.Rows)
	}
}
