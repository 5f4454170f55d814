package campaign

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestChildrenAreBounded runs programs in place of a test: ones that do not end, or leave a process behind that holds
// their output.
func TestChildrenAreBounded(t *testing.T) {
	for _, x := range []struct {
		name, script string
		most, grace  time.Duration
		verdict      string
		says         string
	}{
		{"passes", `echo "--- PASS: TestX (0.00s)"`, time.Minute, time.Minute, "PASS", ""},
		{"does not end", `sleep 600 & echo $! > left; wait`, time.Second, 0, "FAIL", "was not done in"},
		{"leaves a process that holds the output", `sleep 600 & echo $! > left; echo "--- PASS: TestX (0.00s)"`,
			time.Minute, 100 * time.Millisecond, "FAIL", "left processes behind"},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "pkg"), 0o777); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, "x.test")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+x.script+"\n"), 0o777); err != nil {
				t.Fatal(err)
			}
			r := tester{root: dir, dir: dir, built: map[string]string{"": program}, grace: x.grace}
			verdict, lines, err := r.run(context.Background(), &NodeTest{Name: "TestX", Most: x.most}, nil)
			if err != nil || verdict != x.verdict || !strings.Contains(strings.Join(lines, ""), x.says) {
				t.Errorf("%s, %q, %v; want %s, %q", verdict, lines, err, x.verdict, x.says)
			}
			text, err := os.ReadFile(filepath.Join(dir, "pkg", "left"))
			if err != nil {
				return
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); runs(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("what it left behind goes on")
				}
			}
		})
	}
}

// runs reports whether a process is there, and no zombie that nobody waits for.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A campaign that is ended ends its children.
func TestEndedCampaignEndsItsChildren(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := outputOf(ctx, exec.Command("sleep", "600"), time.Hour, time.Minute); err == nil {
		t.Error("sleep came to its end")
	}
}
