package sitl

import (
	"os"
	"testing"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
)

// A firmware that does not start leaves nothing open.
func TestFailedStartLeavesNothingOpen(t *testing.T) {
	open := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for name, c := range map[string]struct {
		binary string
		spoil  func(folder string) error
	}{
		"no program":           {"/no/such/program", nil},
		"a program that ends":  {"/bin/false", nil},
		"no folder for a file": {"/bin/false", os.RemoveAll},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			before := open()
			b, err := NewBoard(c.binary, bridge.Throttle{Hover: 0.3}, nil)
			if err == nil && c.spoil != nil {
				err = c.spoil(folder)
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := b.Reset(quad.State{}, quad.Command{}); err == nil {
					t.Error("it started")
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if after := open(); after > before+1 { // the runtime's own
				t.Errorf("%d files are open, %d before", after, before)
			}
		})
	}
}
