package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 30 * time.Second

// program writes a shell script that notes its number in a file, once for each start, and waits.
func program(t *testing.T) (path, starts string) {
	t.Helper()
	dir := t.TempDir()
	path, starts = filepath.Join(dir, "learner"), filepath.Join(dir, "starts")
	text := fmt.Sprintf("#!/bin/sh\ntrap 'echo end >> %s; exit 0' INT\necho $$ $1 >> %s\nwhile :; do sleep 0.05; "+
		"done\n", starts, starts)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, starts
}

// lines waits until a file has so many.
func lines(t *testing.T, path string, n int) []string {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(path)
		if all := strings.Split(strings.TrimSpace(string(data)), "\n"); len(all) >= n &&
			strings.HasSuffix(string(data), "\n") {
			return all
		}
	}
	t.Fatalf("%s has no %d lines", path, n)
	return nil
}

// gone waits until a process has ended.
func gone(t *testing.T, line string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// A child that was killed is started anew, and ends in good order.
func TestStartedAnew(t *testing.T) {
	path, starts := program(t)
	ctx, cancel := context.WithCancel(context.Background())
	said, ended := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(ended)
		Run(ctx, path, []string{"x"}, Options{Pause: time.Millisecond, Log: func(line string) { said <- line }})
	}()
	first := lines(t, starts, 1)[0]
	pid, _ := strconv.Atoi(strings.Fields(first)[0])
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil || !strings.HasSuffix(first, " x") {
		t.Fatal(first, err)
	}
	second := lines(t, starts, 2)[1]
	if line := <-said; line != "learner ended (signal: killed) and is started anew" {
		t.Errorf("said %q", line)
	}
	cancel()
	<-ended
	gone(t, second)
	if last := lines(t, starts, 3)[2]; last != "end" {
		t.Errorf("it ended by %q", last)
	}
}

// A child does not outlive a process that is killed.
func TestEndsWithUs(t *testing.T) {
	if path := os.Getenv("VND_TEST_CHILD"); path != "" {
		Run(context.Background(), path, nil, Options{})
		return
	}
	path, starts := program(t)
	c := exec.Command(os.Args[0], "-test.run", "^TestEndsWithUs$")
	c.Env = append(os.Environ(), "VND_TEST_CHILD="+path)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	first := lines(t, starts, 1)[0]
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // says that it was killed
	gone(t, first)
}

func TestSibling(t *testing.T) {
	if _, err := Sibling("no-such-program"); err == nil ||
		!strings.HasPrefix(err.Error(), "program no-such-program: ") {
		t.Error(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if path, err := Sibling(filepath.Base(self)); err != nil || path != self {
		t.Errorf("%s, %v", path, err)
	}
}
