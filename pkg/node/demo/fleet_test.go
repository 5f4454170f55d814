package demo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A learner that gets no processor in time is killed, which costs no report. Other programs end in good order.
func TestALateLearnerIsNoFailure(t *testing.T) {
	dir := t.TempDir()
	deaf := []byte("#!/bin/sh\ntrap '' INT\necho ready\nexec sleep 600\n")
	for _, name := range []string{learner, recorder} {
		if err := os.WriteFile(filepath.Join(dir, name), deaf, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, fails := range map[string]bool{learner: false, recorder: true} {
		var said []string
		f := fleet{programs: dir, patience: 10 * time.Millisecond, failed: make(failures, 1),
			say: func(line string) { said = append(said, line) }}
		if err := f.start(name); err != nil {
			t.Fatal(err)
		}
		for c := f.children[0]; c.log.last() != "ready"; time.Sleep(time.Millisecond) {
		}
		err := f.stop()
		if fails != errors.Is(err, errLate) || fails != (len(said) == 0) {
			t.Errorf("%s: %v, said %q", name, err, said)
		}
		if text := strings.Join(said, ""); !fails && !strings.Contains(text, "did not end within 10ms") {
			t.Errorf("%s: said %q", name, text)
		}
		if err := f.complaint(name, "left 0 bags"); err.Error() != name+" left 0 bags; it said last: ready" {
			t.Error(err)
		}
	}
}
