package cli

import (
	"bufio"
	"context"
	"io"
	"testing"
)

// A command that is no longer wanted is asked to end, and ends what is its own.
func TestCommandsAreTerminated(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := terminable(ctx, []string{"sh", "-c",
		`trap 'echo ended; exit 0' TERM; echo begun; while :; do sleep 0.01; done`})
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); line != "begun\n" {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	if rest, err := io.ReadAll(said); string(rest) != "ended\n" {
		t.Errorf("%q, %v", rest, err)
	}
	cmd.Wait()
}
