package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/openloop"
)

// A signal ends predictions between two batches, and their file is not there.
func TestPredictionsAreInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said bytes.Buffer
	c := newConsole(ctx, &said, &said, false)
	p := &interruptible{c, cancelling{cancel}}
	rows := make([]quad.Row, 2000)
	f := quad.Flight{Name: "f", Segments: [][]quad.Row{rows}}
	path := filepath.Join(t.TempDir(), "p.csv")
	if err := writePredictions(path, &f, openloop.Entry{Name: "p", Predictor: p}, 1, 1); c.fail("vnd predict",
		err) == 0 {
		t.Error("no error")
	}
	if said.String() != "vnd predict: interrupted\n" {
		t.Errorf("said %q", &said)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// cancelling predicts nothing and is interrupted at once.
type cancelling struct{ cancel func() }

func (p cancelling) Predict(_ [][]quad.Row, _ [][]quad.Command, _ [][]quad.State) error {
	p.cancel()
	return nil
}
