// Package child keeps another program running beside this one: it is started anew where it ends by itself, and ends
// with this process. Learning runs as such a child, because Go's scheduler and garbage collector know no priorities.
package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"vnd/pkg/core/attached"
)

// Options of a child.
type Options struct {
	Pause time.Duration     // before it is started anew; 0 is a second
	Grace time.Duration     // that it has to end in good order; 0 is ten seconds
	Log   func(line string) // what became of it; may be nil
}

// Sibling is the program of a name that lies beside this one.
func Sibling(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if st, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("program %s: %w", name, err)
	} else if st.IsDir() || st.Mode()&0o111 == 0 {
		return "", fmt.Errorf("program %s: %s is not executable", name, path)
	}
	return path, nil
}

// Run keeps a program running until ctx is done, and returns when it has ended. It shares standard output and error.
func Run(ctx context.Context, path string, args []string, o Options) {
	if o.Pause == 0 {
		o.Pause = time.Second
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	for ctx.Err() == nil {
		err := once(ctx, path, args, o.Grace)
		if ctx.Err() != nil {
			return
		}
		o.Log(fmt.Sprintf("%s ended (%s) and is started anew", filepath.Base(path), ending(err)))
		select {
		case <-ctx.Done():
		case <-time.After(o.Pause):
		}
	}
}

func ending(err error) string {
	if err == nil {
		return "without an error"
	}
	return err.Error()
}

// once runs the program to its end. It has a process group of its own, so that a Ctrl-C on the terminal reaches it
// once.
func once(ctx context.Context, path string, args []string, grace time.Duration) error {
	c := exec.CommandContext(ctx, path, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = grace
	if err := attached.Start(c, syscall.SIGTERM); err != nil {
		return err
	}
	return c.Wait()
}
