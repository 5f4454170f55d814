package lockstep

import (
	"errors"
	"os"
	"strings"
	"time"
)

// AwaitEnd waits until a firmware has ended, as a channel of one place says and goes on to say.
func AwaitEnd(ended chan error, patience time.Duration) error {
	select {
	case err := <-ended:
		ended <- err
		return nil
	case <-time.After(patience):
		return errors.New("the firmware does not end")
	}
}

// LastWords are the last lines of a firmware's log.
func LastWords(log string) string {
	data, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	const most = 400
	return strings.TrimSpace(string(data[max(0, len(data)-most):]))
}
